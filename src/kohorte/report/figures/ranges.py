"""Ranges of class sizes and the corresponding risks, with the number of rows or people of each table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from kohorte.in_words import ROWS, Unit, count, percent
from kohorte.kernels.arrays import Counts
from kohorte.risks import RiskProfile
from kohorte.risks.attackers import EXACT

STARTS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000)


@dataclass(frozen=True)
class Range:
    """Groups of `low` to `high` rows or people (None: or more), and how many of each table are in such groups."""

    low: int
    high: int | None
    counts: tuple[int, ...]
    unit: Unit = ROWS

    def size(self) -> str:
        """The sizes in words."""
        if self.high is None:
            return f"{self.unit.count(self.low)} and more"
        if self.high == self.low:
            return self.unit.count(self.low)
        return f"{count(self.low)} to {self.unit.count(self.high)}"

    def risk(self) -> str:
        """The risks in words, the lower one first."""
        if self.high is None:
            return f"up to {percent(1 / self.low)}"
        highest = percent(1 / self.low)
        return f"{percent(1 / self.high)} to {highest}" if self.high > self.low else highest

    def above(self, threshold: float) -> bool:
        """Whether all of them are at a higher risk than the threshold."""
        return self.high is not None and 1 / self.high > threshold * (1 + EXACT)

    def reaches_above(self, threshold: float) -> bool:
        """Whether some of them may be at a higher risk than the threshold."""
        return 1 / self.low > threshold * (1 + EXACT)


def class_sizes(tables: Sequence[tuple[Counts, Counts]], unit: Unit = ROWS) -> list[Range]:
    """The rows or people of each table by the size of their group.

    A table is given by the sizes of its groups, and how many are at their highest risk in each of them.
    """
    return [
        _range(tables, low, high, unit)
        for low, high in zip(STARTS, (*(start - 1 for start in STARTS[1:]), None), strict=True)
    ]


def risk_intervals(profiles: Sequence[RiskProfile]) -> list[Range]:
    """The intervals of the distribution of risk, the highest first, without intervals that no class size has."""
    found, low = [], 1
    for intervals in zip(*(profile.distribution for profile in profiles), strict=True):
        lower_end = Fraction(intervals[0].interval.strip("[]()").split(",")[0])
        high = int(100 / lower_end) if lower_end else None
        if high is None or high >= low:
            found.append(Range(low, high, tuple(interval.count for interval in intervals), profiles[0].unit))
            low = 0 if high is None else high + 1
    return found


def small_classes_as_one(ranges: Sequence[Range], least: int) -> list[Range]:
    """Put the ranges of groups of fewer than `least` into one."""
    small = [one for one in ranges if one.high is not None and one.high < least]
    return [*([_together(small)] if small else []), *ranges[len(small) :]]


def joined(ranges: Sequence[Range], least: int) -> list[Range]:
    """Join neighbours until none has a small number of any table; empty if there are too few."""
    found: list[Range] = []
    waiting: list[Range] = []
    for one in ranges:
        if not any(one.counts):
            continue
        waiting.append(one)
        if not _small(waiting, least):
            found.append(_together(waiting))
            waiting = []
    while waiting and found:
        waiting.insert(0, found.pop())
        if not _small(waiting, least):
            found.append(_together(waiting))
            waiting = []
    return found


def _range(tables: Sequence[tuple[Counts, Counts]], low: int, high: int | None, unit: Unit) -> Range:
    ends = (low, np.inf if high is None else high)
    found = (int(counts[(sizes >= ends[0]) & (sizes <= ends[1])].sum()) for sizes, counts in tables)
    return Range(low, high, tuple(found), unit)


def _small(ranges: Sequence[Range], least: int) -> bool:
    return any(0 < some < least for some in _together(ranges).counts)


def _together(ranges: Sequence[Range]) -> Range:
    counts = tuple(map(sum, zip(*(one.counts for one in ranges), strict=True)))
    return Range(ranges[0].low, ranges[-1].high, counts, ranges[0].unit)
