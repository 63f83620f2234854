"""The loss of a hierarchy does not depend on where its labels come from, except where the metric's page says so."""

from pathlib import Path

import polars as pl
import pytest

import kohorte as ko
from kohorte.hierarchies import to_csv
from kohorte.models import KAnonymity

ZIPS = ["81667", "81668", "81669", "10115", "10117", "10119"]
BUILDERS = {
    "redaction": ({"redaction": {}}, ZIPS),
    "dates": ({"dates": {}}, ["2024-02-17", "2024-02-18", "2024-05-01", "2023-01-01", "1999-12-31", "1999-12-30"]),
    "ordering": ({"ordering": {"fanouts": [2, 2]}}, list("abcdef")),
    "tree": ({"tree": {"south": ZIPS[:3], "north": ZIPS[3:]}}, ZIPS),
    "rows": ({"rows": [[zip_code, zip_code[0], "*"] for zip_code in ZIPS]}, ZIPS),
}


def loss(hierarchy: object, values: list[str], folder: Path) -> float:
    attributes = {"x": {"role": "quasi-identifying", "hierarchy": hierarchy}}
    plan = {"kohorte": 1, "attributes": attributes, "models": [{"model": "k-anonymity", "k": 2}]}
    return ko.anonymize(pl.DataFrame({"x": values}), ko.Plan.from_dict(plan, folder=folder)).cost


def as_file(hierarchy: object, values: list[str], folder: Path) -> dict[str, str]:
    attributes = {"x": {"role": "quasi-identifying", "hierarchy": hierarchy}}
    builder = ko.Plan(attributes=attributes, models=[KAnonymity(k=2)]).attributes["x"].hierarchy
    assert builder is not None
    (folder / "x.csv").write_text(to_csv(builder.build(values, attribute="x")), encoding="utf-8")
    return {"csv": "x.csv"}


@pytest.mark.parametrize("name", BUILDERS)
def test_the_same_hierarchy_by_builder_or_by_file_gives_the_same_loss(name: str, tmp_path: Path) -> None:
    hierarchy, values = BUILDERS[name]
    by_builder = loss(hierarchy, values, tmp_path)
    assert by_builder == loss(as_file(hierarchy, values, tmp_path), values, tmp_path)
    assert 0 < by_builder <= 1


def test_intervals_measure_widths_and_a_file_counts_values_as_the_page_of_the_metric_says(tmp_path: Path) -> None:
    ages = [str(age) for age in range(60)]
    hierarchy = {"intervals": {"lower": 0, "upper": 100, "widths": [5, 50], "integer": True}}
    assert loss(hierarchy, ages, tmp_path) == pytest.approx(5 / 100)
    assert loss(as_file(hierarchy, ages, tmp_path), ages, tmp_path) == pytest.approx(4 / 59)
    page = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert "4/59" in page
