"""When nothing satisfies a plan, the error says what would; and what it says is tried here."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.errors import NoSolution
from kohorte.models import AverageRisk, KAnonymity

MakePlan = Callable[..., ko.Plan]


def plan_of(k: int, limit: float, missing: str = "suppress") -> ko.Plan:
    return ko.Plan(
        attributes={name: ko.Attribute("quasi-identifying") for name in "ab"},
        models=[KAnonymity(k=k)],
        suppression_limit=limit,
        missing=ko.Missing(missing),
    )


def refusal(frame: pl.DataFrame, plan: ko.Plan) -> str:
    with pytest.raises(NoSolution) as caught:
        ko.anonymize(frame, plan)
    assert caught.value.code == "no-solution"
    assert caught.value.exit_code == 1
    return caught.value.message


def test_missing_values_beyond_the_limit_are_named_with_the_column_that_blocks_most() -> None:
    frame = pl.DataFrame({"a": ["x", None, "x", "x"], "b": [None, None, "y", "y"]})
    message = refusal(frame, plan_of(2, 0.25))
    assert "2 of 4 rows would have to be suppressed, and the limit allows 1" in message
    assert "suppression_limit of 0.500000" in message
    assert "2 of them in 'b', which blocks most" in message
    assert "missing: category" in message


def test_a_k_that_would_do_is_named() -> None:
    frame = pl.DataFrame({"a": ["x", "x", None], "b": ["y", "y", "y"]})
    message = refusal(frame, plan_of(3, 0.4))
    assert "k of at most 2 would do" in message
    assert ko.anonymize(frame, plan_of(2, 0.4)).smallest_class == 2


@given(
    rows=st.lists(st.tuples(st.sampled_from(["x", "y", None]), st.sampled_from(["u", None])), min_size=2, max_size=40),
    k=st.integers(1, 4),
)
def test_the_suppression_limit_that_is_said_to_do_does(rows: list[tuple[str | None, ...]], k: int) -> None:
    frame = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.String}, orient="row")
    if k > frame.height:
        return
    try:
        ko.anonymize(frame, plan_of(k, 0))
    except NoSolution as error:
        for said in re.findall(r"suppression_limit of ([0-9.]+) or more", error.message):
            release = ko.anonymize(frame, plan_of(k, float(said)))
            assert ko.verify(release.data, release.plan).satisfied
        for said in re.findall(r"k of at most ([0-9]+) would", error.message):
            assert ko.anonymize(frame, plan_of(int(said), 0)).smallest_class is not None


def test_without_missing_values_there_is_always_a_solution() -> None:
    frame = pl.DataFrame({"a": ["1", "2", "3"], "b": ["4", "5", "6"]})
    assert ko.anonymize(frame, plan_of(3, 0)).levels == {"a": 1, "b": 1}


def test_the_limit_that_is_said_to_do_does_for_models_about_all_classes(make_plan: MakePlan) -> None:
    table = pl.DataFrame({"a": ["x"] * 8 + [None] * 2})
    plan = replace(make_plan("a", missing="suppress"), models=[AverageRisk(threshold=0.05)])
    with pytest.raises(ko.NoSolution) as caught:
        ko.anonymize(table, plan)
    assert "would do" not in caught.value.message
    assert "average-risk (threshold = 0.05) fails there, where 0.125 is reached" in caught.value.message


def test_no_limit_is_said_to_do_where_suppressed_people_would_look_like_all_others(make_plan: MakePlan) -> None:
    table = pl.DataFrame({"person": ["p", "q", "r", "r"], "case": ["1", "2", "3", "3"], "a": ["x", "y", "z", "z"]})
    attributes = {"a": ko.Attribute("quasi-identifying"), "case": ko.Attribute("insensitive")}
    plan = ko.Plan.from_dict(
        replace(make_plan("a"), attributes=attributes, models=[KAnonymity(k=2)]).to_dict()
        | {"person": "person", "linked_by": "case", "suppression_limit": 0.5}
    )
    message = refusal(table, plan)
    assert "2 of 4 rows would have to be suppressed, and there they would look like all others" in message
    assert "would do" not in message
