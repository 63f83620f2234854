"""Synthetic rows drawn from frequencies, to see how fine such a table could be released."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kohorte.kernels.arrays import Floats, Integers
from kohorte.series.domain.regions import OUTSIDE, Positions
from kohorte.series.statistics.frequencies import Frequencies


def synthetic_rows(tables: Sequence[Frequencies], rows: int, seed: int) -> Positions:
    """Draw rows as positions on all axes; attributes of different tables are independent of each other.

    Every entry of a table gets its share of the rows, up to rounding; all positions of an entry are equally likely.
    """
    generator = np.random.Generator(np.random.PCG64(seed))
    positions = np.full((rows, sum(len(table.axes) for table in tables)), OUTSIDE, dtype=np.int64)
    for table in tables:
        cell = generator.permutation(np.repeat(np.arange(len(table.shares)), apportioned(table.shares, rows)))
        lows, highs = table.lows[cell], table.highs[cell]
        positions[:, list(table.axes)] = lows + (generator.random(lows.shape) * (highs - lows)).astype(np.int64)
    return positions


def apportioned(shares: Floats, rows: int) -> Integers:
    """Whole numbers in proportion to the shares, by the method of the largest remainders."""
    exact = shares * rows
    whole = np.floor(exact).astype(np.int64)
    order = np.argsort(whole - exact, kind="stable")
    whole[order[: rows - int(whole.sum())]] += 1
    return whole
