"""An insensitive column that looks like an identifier is an open point of every verdict."""

from __future__ import annotations

import polars as pl
import pytest

import kohorte as ko
from kohorte.release.certificate import table_warnings
from kohorte.release.telling.verdict import judge

ROWS = 60


def table(name: str, values: list[str]) -> pl.DataFrame:
    columns = {"ward": ["1", "2"] * (ROWS // 2), name: values}
    return pl.DataFrame(columns)


def plan(name: str, role: str = "insensitive") -> ko.Plan:
    return ko.Plan.from_dict(
        {
            "kohorte": 1,
            "attributes": {"ward": {"role": "quasi-identifying"}, name: {"role": role}},
            "models": [{"model": "k-anonymity", "k": 2}],
            "person": "none",
        }
    )


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("mail", [f"a{at % 7}@example.org" for at in range(ROWS)]),
        ("x", [f"person{at % 7}@example.org" for at in range(ROWS)]),
        ("x", [f"K{at * 7919 % 10007:05}" for at in range(ROWS)]),
        ("x", [f"the patient number {at} came by the bus of nine" for at in range(ROWS)]),
    ],
)
def test_an_insensitive_column_that_looks_like_an_identifier_is_an_open_point(name: str, values: list[str]) -> None:
    frame, chosen = table(name, values), plan(name)
    release = ko.anonymize(frame, chosen)
    found = ko.verify(release.data, chosen)
    verdicts = (
        ko.certify(release).verdict,
        judge(found, table_warnings(pl.DataFrame(release.data), chosen, found)),
    )
    for verdict in verdicts:
        assert str(verdict.standing) == "amber"
        [point] = [reason for reason in verdict.reasons if "seems to identify people" in reason]
        assert point.startswith(f"{name!r} ")
        assert not any(value in point for value in values)


def test_other_insensitive_columns_leave_the_verdict_green() -> None:
    frame, chosen = table("x", [str(at % 5) for at in range(ROWS)]), plan("x")
    assert str(ko.certify(ko.anonymize(frame, chosen)).verdict.standing) == "green"


def test_the_original_may_be_given_where_a_column_that_stays_seems_to_identify() -> None:
    frame, chosen = table("patient_id", [f"P{at // 2}" for at in range(ROWS)]), plan("patient_id")
    release = ko.anonymize(frame, chosen)
    found = ko.verify(release.data, chosen, population=frame)
    assert found.satisfied
    assert any("contradicts the table" in point for point in found.open_points)
    other = frame.with_columns(pl.Series("ward", ["1", "2", "2"] * (ROWS // 3)))
    assert not ko.verify(release.data, chosen, population=other).satisfied


def test_a_sensitive_column_stays_in_the_release_too() -> None:
    frame, chosen = table("x", [f"person{at % 7}@example.org" for at in range(ROWS)]), plan("x", "sensitive")
    reasons = ko.certify(ko.anonymize(frame, chosen)).verdict.reasons
    assert any("'x' seems to identify people" in one and "the plan calls it sensitive" in one for one in reasons)
