"""The frequencies of single columns, which metrics may use before any node is counted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kohorte.kernels.arrays import Codes, Counts, Floats


@dataclass(frozen=True, eq=False)
class Column:
    """One quasi-identifier: the frequency of each code, and its generalization at each level.

    `maps[level][code]` is the generalized code, and `shares[level][generalized code]` the share of the domain that it
    covers. Level 0 is level `finest` of the hierarchy.
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
        """The numbers of the levels in the hierarchy."""
        return np.arange(self.finest, self.finest + len(self.maps), dtype=np.float64)

    def frequencies(self, level: int) -> Floats:
        """For each code, the number of rows with the same generalized value."""
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
