"""The report advises what the plan lacks, never what it has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.models import AlphaKAnonymity, DistinctLDiversity, KAnonymity, PrivacyModel
from support.pages import words

QUASI, SENSITIVE = {"role": "quasi-identifying"}, {"role": "sensitive"}
LATER = "add to the plan: l-diversity"
HAS = "The plan already has a model against known values of 'diagnosis'"


def page(tmp_path: Path, frame: pl.DataFrame, plan: ko.Plan, **options: Any) -> str:
    path = tmp_path / "report.html"
    ko.write_report(path, frame, plan, force=True, **options)
    return words(path.read_text(encoding="utf-8"))


def plan_with(*models: PrivacyModel, k: int = 5, **options: Any) -> ko.Plan:
    attributes = {"a": QUASI, "diagnosis": SENSITIVE, "drug": SENSITIVE}
    return ko.Plan(attributes=attributes, models=[KAnonymity(k), *models], **options)


def table() -> pl.DataFrame:
    """Six classes of fifty rows, and five rows of another one that all have the diagnosis x."""
    rows = [(str(row // 50), f"d{row % 3}", f"r{row % 4}") for row in range(300)]
    rows += [("rare", "x", f"r{row % 4}") for row in range(5)]
    return pl.DataFrame(rows, schema=["a", "diagnosis", "drug"], orient="row")


@pytest.mark.parametrize("model", [DistinctLDiversity("diagnosis", l=2), AlphaKAnonymity("diagnosis", alpha=0.9, k=5)])
def test_diversity_that_the_plan_has_is_not_advised_where_suppressed_rows_tell_a_value(
    tmp_path: Path, model: PrivacyModel
) -> None:
    plan = plan_with(model, DistinctLDiversity("drug", l=2), suppression_limit=0.1)
    release = ko.anonymize(table(), plan)
    assert release.suppressed == 5
    text = page(tmp_path, table(), plan, release=release)
    assert "is known without finding the row" in text
    assert LATER not in text
    assert HAS in text
    assert "lower suppression_limit in the plan" in text


def test_diversity_is_advised_for_the_attribute_that_lacks_it_and_for_no_other(tmp_path: Path) -> None:
    frame = table().with_columns(drug="r" + pl.col("a"))
    plan = plan_with(DistinctLDiversity("diagnosis", l=2), suppression_limit=0.1)
    text = page(tmp_path, frame.head(300), plan, release=ko.anonymize(frame.head(300), plan))
    assert f"{LATER} (l of at least 2) for 'drug'." in text
    assert HAS not in text


def test_a_raw_table_that_fails_the_diversity_of_its_plan_is_not_told_to_add_it(tmp_path: Path) -> None:
    plan = plan_with(DistinctLDiversity("diagnosis", l=2), DistinctLDiversity("drug", l=2), suppression_limit=0.1)
    text = page(tmp_path, table(), plan)
    assert "Make a release with kohorte anonymize and this plan" in text
    assert LATER not in text
    assert HAS not in text
    [said] = [point for point in ko.verify(table(), plan).open_points if "'diagnosis'" in point]
    assert said.endswith("learns the value without finding the row")


def test_the_report_says_to_which_k_the_threshold_leads(tmp_path: Path) -> None:
    plan = plan_with(k=5)
    text = page(tmp_path, table(), plan, release=ko.anonymize(table(), plan), threshold=0.1)
    assert "Raise k in the plan to at least 10, or decide and write down" in text


@pytest.mark.parametrize(("knows", "advised"), [("one_row", True), ("all_rows", False)])
def test_protection_of_all_rows_of_a_person_is_advised_unless_the_plan_has_it(
    tmp_path: Path, knows: str, advised: bool
) -> None:
    frame = pl.concat([table(), table()]).with_columns(patient="p" + (pl.int_range(pl.len()) // 2).cast(pl.String))
    attributes = {"patient": {"role": "identifying"}, "a": QUASI, "diagnosis": SENSITIVE, "drug": SENSITIVE}
    person = {"column": "patient", "attacker_knows": knows}
    plan = ko.Plan(attributes=attributes, models=[KAnonymity(2)], person=person, suppression_limit=0.1)
    text = page(tmp_path, frame, plan, release=ko.anonymize(frame, plan))
    assert "A value counts only for people who have the same known value in all their rows." in text
    assert ("Against this attack: attacker_knows: all_rows in the plan." in text) is advised


def test_diversity_alone_is_not_advised_where_suppressed_rows_may_tell_the_value(tmp_path: Path) -> None:
    frame = table().filter((pl.col("a") != "rare") | (pl.int_range(pl.len()) < 304))  # four rows: below k
    plan = plan_with(DistinctLDiversity("drug", l=2), suppression_limit=0.1)
    release = ko.anonymize(frame, plan)
    assert release.suppressed == 4
    text = page(tmp_path, frame, plan, release=release)
    assert f"{LATER} (l of at least 2) for 'diagnosis'." in text
    assert "No model judges suppressed rows, which look alike. If the values that are known are theirs: lower" in text
    assert HAS not in text
    kept = page(tmp_path, frame.head(300), plan, release=ko.anonymize(frame.head(300), plan))
    assert "No model judges suppressed rows" not in kept
