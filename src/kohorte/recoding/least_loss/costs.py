"""What cells cost, attribute by attribute, in whole numbers: by these, the kernels compare groups of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from kohorte.kernels.arrays import Codes, Counts, Floats
from kohorte.kernels.pools_reference import MIX, SET, SPAN, TREE, AxisArrays
from kohorte.metrics import (
    Classification,
    Entropy,
    Height,
    Metric,
    NonUniformEntropy,
    NonUniformEntropySuppression,
    Precision,
    PrecisionMonotone,
    QueryLoss,
)
from kohorte.recoding.base import RecodingProblem
from kohorte.recoding.line import Line, by_hierarchy

CELLS = ("sets", "intervals", "hierarchy")
"""What a cell may be: the values that occur, an interval of the line, or a group of the hierarchy."""
WHOLE = 2**32
"""What a row costs that shows nothing. Shares are rounded to this precision."""
BIT = 2**20
"""What one bit costs, where entropy counts."""
UNASKED = 0.001
"""What an attribute that no query asks about costs beside all others: between groups that cost the same, it decides."""


@dataclass(frozen=True, eq=False)
class CellCosts:
    """The positions of all included rows, and what cells of one kind cost by the metric of the plan.

    Metrics that are not a sum over the cells of rows (such as those that count classes) are lowered by small groups, as
    loss is: then loss decides which rows belong together, and the metric decides between the results.
    """

    problem: RecodingProblem = field(repr=False)
    cells: str

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The line of each quasi-identifier, on which every cell is an interval or a set."""
        if self.cells != "hierarchy":
            return self.problem.lines
        return tuple(by_hierarchy(line) for line in self.problem.lines)

    @cached_property
    def positions(self) -> Codes:
        """The positions of the included rows on the lines, one column each, and what is predicted."""
        columns = [line.positions[codes] for line, codes in zip(self.lines, self.problem.codes.T, strict=True)]
        return np.stack([*columns, *(codes for codes, _ in self._targets)], axis=1)

    @cached_property
    def _targets(self) -> list[tuple[Codes, int]]:
        """The codes of the attribute that the release shall predict, and their number; none for other metrics."""
        metric = self.problem.goal.metric
        if not isinstance(metric, Classification):
            return []
        column = next(column for column in self.problem.table.sensitive if column.name == metric.attribute)
        return [(column.codes[self.problem.rows], len(column.domain.overall))]

    @cached_property
    def axes(self) -> list[AxisArrays]:
        """The costs of each quasi-identifier, as the kernels take them."""
        weights = self._weights
        whole = sum(weights) or 1.0
        of_line = _BY_METRIC.get(type(self.problem.goal.metric), CellCosts.loss)
        axes = [of_line(self, line, weight / whole) for line, weight in zip(self.lines, weights, strict=True)]
        rows = len(self.problem.rows)
        return axes + [mixed(values, rows, WHOLE / np.log2(max(2, values))) for _, values in self._targets]

    @property
    def _weights(self) -> list[float]:
        own = {line.column.name: float(self.problem.goal.weights.get(line.column.name, 1.0)) for line in self.lines}
        metric = self.problem.goal.metric
        if not isinstance(metric, QueryLoss):
            return list(own.values())
        asked = metric.weights(own).tolist()
        return [
            weight if weight > 0 else UNASKED * min(1.0, own[name]) for name, weight in zip(own, asked, strict=True)
        ]

    @property
    def counts_suppressed(self) -> bool:
        """Whether the metric counts a suppressed row as a row that shows nothing."""
        return self.problem.goal.metric.name in ("loss", "precision", "query_loss")

    def kind(self, line: Line) -> str:
        """What the cells of an attribute are; numbers and dates have intervals instead of sets."""
        return "intervals" if self.cells == "sets" and line.measured else self.cells

    def loss(self, line: Line, weight: float) -> AxisArrays:
        """The share of the domain that a cell covers."""
        if self.cells == "hierarchy":
            shares = [line.column.shares[level][groups] for level, groups in enumerate(line.groups)]
            return _tree(line, line.groups, shares, weight)
        missing = line.missing
        if line.measured:
            begins, ends = line.bounds
            return _axis(SPAN, missing, _whole(begins * weight), _whole(ends * weight))
        sizes = line.leaves / max(1, len(line.column.hierarchy.values) - 1)
        one = 1 / max(1, len(line.column.hierarchy.values) - 1)
        if self.cells == "sets":
            return _axis(
                SET, missing, np.full(line.length, _whole(np.array([one * weight]))[0]), _whole(sizes * weight)
            )
        ends = np.cumsum(sizes)
        return _axis(SPAN, missing, _whole((ends - sizes + one) * weight), _whole(ends * weight))

    def heights(self, line: Line, weight: float) -> AxisArrays:
        """The lowest level of the hierarchy at which one group covers a cell."""
        top = max(1, line.column.hierarchy.top)
        runs = [np.concatenate([[0], np.cumsum(groups[1:] != groups[:-1])]) for groups in line.groups]
        levels = [np.full(line.length, (level + line.column.finest) / top) for level in range(len(runs))]
        if runs[-1].any():  # no level covers everything, although the cell can
            runs.append(np.zeros(line.length, dtype=np.int64))
            levels.append(np.ones(line.length))
        return _tree(line, [run.astype(np.uint32) for run in runs], levels, weight)

    def entropy(self, line: Line, weight: float) -> AxisArrays:
        """How well the values can be guessed in a group: the number of its rows times their entropy."""
        return mixed(line.length, len(self.problem.rows), BIT * weight)


def mixed(values: int, rows: int, bit: float) -> AxisArrays:
    """An attribute whose values should be alike in a group; `bit` is what one bit of entropy costs a row."""
    counts = np.arange(rows + 2)
    costs = np.rint(bit * counts * np.log2(np.maximum(1, counts))).astype(np.int64)
    return _axis(MIX, values, np.zeros(values, dtype=np.int64), costs)


_BY_METRIC: dict[type[Metric], Callable[[CellCosts, Line, float], AxisArrays]] = {
    Precision: CellCosts.heights,
    PrecisionMonotone: CellCosts.heights,
    Height: CellCosts.heights,
    Entropy: CellCosts.entropy,
    NonUniformEntropy: CellCosts.entropy,
    NonUniformEntropySuppression: CellCosts.entropy,
}


def _whole(costs: Floats) -> Counts:
    return np.rint(WHOLE * costs).astype(np.int64)


def _axis(kind: int, missing: int, first: Counts, second: Counts) -> AxisArrays:
    nothing = np.empty((0, 0))
    return kind, missing, first, second, nothing.astype(np.uint32), nothing.astype(np.int64)


def _tree(line: Line, groups: Sequence[Codes], costs: Sequence[Floats], weight: float) -> AxisArrays:
    """Groups of levels; no level costs less than the one below."""
    none = np.zeros(line.length, dtype=np.int64)
    by_level = np.maximum.accumulate(np.stack([_whole(weight * level) for level in costs]), axis=0)
    return TREE, line.length, none, none, np.stack(list(groups)).astype(np.uint32), by_level
