"""Linking releases by an attacker who recognises the same row in all of them."""

from __future__ import annotations

import numpy as np
import polars as pl

import kohorte as ko
from kohorte.series.checking.linking import Traces
from kohorte.series.domain.regions import Regions
from kohorte.series.splitting.group_check import GroupCheck


def check(rows: int, k: int) -> GroupCheck:
    plan = ko.Plan.from_dict(
        {
            "kohorte": 1,
            "attributes": {"x": {"role": "quasi-identifying"}},
            "models": [{"model": "k-anonymity", "k": k}],
        }
    )
    return GroupCheck.of(pl.DataFrame({"x": ["a"] * rows}), plan)


def cells(width: int, length: int = 12) -> Regions:
    return Regions.of([[(start, start + width)] for start in range(0, length, width)])


def test_the_attack_of_figure_2_succeeds_on_independent_releases_and_fails_on_a_series() -> None:
    """Cells of width 4, then of width 3: who lies in [0, 4[ and [3, 6[ is at 3. Cells of width 2 cut none of these."""
    positions = np.arange(12).reshape(-1, 1)
    rows = np.arange(12)
    independent, series = Traces(positions), Traces(positions)
    for traces, second in ((independent, cells(3)), (series, cells(2))):
        traces.follow(cells(4))
        assert traces.linked(rows, check(12, 2)).candidates == 4
        traces.follow(second)
    assert (independent.linked(rows, check(12, 2)).candidates, independent.linked(rows, check(12, 2)).satisfied) == (
        1,
        False,
    )
    assert (series.linked(rows, check(12, 2)).candidates, series.linked(rows, check(12, 2)).satisfied) == (2, True)


def test_the_rows_of_an_arrival_are_fewer() -> None:
    traces = Traces(np.zeros((5, 1), dtype=np.int64))
    traces.follow(cells(4))
    arrivals = np.array([1, 1, 1, 2, 2])
    assert traces.linked(np.arange(5), check(5, 3)).candidates == 5
    found = traces.linked(np.arange(5), check(5, 3), arrivals)
    assert (found.candidates, found.satisfied) == (2, False)
