"""Where values lie on a line, in whole steps."""

from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte.hierarchies import Dates, Intervals
from kohorte.recoding.ticks import MOST, places_of, whole_steps, whole_weights


def steps(values, builder=None):
    places = places_of(pl.Series(values, dtype=pl.String), builder)
    return None if places is None else whole_steps(places).tolist()


@pytest.mark.parametrize(
    ("values", "builder", "wanted"),
    [
        (["10", "30", "25"], None, [0, 4, 3]),
        (["0.1", "0.30", "1"], None, [0, 2, 9]),
        (["1,5", "0,25"], Intervals(lower=0, upper=2, widths=[1], decimal=","), [1, 0]),
        (["-3", "0007", "7.0"], None, [0, 1, 1]),
        (["2020-02-28", "2020-03-01", "2020-02-29"], None, [0, 2, 1]),
        (["2020-01-01 00:30", "2020-01-02 00:00", "2020-01-01 23:30"], None, [0, 47, 46]),
        (["2020-01-01T00:00:00.5", "2020-01-01T00:00:00.25"], None, [1, 0]),
        (["28.02.2021", "01.03.2021"], Dates(format="%d.%m.%Y", levels=["month"]), [0, 1]),
        (["2020", "2021", "2023"], Dates(format="%Y", levels=["decade"]), [0, 183, 183 + 365]),
        (["2020-01", "2020-03"], Dates(format="%Y-%m", levels=["year"]), [0, 1]),
        (["2023-02-30", "2023-03-01"], None, None),
        (["2023-02-01 25:00", "2023-03-01 00:00"], None, None),
        (["red", "1"], None, None),
        (["5", "5.0"], None, [0, 0]),
        ([], None, []),
    ],
)
def test_values_lie_where_they_are_and_not_where_they_stand_in_a_list(values, builder, wanted):
    assert steps(values, builder) == wanted


@given(st.lists(st.fractions(-1000, 1000, max_denominator=20), min_size=1, max_size=6))
def test_steps_keep_all_proportions_exactly(places):
    found = whole_steps(places).tolist()
    width, steps_in_all = max(places) - min(places), max(found)
    for place, step in zip(places, found, strict=True):
        assert (place - min(places)) * steps_in_all == step * width


def test_numbers_too_long_for_64_bits_are_measured_in_as_many_steps_as_fit():
    assert whole_steps([0, 10**40 + 1, 2 * 10**40]).tolist() == [0, MOST // 2, MOST]
    assert whole_steps([0, 10**40, 2 * 10**40]).tolist() == [0, 1, 2]


def test_weights_are_whole_numbers_in_the_proportions_in_which_they_are_written():
    assert whole_weights([0.1, 0.3]).tolist() == [1, 3]
    assert whole_weights([1.0, 0.0, 0.25]).tolist() == [4, 0, 1]
    assert whole_weights([1e-05, 1]).tolist() == [1, 100_000]
    assert whole_weights([0.0, 0.0]).tolist() == [0, 0]
    assert Fraction(*whole_weights([0.7, 0.2]).tolist()) == Fraction(7, 2)
