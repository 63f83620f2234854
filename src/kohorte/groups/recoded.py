"""A table whose rows are generalized each in its own way: all that metrics see of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from kohorte.groups.histogram import Histogram
from kohorte.kernels.arrays import Bools, Codes, Counts, Floats


@dataclass(frozen=True, eq=False)
class RecodedColumn:
    """One quasi-identifier: which values became which cells, how often.

    `counts[i]` rows have value `values[i]` and show cell `cells[i]`, `kept[i]` of them in rows that are not suppressed.
    Cell `c` leaves the share `shares[c]` of the domain untold, and stands as high as level `heights[c]` of the
    hierarchy, whose top is `top`.
    """

    values: Codes
    cells: Codes
    counts: Counts
    kept: Counts
    shares: Floats
    heights: Floats
    top: int
    weight: float = 1.0

    @cached_property
    def told(self) -> Floats:
        """The probability of the original value, given its cell."""
        shown = np.bincount(self.cells, weights=self.counts, minlength=len(self.shares))
        told: Floats = self.counts / shown[self.cells]
        return told

    def suppressed(self) -> Floats:
        """How many suppressed rows would have shown each cell, where there are any."""
        gone = np.bincount(self.cells, weights=self.counts - self.kept, minlength=len(self.shares))
        return gone[gone > 0].astype(np.float64)


@dataclass(frozen=True, eq=False)
class Recoded:
    """The classes of a recoded table before suppression, which of them are kept, and the single columns.

    `excluded` rows are suppressed because they lack a value; they are in no class and in no column.
    """

    rows: int
    excluded: int
    sizes: Counts
    kept: Bools
    columns: tuple[RecodedColumn, ...]
    histograms: Mapping[str, Histogram] = field(default_factory=dict)

    @cached_property
    def suppressed(self) -> int:
        """How many rows are suppressed, the excluded among them."""
        return self.rows - int(self.sizes[self.kept].sum())

    @property
    def weights(self) -> Floats:
        """The attribute weights, one per quasi-identifier."""
        return np.array([column.weight for column in self.columns])

    def mean(self, column: RecodedColumn, of_cells: Floats) -> float:
        """The mean of a number per cell over all rows that are in classes."""
        return float((column.counts * of_cells[column.cells]).sum()) / max(1, self.rows - self.excluded)

    def mean_with_suppression(self, column: RecodedColumn, of_cells: Floats) -> float:
        """The mean of a number per cell over all rows; in a suppressed row it is 1."""
        return (float((column.kept * of_cells[column.cells]).sum()) + self.suppressed) / self.rows
