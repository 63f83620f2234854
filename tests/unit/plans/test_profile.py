"""A first look at a table; the first plan that comes of it must work."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.data import Role
from kohorte.plans.profile import profile
from kohorte.plans.proposal import Proposal, propose
from support.examples import examples


def test_identifiers_are_suspected_by_name_and_by_content() -> None:
    frame = pl.DataFrame(
        {
            "patient_id": [1, 2],
            "Nachname": ["a", "b"],
            "contact": ["a@example.org", "b@example.org"],
            "host": ["10.0.0.1", "10.0.0.2"],
            "iban_code": ["DE89370400440532013000", "DE02120300000000202051"],
            "sex": ["f", "m"],
            "icd": ["A00", "B00"],
        }
    )
    roles = {column.name: column.role for column in profile(frame)}
    identifying = {name for name, role in roles.items() if role is Role.IDENTIFYING}
    assert identifying == {"patient_id", "Nachname", "contact", "host", "iban_code"}
    assert roles["sex"] is Role.QUASI_IDENTIFYING
    assert roles["icd"] is Role.SENSITIVE


def test_a_column_with_a_value_for_nearly_every_row_is_suspected() -> None:
    frame = pl.DataFrame({"code": [f"x{number}" for number in range(50)], "sex": ["f", "m"] * 25})
    assert [column.role for column in profile(frame)] == [Role.IDENTIFYING, Role.QUASI_IDENTIFYING]


def test_the_first_plan_of_the_cohort_works() -> None:
    frame = ko.cohort(500, missing=0.02)
    plan = propose(frame).plan
    release = ko.anonymize(frame, plan)
    assert "ssn" not in release.data.columns
    assert "name" not in release.data.columns
    assert ko.verify(release.data, plan).satisfied


numbers = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.integers(-(10**25), 10**25).map(str),
    st.decimals(-(10**5), 10**5, places=2).map(str),
    st.integers(0, 999).map(lambda number: f"{number:05}"),
    st.none(),
)


@examples(25)
@given(st.lists(numbers, min_size=5, max_size=30))
def test_the_first_plan_of_any_numbers_knows_them_all(values: list[str | None]) -> None:
    frame = pl.DataFrame({"q": pl.Series(values, dtype=pl.String), "sex": ["f"] * len(values)})
    plan = propose(frame).plan
    assert ko.verify(ko.anonymize(frame, plan).data, plan).satisfied


@pytest.mark.parametrize("digits", [16, 25, 400])
def test_numbers_of_many_digits_do_not_stop_the_profile(digits: int) -> None:
    frame = pl.DataFrame({"q": [str(number) + "0" * (digits - number % 3) for number in range(1, 10)]})
    [column] = profile(frame)
    assert column.hierarchy is None
    assert ko.anonymize(frame, Proposal((column,), frame.height).plan).classes


def test_a_profile_counts_distinct_and_missing_values() -> None:
    [column] = profile(pl.DataFrame({"q": ["a", "", None, "a", "b"]}))
    assert (column.distinct, column.missing, column.kind) == (2, 2, "text")
