"""What metrics see of a table in which each row is generalized in its own way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from kohorte.groups.histogram import Histogram
from kohorte.kernels.arrays import Bools, Codes, Counts, Floats


@dataclass(frozen=True, eq=False)
class RecodedColumn:
    """One quasi-identifier: how often each value became each cell.

    `counts[i]` rows have value `values[i]` and show cell `cells[i]`; `kept[i]` of these rows are not suppressed. Cell
    `c` covers the share `shares[c]` of the domain and corresponds to level `heights[c]` of the hierarchy, whose top
    level is `top`.
    """

    values: Codes
    cells: Codes
    counts: Counts
    kept: Counts
    shares: Floats
    heights: Floats
    top: int
    weight: float = 1.0
    name: str = ""

    @cached_property
    def told(self) -> Floats:
        """The probability of the original value, given its cell."""
        shown = np.bincount(self.cells, weights=self.counts, minlength=len(self.shares))
        told: Floats = self.counts / shown[self.cells]
        return told

    def suppressed(self) -> Floats:
        """For each cell of suppressed rows, how many of them would have shown it."""
        gone = np.bincount(self.cells, weights=self.counts - self.kept, minlength=len(self.shares))
        return gone[gone > 0].astype(np.float64)


@dataclass(frozen=True, eq=False)
class Recoded:
    """The classes of a recoded table before suppression, which of them are kept, and its columns.

    `excluded` rows are suppressed because a value is missing; they are in no class and in no column.
    """

    rows: int
    excluded: int
    sizes: Counts
    kept: Bools
    columns: tuple[RecodedColumn, ...]
    histograms: Mapping[str, Histogram] = field(default_factory=dict)

    @cached_property
    def suppressed(self) -> int:
        """The number of suppressed rows, excluded ones included."""
        return self.rows - int(self.sizes[self.kept].sum())

    @property
    def weights(self) -> Floats:
        """The attribute weights, one per quasi-identifier."""
        return np.array([column.weight for column in self.columns])

    def mean(self, column: RecodedColumn, of_cells: Floats) -> float:
        """The mean over all rows in classes of one number per cell."""
        return float((column.counts * of_cells[column.cells]).sum()) / max(1, self.rows - self.excluded)

    def mean_with_suppression(self, column: RecodedColumn, of_cells: Floats) -> float:
        """The mean over all rows of one number per cell; a suppressed row counts as 1."""
        return (float((column.kept * of_cells[column.cells]).sum()) + self.suppressed) / self.rows
