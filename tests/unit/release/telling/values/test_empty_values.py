"""Empty cells of a sensitive attribute: a verdict is amber where they are one of the values that the models ask for."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.release.certificate import warnings

L = "l-diversity_distinct"


def plan(**model: Any) -> ko.Plan:
    asked = {"model": L, "l": 2, "attribute": "diagnosis"} | model
    attributes = {"sex": {"role": "quasi-identifying"}, "diagnosis": {"role": "sensitive"}}
    models = [{"model": "k-anonymity", "k": 2}, asked]
    options = {"kohorte": 1, "person": "none", "suppression_limit": 0.2}
    return ko.Plan.from_dict({"attributes": attributes, "models": models, **options})


def table(female: list[str | None], male: list[str | None]) -> pl.DataFrame:
    return pl.DataFrame({"sex": ["f"] * len(female) + ["m"] * len(male), "diagnosis": female + male})


def said(frame: pl.DataFrame, asked: ko.Plan) -> list[str]:
    return [point for point in ko.verify(frame, asked).open_points if "besides empty cells" in point]


@pytest.mark.parametrize("empty", [None, "", "  "])
def test_one_value_besides_empty_cells_is_an_open_point(empty: str | None) -> None:
    [point] = said(table(["HIV", "HIV", empty], ["flu", "gout", "flu"]), plan())
    assert point.startswith("some classes show only one value of 'diagnosis' besides empty cells")
    assert "HIV" not in point


def test_enough_values_besides_empty_cells_are_none() -> None:
    assert said(table(["HIV", "flu", None], ["flu", "gout", None]), plan()) == []


def test_as_many_values_are_needed_as_the_strictest_model_asks_for() -> None:
    [point] = said(table(["HIV", "flu", None], ["flu", "gout", "HIV"]), plan(l=3))
    assert "fewer than 3 different values of 'diagnosis'" in point


def test_a_model_that_asks_for_no_number_of_values_leaves_nobody_with_one() -> None:
    closeness = {"model": "t-closeness_equal", "attribute": "diagnosis", "t": 0.9}
    given = ko.Plan.from_dict(plan().to_dict() | {"models": [closeness]})
    assert len(said(table(["HIV", "HIV", None], ["flu", "gout", "flu"]), given)) == 1


def test_a_class_of_empty_cells_tells_no_value() -> None:
    assert said(table([None, None, None], ["flu", "gout", "flu"]), plan()) == []


def test_spellings_of_a_value_are_one_value() -> None:
    assert len(said(table(["HIV", "hiv ", None], ["flu", "gout", "flu"]), plan())) == 1


def test_suppressed_rows_are_no_class() -> None:
    frame = table(["HIV", None], ["flu", "gout", "flu", "flu", "gout", "flu", "flu", "gout", "flu"])
    starred = frame.with_columns(sex=pl.when(pl.col("sex") == "f").then(pl.lit("*")).otherwise("sex"))
    assert said(starred, plan()) == []


def test_the_release_is_amber_for_the_same_reason() -> None:
    release = ko.anonymize(table(["HIV", "HIV", None], ["flu", "gout", "flu"]), plan())
    assert any("besides empty cells" in point for point in warnings(release))
