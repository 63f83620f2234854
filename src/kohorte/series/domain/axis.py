"""The domain of a quasi-identifier as an axis of places, fixed before the first row is seen.

Regions cover places, never values: so they cover the same values in every release, those that nobody has yet among
them. A place is a step of numbers, a period of dates, or a category. What lies between the pieces of an axis is a gap:
rows with such a value belong to no region.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohorte.errors import InputError
from kohorte.kernels.arrays import Bools, Floats
from kohorte.series.domain.regions import OUTSIDE

OR_MISSING = " or missing"
"""What a label says besides where some of the values it stands for may be missing."""
FREE = -1
"""The cut level of a place that may be told from the one before at any time."""
MOST_PLACES = 1_000_000

Column = NDArray[np.int64]
"""The places of all rows on one axis."""


@dataclass(frozen=True)
class Axis(ABC):
    """What all axes share; `missing` adds a last place for rows that lack a value.

    `pieces` are the runs of places, one after another, that are regions before anything is split. A region may be
    split before a place whose `cut_levels` is the highest inside the region: of measures that is everywhere, of
    categories where their hierarchy divides them first. Missing values may always be told apart (FREE).
    """

    name: str
    missing: bool

    kind: ClassVar[str]
    measured: ClassVar[bool] = True

    @property
    @abstractmethod
    def known(self) -> int:
        """How many places there are for values that are not missing."""

    @property
    def pieces(self) -> tuple[tuple[int, int], ...]:
        """From (inclusive) and to (exclusive) of each piece; a missing value belongs to the last one."""
        return ((0, self.length),)

    @property
    def length(self) -> int:
        """How many places there are."""
        return self.known + self.missing

    @cached_property
    def cut_levels(self) -> NDArray[np.int64]:
        """For every place, at which level of the hierarchy it is told from the place before."""
        levels = np.zeros(self.length, dtype=np.int64)
        levels[self.known :] = FREE
        return levels

    def place(self, texts: pl.Series) -> Column:
        """The place of every row; OUTSIDE in a gap. Values outside the domain are refused, by row number."""
        distinct = texts.unique().drop_nulls()
        found = np.append(self.place_values(distinct), self.known if self.missing else OUTSIDE)
        codes = texts.cast(pl.Enum(distinct)).to_physical().cast(pl.Int64).fill_null(len(distinct)).to_numpy()
        places: Column = found[codes]
        self._refuse_outside(places)
        return places

    def _refuse_outside(self, places: Column) -> None:
        wrong: Bools = places < OUTSIDE
        if wrong.any():
            rows = np.flatnonzero(wrong) + 1
            raise InputError(
                f"column {self.name!r}: {len(rows):,} rows have a value outside the domain of the series "
                f"({self.in_words}), the first is row {rows[0]:,}",
                code="series-outside-domain",
            )

    @abstractmethod
    def place_values(self, values: pl.Series) -> Column:
        """The place of every distinct value: OUTSIDE in a gap, less where the domain does not have it."""

    def label(self, low: int, high: int) -> str | None:
        """What a cell shows that covers the places from `low` up to, not including, `high`."""
        if high <= self.known:
            return self.label_known(low, high)
        return None if low == self.known else f"{self.label_known(low, self.known)}{OR_MISSING}"

    @abstractmethod
    def label_known(self, low: int, high: int) -> str:
        """The same where no value is missing."""

    @property
    @abstractmethod
    def in_words(self) -> str:
        """The domain for people; no value of the data."""

    def shares(self, lows: Column, highs: Column) -> Floats:
        """The share of the domain that each interval of places does not tell apart, as the metric `loss` counts it."""
        told = np.minimum(highs, self.known) - np.minimum(lows, self.known)
        shares: Floats = np.maximum(told - 1, 0) / max(1, self.known - 1)
        return shares

    @abstractmethod
    def ticks(self, low: int, high: int) -> tuple[str, str]:
        """What stands at both ends of an interval of places in a picture."""

    @abstractmethod
    def to_dict(self) -> dict[str, object]:
        """The axis as plain data, from which the same axis is made again."""


def refuse_too_many(name: str, places: int) -> None:
    """Refuse an axis on which nothing could be counted."""
    if places > MOST_PLACES:
        raise InputError(
            f"regions: {name}: {places:,} places are too many (at most {MOST_PLACES:,}); take larger steps",
            code="series-axis",
        )


def runs(lengths: Sequence[int], *, missing: bool) -> tuple[tuple[int, int], ...]:
    """Pieces of these lengths, one after another; the last has the place for missing values, too."""
    ends = np.cumsum(lengths).tolist()
    starts = [0, *ends[:-1]]
    return tuple(zip(starts, [*ends[:-1], ends[-1] + missing], strict=True))
