"""The faults of an edited hierarchy, each in its cell."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte.errors import InputError
from kohorte.hierarchies import Fault, Rows, check_hierarchy, examine, label_counts

GOOD = [["flu", "viral", "*"], ["tb", "bacterial", "*"], ["gout", "metabolic", "*"]]


def found(rows: list[list[str]], values: tuple[str, ...] = ("flu", "tb", "gout")) -> set[tuple[str, int, int]]:
    return {(str(place.fault), place.row, place.level) for place in examine(rows, values).places}


def test_a_hierarchy_without_faults_has_none() -> None:
    assert examine(GOOD, ("flu", "tb", "gout")).ok
    assert found(GOOD) == set()


@pytest.mark.parametrize(
    ("rows", "faults"),
    [
        (GOOD[:2], {("value-missing", 2, 0)}),
        ([*GOOD[:2], ["gout"]], {("value-missing", 2, 0)}),
        ([*GOOD, GOOD[0]], {("value-twice", 3, 0)}),
        ([*GOOD[:2], ["gout", "metabolic"]], {("level-missing", 2, 2)}),
        ([*GOOD[:2], ["gout", "metabolic", "*", "more"]], {("level-extra", 2, 3)}),
        ([*GOOD[:2], ["gout", "", "*"]], {("label-empty", 2, 1)}),
        ([*GOOD[:2], ["gout", "*", "*"]], {("label-star", 2, 1)}),
        ([["flu", "a", "x", "*"], ["tb", "a", "x", "*"], ["gout", "a", "y", "*"]], {("two-parents", 2, 2)}),
        ([*GOOD, ["*", "none", "*"]], {("value-star", 3, 0), ("not-in-table", 3, 0)}),
    ],
)
def test_a_fault_is_found_in_its_cell(rows: list[list[str]], faults: set[tuple[str, int, int]]) -> None:
    assert found(rows) == faults
    assert not examine(rows, ("flu", "tb", "gout")).ok


def test_a_value_that_the_table_lacks_and_an_ambiguous_label_are_notes() -> None:
    assert found([*GOOD, ["measles", "viral", "*"]]) == {("not-in-table", 3, 0)}
    ambiguous = [["flu", "tb", "*"], ["tb", "bacterial", "*"], ["gout", "metabolic", "*"]]
    assert found(ambiguous) == {("label-ambiguous", 0, 1)}
    assert examine(ambiguous, ("flu", "tb", "gout")).ok
    assert check_hierarchy(Rows(ambiguous), pl.Series(["flu"]), attribute="disease").collisions == 1


def test_rows_are_examined_alike_after_they_were_filled_up() -> None:
    rows = [["flu", "viral"], ["tb", "bacterial", "*"], ["gout", "metabolic", "*", "more"], ["odd", "other", "*"]]
    first = examine(rows, ("flu", "tb", "gout", "new"))
    again = examine(first.rows, ("flu", "tb", "gout", "new"))
    assert (again.rows, again.places) == (first.rows, first.places)
    assert first.rows[-1] == ("new", "", "", "")


labels = st.sampled_from(["a", "b", "c", "*", ""])


@given(st.lists(st.tuples(st.sampled_from("vwxyz"), labels, labels), min_size=1, max_size=6))
def test_a_hierarchy_is_accepted_exactly_if_it_has_no_faults(rows: list[tuple[str, str, str]]) -> None:
    given_rows = [list(row) for row in rows]
    values = {row[0] for row in rows}
    accepted = True
    try:
        Rows(examine(given_rows, values).rows).build([], attribute="x")
    except InputError:
        accepted = False
    assert examine(given_rows, values).ok is accepted


def test_labels_count_values_rows_and_people() -> None:
    column = pl.Series(["flu", "flu", "tb", None])
    people = pl.Series(["1", "1", "2", "3"])
    counts = label_counts([["flu", "x", "*"], ["tb", "x", "*"], ["gout", "y", "*"]], column, people)
    assert counts[1]["x"].__dict__ == {"values": 2, "rows": 3, "people": 2}
    assert counts[1]["y"].__dict__ == {"values": 1, "rows": 0, "people": 0}
    assert counts[2]["*"].people == 2
    assert label_counts([["flu", "*"]], column, None)[0]["flu"].people is None
    assert Fault.NOT_IN_TABLE.is_note
