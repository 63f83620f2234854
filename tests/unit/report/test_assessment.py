"""The assessment of a release: its verdict is never better than what is open, and labels can be taken out."""

from __future__ import annotations

import json

import polars as pl
import pytest

import kohorte as ko
from kohorte.report.assessment import assess, without_labels

ROWS = pl.DataFrame(
    {
        "zip": [f"{10 + number % 4}" for number in range(120)] + ["99"] * 3 + ["88"] * 3,
        "sex": ["fm"[number % 2] for number in range(120)] + ["x"] * 3 + ["y"] * 3,
        "finding": [("flu", "cold", "gout", "none")[number // 8 % 4] for number in range(120)]
        + ["flu", "cold", "gout"] * 2,
    }
)


def plan(l: int = 3) -> ko.Plan:  # noqa: E741 - the published letter
    return ko.Plan(
        {
            "zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {}}},
            "sex": {"role": "quasi-identifying"},
            "finding": {"role": "sensitive"},
        },
        [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity_distinct", "attribute": "finding", "l": l}],
        suppression_limit=0.1,
        person="none",
    )


@pytest.fixture(scope="module")
def found() -> dict[str, object]:
    return assess(ROWS, plan(), ko.anonymize(ROWS, plan()))


def test_nothing_open_is_green(found: dict[str, object]) -> None:
    assert found["verdict"] == {"standing": "green", "reasons": []}
    assert [one["open"] for one in found["questions"]] == [False] * 3  # type: ignore[attr-defined]


def test_an_open_point_of_the_certificate_makes_it_amber() -> None:
    told = assess(ROWS, plan(), ko.anonymize(ROWS, plan()).data, certified=["think about it"])
    assert told["verdict"] == {"standing": "amber", "reasons": ["think about it"]}


def test_a_table_that_does_not_satisfy_the_plan_is_red() -> None:
    told = assess(ROWS, plan(), ROWS)
    assert told["verdict"]["standing"] == "red"  # type: ignore[index]
    assert told["verdict"]["reasons"]  # type: ignore[index]
    assert [one["open"] for one in told["questions"]][1]  # type: ignore[attr-defined]


def test_it_says_how_unevenly_rows_are_suppressed_and_by_label_only_for_those_who_see_values(
    found: dict[str, object],
) -> None:
    suppressed = found["suppressed"]
    assert isinstance(suppressed, dict)
    assert suppressed["rows"] == 6
    columns = {one["attribute"]: one for one in suppressed["columns"]}
    assert columns["sex"]["highest_share"] == 1.0
    assert columns["sex"]["lowest_share"] == 0.0
    assert {group["label"] for group in columns["sex"]["groups"]} >= {"f", "m"}
    told = json.dumps(without_labels(found))
    assert [value for value in ("flu", "gout", '"f"', '"m"', "99") if value in told] == []
    assert "groups" in json.dumps(found)
