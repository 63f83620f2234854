"""Which rows are shown, and which are held back, in cases small enough to see."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.series.domain.regions import Regions
from kohorte.series.drafting.rows_to_show import Selection, ShownRows

REGIONS = Regions.of([[(0, 10)], [(10, 20)]])


def plan(k: int = 3, limit: float = 1.0, models: object = None) -> ko.Plan:
    return ko.Plan.from_dict(
        {
            "kohorte": 1,
            "attributes": {"x": {"role": "quasi-identifying"}, "s": {"role": "sensitive"}},
            "models": models or [{"model": "k-anonymity", "k": k}],
            "suppression_limit": limit,
        }
    )


def shown(
    positions: list[int],
    arrivals: list[int],
    *,
    asked: ko.Plan | None = None,
    by_arrival: bool = False,
    departed: bool = False,
    values: str | None = None,
) -> ShownRows:
    frame = pl.DataFrame({"x": [str(position) for position in positions], "s": list(values or "v" * len(positions))})
    return Selection(
        frame,
        asked or plan(),
        np.array(positions, dtype=np.int64).reshape(-1, 1),
        REGIONS,
        np.array(arrivals, dtype=np.int64),
        number=max(arrivals, default=0) + 1,
        by_arrival=by_arrival,
        departed=departed,
    ).rows_to_show()


def test_rows_of_a_region_that_is_too_small_are_held_back() -> None:
    found = shown([1, 2, 3, 11, 12], [0] * 5)
    assert found.rows.tolist() == [0, 1, 2]
    assert found.arrivals.tolist() == [1, 1, 1]


def test_rows_in_a_gap_are_held_back() -> None:
    assert shown([1, 2, 3, -1, 99], [0] * 5).rows.tolist() == [0, 1, 2]


def test_newcomers_join_the_rows_of_their_region_at_once_where_arrivals_are_unknown() -> None:
    found = shown([1, 2, 3, 4], [1, 1, 1, 0])
    assert found.rows.tolist() == [0, 1, 2, 3]
    assert found.arrivals.tolist() == [1, 1, 1, 2]


def test_newcomers_wait_for_enough_of_them_where_arrivals_are_known() -> None:
    assert shown([1, 2, 3, 4, 5], [1, 1, 1, 0, 0], by_arrival=True).rows.tolist() == [0, 1, 2]
    found = shown([1, 2, 3, 4, 5, 6], [1, 1, 1, 0, 0, 0], by_arrival=True)
    assert found.rows.tolist() == [0, 1, 2, 3, 4, 5]


def test_newcomers_are_held_back_if_they_would_break_the_models_for_rows_shown_before() -> None:
    models = [{"model": "k-anonymity", "k": 2}, {"model": "alpha-k-anonymity", "attribute": "s", "alpha": 0.5, "k": 2}]
    found = shown([1, 2, 3, 11, 12], [1, 1, 0, 0, 0], asked=plan(models=models), values="abaab")
    assert found.rows.tolist() == [0, 1, 3, 4]  # with the third row, two of three would have the same value


def test_rows_shown_before_are_never_held_back_but_for_corrected_or_withdrawn_ones() -> None:
    with pytest.raises(ko.PrivacyViolation) as refused:
        shown([1, 2, 11, 12, 13], [1] * 5)
    assert refused.value.code == "series-region-fails"
    assert "in 1 region of the last release (2 rows)" in refused.value.message
    found = shown([1, 2, 11, 12, 13], [1] * 5, departed=True)
    assert (found.rows.tolist(), found.withheld) == ([2, 3, 4], 2)


def test_too_many_rows_held_back_are_refused_with_the_counts() -> None:
    with pytest.raises(ko.NoSolution) as refused:
        shown([1, 2, 3, 11, 12], [0] * 5, asked=plan(limit=0.2))
    assert refused.value.code == "series-many-held"
    assert "2 of 5 rows" in refused.value.message
    assert shown([1, 2, 3, 11, 12], [0] * 5, asked=plan(limit=0.4)).rows.tolist() == [0, 1, 2]


def test_a_release_without_rows_is_refused() -> None:
    with pytest.raises(ko.NoSolution) as refused:
        shown([1, 11], [0, 0])
    assert refused.value.code == "series-nothing-shown"


def test_the_models_judge_the_shown_rows_alone() -> None:
    """The distribution that t-closeness compares with is that of the release: nobody sees the rows held back."""
    models = [{"model": "k-anonymity", "k": 2}, {"model": "t-closeness_equal", "attribute": "s", "t": 0.1}]
    found = shown([1, 2, 11, 12, -1, -1, -1, -1], [0] * 8, asked=plan(models=models), values="ababcccc")
    assert found.rows.tolist() == [0, 1, 2, 3]


def test_rows_with_too_few_values_wait_for_more_instead_of_being_called_wrong() -> None:
    diverse = plan(models=[{"model": "l-diversity_distinct", "attribute": "s", "l": 3}])
    with pytest.raises(ko.NoSolution, match="wait for more rows") as caught:
        shown([1, 2, 3, 4], [0, 0, 0, 0], asked=diverse, values="aabb")
    assert caught.value.code == "series-nothing-shown"
    assert len(shown([1, 2, 3], [0, 0, 0], asked=diverse, values="abc").rows) == 3
