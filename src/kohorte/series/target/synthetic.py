"""Rows that nobody has: drawn from frequencies, to see how fine a table like that could be released."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kohorte.kernels.arrays import Floats
from kohorte.series.domain.regions import OUTSIDE, Places
from kohorte.series.target.statistics import Frequencies


def synthetic_rows(tables: Sequence[Frequencies], rows: int, seed: int) -> Places:
    """So many rows as places on all axes; attributes of different tables are independent of each other.

    Every cell of a table gets its share of the rows, up to rounding; within a cell all places are equally likely.
    """
    generator = np.random.Generator(np.random.PCG64(seed))
    places = np.full((rows, sum(len(table.axes) for table in tables)), OUTSIDE, dtype=np.int64)
    for table in tables:
        cell = generator.permutation(np.repeat(np.arange(len(table.shares)), apportioned(table.shares, rows)))
        lows, highs = table.lows[cell], table.highs[cell]
        places[:, list(table.axes)] = lows + (generator.random(lows.shape) * (highs - lows)).astype(np.int64)
    return places


def apportioned(shares: Floats, rows: int) -> NDArray[np.int64]:
    """Whole numbers in proportion to the shares: rounded down, and one more for those with the largest remainders."""
    exact = shares * rows
    whole = np.floor(exact).astype(np.int64)
    order = np.argsort(whole - exact, kind="stable")
    whole[order[: rows - int(whole.sum())]] += 1
    return whole
