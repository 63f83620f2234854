"""least_loss is recommended where it keeps clearly more, with figures, reason and price, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.comparison import words
from kohorte.comparison.recommendation import CLEARLY, GIVEN_UP, WHY, recoding_instead
from kohorte.hierarchies import Intervals
from kohorte.in_words import cost
from kohorte.models import AverageRisk, DistinctLDiversity, KAnonymity
from support.pages import words as text_of

NUMBER = ko.Attribute("quasi-identifying", hierarchy=Intervals(lower=0, upper=100, widths=[50], integer=True))


@pytest.fixture
def table() -> pl.DataFrame:
    """Numbers that are spread widely, so that one level for everybody says little."""
    random = np.random.default_rng(2)
    columns = {name: random.integers(0, 100, 300).astype(str) for name in ("age", "size", "day")}
    return pl.DataFrame({**columns, "disease": random.choice(["flu", "cold", "gout"], 300)})


@pytest.fixture
def plan() -> ko.Plan:
    attributes = {**dict.fromkeys(("age", "size", "day"), NUMBER), "disease": ko.Attribute("sensitive")}
    return ko.Plan(attributes=attributes, models=[KAnonymity(4)], metric="loss", person="none")


def report(folder: Path, table: pl.DataFrame, release: ko.Release, **options: str) -> str:
    ko.write_report(folder / "report.html", table, release.plan, release=release, force=True, **options)
    return text_of((folder / "report.html").read_text(encoding="utf-8"))


def test_the_comparison_recommends_least_loss_with_figures_reason_and_price(table: pl.DataFrame, plan: ko.Plan) -> None:
    found = ko.compare_algorithms(table, plan, algorithms=["optimal", "mondrian", "least_loss"], queries=0)
    said = next(one for one in words.findings(found) if "recommended" in one)
    costs = {name: cost(found.of(name).cost) for name in ("optimal", "mondrian", "least_loss")}
    assert said.startswith(
        f"least_loss is recommended: loss {costs['least_loss']}, beside {costs['optimal']} with optimal and "
        f"{costs['mondrian']} with mondrian. "
    )
    assert said.endswith(f"{WHY} {GIVEN_UP}")


def test_it_is_not_recommended_where_one_level_for_each_attribute_loses_hardly_more(plan: ko.Plan) -> None:
    rows = pl.DataFrame({name: [str(row % 2) for row in range(400)] for name in ("age", "size", "day")})
    table = rows.with_columns(disease=pl.lit("flu"))
    names = ["optimal", "least_loss"]
    assert not any("recommended" in one for one in words.findings(ko.compare_algorithms(table, plan, algorithms=names)))
    odd = pl.DataFrame({name: ["90", "91", "92", "93"] for name in ("age", "size", "day")})
    table = pl.concat([table, odd.with_columns(disease=pl.lit("flu"))])
    said = words.findings(
        ko.compare_algorithms(table, replace(plan, suppression_limit=0.1), algorithms=names, queries=0)
    )
    assert [one for one in said if "recommended" in one] == [
        "least_loss keeps hardly more than optimal, whose release has one level for each attribute and is easier to "
        "analyse: optimal is recommended."
    ]
    table = table.head(4)
    found = ko.compare_algorithms(table, plan, algorithms=["least_loss"], queries=0)
    assert not any("recommended" in one for one in words.findings(found))


@pytest.mark.parametrize("metric", ["loss", "non_uniform_entropy", "discernibility"])
def test_the_internal_report_says_what_a_recoding_costs_at_most(
    table: pl.DataFrame, plan: ko.Plan, tmp_path: Path, metric: str
) -> None:
    plan = replace(plan, metric=metric)
    release = ko.anonymize(table, plan)
    found = recoding_instead(table, release)
    assert found is not None
    assert found.cost == pytest.approx(release.cost)
    mondrian, ours = (
        ko.anonymize(table, replace(plan, search=ko.SearchOptions(name))).cost for name in ("mondrian", "least_loss")
    )
    assert found.with_mondrian == pytest.approx(mondrian)
    assert ours <= found.with_mondrian <= CLEARLY * found.cost
    text = report(tmp_path, table, release, view="internal")
    assert f"{metric} {cost(release.cost)}. With mondrian it is {cost(mondrian)}, and least_loss never costs" in text
    assert GIVEN_UP in text
    assert "Pass on one of the two releases, never both" in text
    assert "recoding keeps" not in report(tmp_path, table, release, view="public")
    german = report(tmp_path, table, release, view="internal", language="de")
    assert "least_loss kostet bei gleicher Art der Zellen nie mehr" in german


def test_no_recoding_is_recommended_that_is_none_or_saves_little(table: pl.DataFrame, plan: ko.Plan) -> None:
    recoded = ko.anonymize(table, replace(plan, search=ko.SearchOptions("mondrian")))
    assert recoding_instead(table, recoded) is None
    alike = pl.DataFrame({name: ["1"] * 40 for name in ("age", "size", "day")}).with_columns(disease=pl.lit("flu"))
    assert recoding_instead(alike, ko.anonymize(alike, plan)) is None


def test_no_recoding_is_recommended_where_a_model_would_not_be_guaranteed(table: pl.DataFrame, plan: ko.Plan) -> None:
    for model, fits in ((DistinctLDiversity("disease", l=2), True), (AverageRisk(threshold=0.2), False)):
        own = replace(plan, models=[KAnonymity(4), model])
        found = recoding_instead(table, ko.anonymize(table, own))
        assert (found is not None) is fits
    knows_all = replace(plan, person={"column": "who", "attacker_knows": "all_rows"})
    people = table.with_columns(who=pl.Series([f"p{row // 2}" for row in range(table.height)]))
    release = ko.anonymize(
        people, replace(knows_all, attributes={**plan.attributes, "who": ko.Attribute("identifying")})
    )
    assert recoding_instead(people, release) is None
