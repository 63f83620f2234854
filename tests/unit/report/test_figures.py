"""Counts for the public, ranges of class sizes, and contributions, against plain definitions."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.models import KAnonymity
from kohorte.report.figures.contributions import contributions, information_kept
from kohorte.report.figures.ranges import Range, class_sizes, joined, risk_intervals, small_classes_as_one
from kohorte.report.write import fitting_size
from support.examples import examples

SIZES = st.lists(st.integers(1, 300), min_size=1, max_size=60)


@given(st.lists(SIZES, min_size=1, max_size=2), st.integers(2, 20))
def test_joined_ranges_hold_all_rows_and_no_small_number(tables: list[list[int]], least: int) -> None:
    sizes = [np.array(table, dtype=np.int64) for table in tables]
    whole = class_sizes([(table, table) for table in sizes])
    found = joined(whole, least)
    assert all(rows == 0 or rows >= least for one in found for rows in one.counts)
    if found:
        for place, table in enumerate(tables):
            assert sum(one.counts[place] for one in found) == sum(table)
    assert all(one.high is not None and one.high < later.low for one, later in pairwise(found))


@examples(30)
@given(SIZES)
def test_the_intervals_of_risk_are_ranges_of_class_sizes(sizes: list[int]) -> None:
    frame = pl.DataFrame({"a": [place for place, size in enumerate(sizes) for _ in range(size)]})
    plan = ko.Plan(attributes={"a": {"role": "quasi-identifying"}}, models=[KAnonymity(2)])
    for one in risk_intervals([ko.risk(frame, plan)]):
        inside = [size for size in sizes if one.low <= size <= (one.high or math.inf)]
        assert one.counts == (sum(inside),)


def test_a_range_that_reaches_above_the_threshold_in_part_is_known() -> None:
    ranges = [Range(1, 4, (9,)), Range(3, 9, (9,)), Range(5, 9, (9,)), Range(2, None, (9,))]
    assert [one.above(0.2) for one in ranges] == [True, False, False, False]
    assert [one.reaches_above(0.2) for one in ranges] == [True, True, False, True]


def test_classes_below_five_rows_are_one_range_for_the_public() -> None:
    sizes = np.array([1, 1, 2, 4, 7])
    first, second, *_ = small_classes_as_one(class_sizes([(sizes, sizes)]), 5)
    assert (first.size(), first.counts, second.size(), second.counts) == ("1 to 4 rows", (8,), "5 to 9 rows", (7,))


def test_contributions_are_what_is_counted_without_the_attribute() -> None:
    frame = pl.DataFrame({"a": [*"xxyyz"], "b": [*"pqppp"]})
    plan = ko.Plan(attributes={name: {"role": "quasi-identifying"} for name in "ab"}, models=[KAnonymity(2)])
    first, second = contributions(ko.risk(frame, plan))
    assert (first.attribute, first.values, first.separation) == ("a", 3, pytest.approx(0.8))
    assert (first.uniques_without, first.average_without) == (1, pytest.approx(2 / 5))  # b: p four times, q once
    assert (second.uniques_without, second.average_without) == (1, pytest.approx(3 / 5))  # a: x, x, y, y, z


def test_information_is_kept_in_whole_in_part_or_not_at_all() -> None:
    before = pl.Series([*"abcd"])
    assert information_kept(before, before) == 1
    assert information_kept(before, pl.Series([*"xxyy"])) == pytest.approx(0.5)
    assert information_kept(before, pl.Series([*"****"])) == 0
    assert information_kept(pl.Series([*"aaaa"]), before) is None


@pytest.mark.parametrize(("rows", "attributes", "size"), [(30_000, 9, 4), (1_000, 40, 2), (10**6, 9, 2), (10**9, 9, 1)])
def test_attribute_sets_are_as_large_as_time_allows(rows: int, attributes: int, size: int) -> None:
    assert fitting_size(rows, attributes) == size
