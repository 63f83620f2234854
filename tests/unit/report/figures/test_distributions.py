"""Distributions name and count no small group, whatever the table."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kohorte.report.figures.distributions import (
    MISSING,
    STARRED,
    Distribution,
    comparable,
    distribution,
    one_value_each,
)
from support.examples import examples

VALUES = st.sampled_from([*"abcdefghijklmnopqrst", None, "*"])
WORDS = st.lists(VALUES, max_size=120)
NUMBERS = st.lists(st.one_of(st.none(), st.integers(-50, 2000)), max_size=120)


def check(found: Distribution, columns: list[list[object]], least: int) -> None:
    """No part is small, nothing is missing from the sum, and what is named is true."""
    counts = [Counter(str(value) if value is not None else MISSING for value in column) for column in columns]
    for part in found.parts:
        if part.label == STARRED:
            assert part.rows == tuple(count["*"] for count in counts)
        elif "other values" in part.label:
            assert all(rows == 0 or rows >= least for rows in part.rows)
            assert int(part.label.split()[0].replace(",", "")) >= 2
        else:
            assert part.rows[0] >= least
            assert all(rows == 0 or rows >= least for rows in part.rows)
    if found.parts:
        assert [sum(part.rows[place] for part in found.parts) for place in range(len(columns))] == [
            len(column) for column in columns
        ]


@examples(200)
@given(st.lists(WORDS, min_size=1, max_size=2), st.integers(2, 9))
def test_no_value_of_a_small_group_is_named_and_none_follows_by_subtraction(columns, least: int) -> None:
    found = distribution([pl.Series("x", column, dtype=pl.String) for column in columns], least=least)
    check(found, columns, least)
    counts = [Counter(value if value is not None else MISSING for value in column) for column in columns]
    for part in found.parts:
        if part.label != STARRED and "other values" not in part.label:
            assert part.rows == tuple(count[part.label] for count in counts)
            assert min(part.rows) >= least


ONE_MISSING_AFTERWARDS = [[None, 0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6], [None]]


@examples(200)
@given(st.lists(NUMBERS, min_size=1, max_size=2), st.integers(2, 9), st.booleans())
@example(columns=ONE_MISSING_AFTERWARDS, least=2, as_words=False)
def test_ranges_of_numbers_hold_no_small_group(columns, least: int, as_words: bool) -> None:
    series = [pl.Series("x", column, dtype=pl.Int64) for column in columns]
    found = distribution([one.cast(pl.String) for one in series] if as_words else series, least=least)
    check(found, columns, least)


@examples(100)
@given(st.lists(st.integers(0, 40_000), max_size=120), st.integers(2, 9))
def test_ranges_of_dates_hold_no_small_group(days: list[int], least: int) -> None:
    dates = [date(1910, 1, 1) + timedelta(day) for day in days]
    check(distribution([pl.Series("x", dates, dtype=pl.Date)], least=least), [list(dates)], least)


def test_the_smallest_named_value_joins_a_single_other_one() -> None:
    found = distribution([pl.Series("x", [*"aaaaaaaaa", *"bbbbbb", *"ccccc", "d"])], least=5)
    assert [(part.label, part.rows) for part in found.parts] == [("a", (9,)), ("b", (6,)), ("2 other values", (6,))]


def test_nothing_is_shown_where_the_others_could_be_subtracted() -> None:
    assert distribution([pl.Series("x", [*"aaaaaaaaa", "d"])], least=5).parts == ()


def test_a_rare_number_is_no_end_of_a_range() -> None:
    ages = [20 + place % 60 for place in range(600)] + [987_654]
    labels = [part.label for part in distribution([pl.Series("age", ages)], least=5).parts]
    assert labels[0].startswith("below ")
    assert labels[-1].endswith(" and above")
    assert not any("987" in label for label in labels)


def test_codes_with_a_leading_zero_are_no_numbers() -> None:
    codes = [f"{place % 20:05d}" for place in range(200)]
    assert distribution([pl.Series("zip", codes)], least=5).parts[0].label == "00000"


def test_labels_that_begin_with_thousands_of_digits_are_sorted_as_numbers() -> None:
    long, longer = "9" * 5_000, "1" * 5_001
    found = distribution([pl.Series("x", [longer] * 5 + ["20"] * 6 + [long] * 7)], least=5)
    assert [part.label for part in found.parts] == ["20", long, longer]


def test_few_missing_numbers_hide_in_a_range() -> None:
    ages = [*range(20, 80), None, None]
    assert distribution([pl.Series("age", ages)], least=5).parts[-1].label.endswith("and above, or missing")


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        (["a", "b"], ["a", "*"], True),
        (["a", "b"], ["A", "*"], False),
        (["1", "2"], ["3", "*"], True),
        (["1", "2"], ["1-2", "*"], False),
        (["a", "b"], ["*", "*"], False),
    ],
)
def test_one_drawing_holds_both_tables_where_they_show_the_same_kind_of_values(before, after, same) -> None:
    assert comparable(pl.Series("x", before), pl.Series("x", after)) is same


def test_a_column_of_stars_shows_its_stars() -> None:
    (part,) = distribution([pl.Series("x", ["*", "*"])], least=5).parts
    assert (part.label, part.rows) == (STARRED, (2,))


# People


@examples(200)
@given(st.lists(st.tuples(VALUES, st.integers(0, 30)), max_size=120), st.integers(2, 9))
def test_no_value_of_few_people_is_named(rows: list[tuple[str | None, int]], least: int) -> None:
    values = pl.Series("x", [value for value, _ in rows], dtype=pl.String)
    each = one_value_each(values, pl.Series([person for _, person in rows], dtype=pl.Int64))
    assert len(each) == len({person for _, person in rows})
    found = distribution([values], least=least, people=[each])
    check(found, [values.to_list()], least)
    named = {part.label for part in found.parts if part.label != STARRED and "other values" not in part.label}
    for label in named:
        assert len({person for value, person in rows if (MISSING if value is None else value) == label}) >= least
    if any("other values" in part.label for part in found.parts):
        others = {
            person for value, person in rows if value != "*" and (MISSING if value is None else value) not in named
        }
        assert len(others) >= least


@examples(200)
@given(st.lists(st.tuples(st.one_of(st.none(), st.integers(-50, 2000)), st.integers(0, 30)), max_size=120))
def test_ranges_of_numbers_hold_no_few_people(rows: list[tuple[int | None, int]]) -> None:
    values = pl.Series("x", [value for value, _ in rows], dtype=pl.Int64)
    each = one_value_each(values, pl.Series([person for _, person in rows], dtype=pl.Int64))
    found = distribution([values], least=5, people=[each])
    check(found, [values.to_list()], 5)
    if found.parts:
        assert len({person for _, person in rows}) >= 5 * len(found.parts)


def test_a_value_of_a_thousand_rows_of_one_person_is_not_named() -> None:
    values = pl.Series("x", ["flu"] * 1000 + ["cold"] * 8 + ["gout"] * 8)
    persons = pl.Series([0] * 1000 + [*range(1, 9)] * 2)
    assert [part.label for part in distribution([values], least=5).parts] == ["flu", "cold", "gout"]
    found = distribution([values], least=5, people=[one_value_each(values, persons)])
    assert "flu" not in [part.label for part in found.parts]
