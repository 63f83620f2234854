"""The rows of a table as methods that group rows see them: what cells cost, and how far rows are apart."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kohorte.kernels.pools_reference import SPAN
from kohorte.recoding import RecodingProblem
from kohorte.recoding.least_loss.costs import WHOLE, CellCosts

Numbers = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Space:
    """Included rows, one column per quasi-identifier; a cell is an interval of numbers or a set of categories.

    What a cell costs is what the metric `loss` says of it: the share of its domain, weighted, so that `*` everywhere
    costs 1.
    """

    problem: RecodingProblem = field(repr=False)

    @cached_property
    def costs(self) -> CellCosts:
        """What cells of sets and intervals cost."""
        return CellCosts(self.problem, "sets")

    @cached_property
    def places(self) -> Rows:
        """The positions of the rows."""
        return self.costs.positions.astype(np.int64)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.places)

    @cached_property
    def spans(self) -> tuple[int, ...]:
        """The columns whose cells are intervals."""
        return tuple(axis for axis, arrays in enumerate(self.costs.axes) if arrays[0] == SPAN)

    @cached_property
    def sets(self) -> tuple[int, ...]:
        """The columns whose cells are sets."""
        return tuple(axis for axis in range(self.places.shape[1]) if axis not in self.spans)

    @cached_property
    def ends(self) -> tuple[Numbers, Numbers]:
        """Where each row begins and ends in the columns of intervals, in shares of what a row can cost."""
        axes = self.costs.axes
        low = [axes[axis][2][self.places[:, axis]] / WHOLE for axis in self.spans]
        high = [axes[axis][3][self.places[:, axis]] / WHOLE for axis in self.spans]
        return _columns(low, self.rows), _columns(high, self.rows)

    @cached_property
    def steps(self) -> Numbers:
        """What one more value costs in each column of sets."""
        return np.array([self.costs.axes[axis][3].max() / WHOLE for axis in self.sets])

    @cached_property
    def names(self) -> Rows:
        """The positions in the columns of sets."""
        return np.ascontiguousarray(self.places[:, list(self.sets)])

    def apart(self, row: int, rows: Rows) -> Numbers:
        """What a cell costs that covers two rows, for one row and many others."""
        low, high = self.ends
        spans = np.maximum(high[rows], high[row]) - np.minimum(low[rows], low[row])
        different = (self.names[rows] != self.names[row]) * self.steps
        total: Numbers = spans.sum(axis=1) + different.sum(axis=1)
        return total

    def cost(self, rows: Rows) -> float:
        """What the cells of one row cost in a group."""
        low, high = self.ends
        spans = high[rows].max(axis=0) - low[rows].min(axis=0)
        values = [len(np.unique(self.names[rows, axis])) - 1 for axis in range(len(self.sets))]
        return float(spans.sum() + (np.array(values) * self.steps).sum())


class Growing:
    """A group that takes one row after the other, and what it would cost with any other row."""

    def __init__(self, space: Space, first: int) -> None:
        self.space = space
        self.rows = [first]
        low, high = space.ends
        self.low, self.high = low[first].copy(), high[first].copy()
        lengths = [len(space.costs.axes[axis][2]) for axis in space.sets]
        self.inside = [np.zeros(length, dtype=bool) for length in lengths]
        for inside, place in zip(self.inside, space.names[first], strict=True):
            inside[place] = True
        self.values = np.ones(len(lengths))

    def add(self, row: int) -> None:
        """Take a row."""
        low, high = self.space.ends
        self.rows.append(row)
        self.low, self.high = np.minimum(self.low, low[row]), np.maximum(self.high, high[row])
        for axis, (inside, place) in enumerate(zip(self.inside, self.space.names[row], strict=True)):
            self.values[axis] += not inside[place]
            inside[place] = True

    def each(self) -> float:
        """What its cells cost one row."""
        return float((self.high - self.low).sum() + ((self.values - 1) * self.space.steps).sum())

    def each_with(self, rows: Rows) -> Numbers:
        """What its cells would cost one row, with any one of some rows."""
        low, high = self.space.ends
        spans = np.maximum(high[rows], self.high) - np.minimum(low[rows], self.low)
        total: Numbers = spans.sum(axis=1) + ((self.values - 1) * self.space.steps).sum()
        for axis, (inside, step) in enumerate(zip(self.inside, self.space.steps, strict=True)):
            total += ~inside[self.space.names[rows, axis]] * step
        return total


def _columns(columns: list[Numbers], rows: int) -> Numbers:
    return np.stack(columns, axis=1) if columns else np.empty((rows, 0))
