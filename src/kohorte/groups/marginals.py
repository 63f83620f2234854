"""What metrics may know about the single columns of a table, before any node is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kohorte.kernels.arrays import Codes, Counts, Floats


@dataclass(frozen=True, eq=False)
class Column:
    """One quasi-identifier: how often each code occurs, and what becomes of it level by level.

    `maps[level][code]` is the generalized code, `shares[level][generalized code]` the share of the domain that it
    no longer tells apart. The levels are those of a hierarchy from its level `finest` on.
    """

    name: str
    counts: Counts
    maps: tuple[Codes, ...]
    shares: tuple[Floats, ...]
    weight: float = 1.0
    finest: int = 0

    @property
    def top(self) -> int:
        """The number of the top level."""
        return len(self.maps) - 1

    @property
    def heights(self) -> Floats:
        """The levels as the hierarchy counts them."""
        return np.arange(self.finest, self.finest + len(self.maps), dtype=np.float64)

    def frequencies(self, level: int) -> Floats:
        """How many rows share the generalized value of each code."""
        sums = np.bincount(self.maps[level], weights=self.counts)
        return sums.astype(np.float64)[self.maps[level]]


@dataclass(frozen=True, eq=False)
class Marginals:
    """The columns of all quasi-identifiers, and the number of rows."""

    rows: int
    columns: tuple[Column, ...]

    @cached_property
    def weights(self) -> Floats:
        """The attribute weights, one per quasi-identifier."""
        return np.array([column.weight for column in self.columns])

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of levels of each quasi-identifier."""
        return tuple(len(column.maps) for column in self.columns)
