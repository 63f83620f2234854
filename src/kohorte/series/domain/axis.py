"""The domain of a quasi-identifier as an axis of positions, fixed before the first row is seen.

Regions cover positions, never values. So they cover the same values in every release, including those that no row has
yet. A position is a step of numbers, a period of dates, or a category. What lies between the pieces of an axis is a
gap: rows with such a value belong to no region.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import polars as pl

from kohorte.errors import InputError
from kohorte.kernels.arrays import Bools, Floats, Integers
from kohorte.series.domain.regions import OUTSIDE

OR_MISSING = " or missing"
"""The end of a label that also covers missing values."""
FREE = -1
"""The cut level of a position that may always be told from the one before."""
MOST_POSITIONS = 1_000_000
"""A safeguard: arrays of the length of an axis must fit into memory."""

Column = Integers
"""The positions of all rows on one axis."""


@dataclass(frozen=True)
class Axis(ABC):
    """The positions of one quasi-identifier; `missing` adds a last one for rows that lack a value.

    `pieces` are the runs of positions, one after another, that are regions before anything is split. A region may be
    split before a position whose `cut_levels` is the highest inside the region: of measures that is everywhere, of
    categories where their hierarchy divides them first. Missing values may always be told apart (FREE).
    """

    name: str
    missing: bool

    kind: ClassVar[str]
    measured: ClassVar[bool] = True

    @property
    @abstractmethod
    def known(self) -> int:
        """How many positions there are for values that are not missing."""

    @property
    def pieces(self) -> tuple[tuple[int, int], ...]:
        """Start (inclusive) and end (exclusive) of each piece; a missing value belongs to the last one."""
        return ((0, self.length),)

    @property
    def length(self) -> int:
        """How many positions there are."""
        return self.known + self.missing

    @cached_property
    def cut_levels(self) -> Integers:
        """For every position, at which level of the hierarchy it is told from the position before."""
        levels = np.zeros(self.length, dtype=np.int64)
        levels[self.known :] = FREE
        return levels

    def positions(self, texts: pl.Series) -> Column:
        """The position of every row; OUTSIDE in a gap. Refuses values outside the domain, by row number."""
        distinct = texts.unique().drop_nulls()
        found = np.append(self.positions_of_values(distinct), self.known if self.missing else OUTSIDE)
        codes = texts.cast(pl.Enum(distinct)).to_physical().cast(pl.Int64).fill_null(len(distinct)).to_numpy()
        positions: Column = found[codes]
        self._refuse_outside(positions)
        return positions

    def _refuse_outside(self, positions: Column) -> None:
        wrong: Bools = positions < OUTSIDE
        if wrong.any():
            rows = np.flatnonzero(wrong) + 1
            raise InputError(
                f"column {self.name!r}: {len(rows):,} rows have a value outside the domain of the series "
                f"({self.in_words}), the first is row {rows[0]:,}",
                code="series-outside-domain",
            )

    @abstractmethod
    def positions_of_values(self, values: pl.Series) -> Column:
        """The position of every distinct value: OUTSIDE in a gap, UNKNOWN if the domain does not have it."""

    def label(self, low: int, high: int) -> str | None:
        """The text of a cell that covers the positions from `low` up to, but not including, `high`."""
        if high <= self.known:
            return self.label_known(low, high)
        return None if low == self.known else f"{self.label_known(low, self.known)}{OR_MISSING}"

    @abstractmethod
    def label_known(self, low: int, high: int) -> str:
        """The text of such a cell, without missing values."""

    @property
    @abstractmethod
    def in_words(self) -> str:
        """The domain in words; it contains no value of the data."""

    def shares(self, lows: Column, highs: Column) -> Floats:
        """The share of the domain that each interval leaves open, as the metric `loss` counts it."""
        told = np.minimum(highs, self.known) - np.minimum(lows, self.known)
        shares: Floats = np.maximum(told - 1, 0) / max(1, self.known - 1)
        return shares

    @abstractmethod
    def ticks(self, low: int, high: int) -> tuple[str, str]:
        """The labels at both ends of an interval of positions in a chart."""

    @abstractmethod
    def to_dict(self) -> dict[str, object]:
        """The axis as plain data, from which the same axis is made again."""


def refuse_too_many(name: str, positions: int) -> None:
    """Refuse an axis that is too long to be counted."""
    if positions > MOST_POSITIONS:
        raise InputError(
            f"regions: {name}: {positions:,} positions are too many (at most {MOST_POSITIONS:,}); take larger steps",
            code="series-axis",
        )


def runs(lengths: Sequence[int], *, missing: bool) -> tuple[tuple[int, int], ...]:
    """Pieces of these lengths, one after another; the last one includes the position of missing values."""
    ends = np.cumsum(lengths).tolist()
    starts = [0, *ends[:-1]]
    return tuple(zip(starts, [*ends[:-1], ends[-1] + missing], strict=True))
