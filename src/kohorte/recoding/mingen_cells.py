"""MinGen for single cells: the best of all ways to generalize every cell of a small table."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kohorte.errors import NoSolution
from kohorte.kernels.arrays import Bools, Codes, Counts, Floats
from kohorte.recoding.base import RecodingProblem, refuse_models
from kohorte.recoding.cells import Cells, Recoding
from kohorte.search import OutOfTime

MOST_ROWS = 16
METRICS = ("precision", "loss")
SMALL = 8
"""Sets of up to so many rows are solved in one step, larger ones are divided; our choice, affects only the time."""
CHUNK = 1 << 13


class MinGenCells:
    """MinGen as published: each cell can be generalized to its own level.

    Rows of one class look the same, so a class is cheapest if every attribute takes the lowest level at which its rows
    agree. The search therefore looks for the cheapest partition of the rows into classes that satisfy the models. No
    row is suppressed to save others.

    Optimal or heuristic
        Optimal for monotone models that judge each class on its own, and for metrics that are sums over cells
        (precision and loss); everything else is refused.
    Complexity
        O(3^n) for n rows, by dynamic programming over the sets of rows; at most 16 included rows.
    Source
        Sweeney, Achieving k-Anonymity Privacy Protection Using Generalization and Suppression, 2002, section 5.
    """

    name: ClassVar[str] = "mingen_cells"
    options: ClassVar[tuple[str, ...]] = ()

    def refuse(self, problem: RecodingProblem) -> str | None:
        """It needs a small table and a metric that is a sum over cells."""
        if problem.goal.metric.name not in METRICS:
            return f"it needs a metric that adds up what cells lose: {' or '.join(METRICS)}"
        if len(problem.rows) > MOST_ROWS:
            return (
                f"it looks at all sets of rows, so the table may have at most {MOST_ROWS} rows; this table has "
                f"{len(problem.rows):,}"
            )
        return refuse_models(problem.goal.models)

    def run(self, problem: RecodingProblem) -> Recoding:
        """Find the cheapest partition of the rows; at the time limit, return one class of all rows."""
        rows = len(problem.rows)
        together = np.zeros(rows, dtype=np.uint32)
        if not problem.satisfied(problem.groups(together, 1)).all():
            raise NoSolution(
                "not even one class of all rows satisfies the models, so that there is nothing to choose from",
                code="recoding-no-solution",
            )
        sets = _Sets(problem)
        try:
            partition = _Partitions(problem, sets.costs_of_allowed())
            class_of = partition.classes()
        except OutOfTime:
            return sets.recoding(together)
        return sets.recoding(class_of, cost=float(partition.best[-1]))


class _Sets:
    """All sets of rows: set `s` contains row `r` if bit `r` of `s` is 1."""

    def __init__(self, problem: RecodingProblem) -> None:
        self.problem = problem
        rows = len(problem.rows)
        numbers = np.arange(1 << rows)
        self.bits: Bools = (numbers[:, None] >> np.arange(rows) & 1).astype(bool)
        self.sizes: Counts = self.bits.sum(axis=1)
        self.firsts: NDArray[np.int64] = self.bits.argmax(axis=1)

    def costs_of_allowed(self) -> Floats:
        """The cost of each set as a class; infinite if it does not satisfy the models."""
        allowed = np.flatnonzero(self.sizes >= max(1, self.problem.goal.smallest_class))
        verdicts: list[Bools] = []
        for begin in range(0, len(allowed), CHUNK):
            self.problem.watch_time()
            chunk = allowed[begin : begin + CHUNK]
            class_of, members = np.nonzero(self.bits[chunk])
            groups = self.problem.groups(class_of.astype(np.uint32), len(chunk), members.astype(np.uint32))
            verdicts.append(self.problem.satisfied(groups))
        allowed = allowed[np.concatenate(verdicts)]
        costs = np.full(len(self.sizes), np.inf)
        costs[allowed] = self._costs()[allowed]
        return costs

    def _costs(self) -> Floats:
        """The cost of each set if all its rows look the same."""
        weights = np.array([self.problem.goal.weights.get(line.column.name, 1.0) for line in self.problem.lines])
        costs = np.zeros(len(self.sizes))
        for axis, weight in enumerate(weights / (weights.sum() or 1.0)):
            costs += weight * self.sizes * self._lost(axis)[self.levels(axis), self.firsts]
        return costs

    def levels(self, axis: int) -> NDArray[np.int64]:
        """The lowest level at which the rows of each set agree: the highest at which its first row meets another."""
        codes = self.problem.codes[:, axis]
        maps = self.problem.table.columns[axis].maps
        pairs = np.full((len(codes), len(codes)), len(maps) - 1)
        for level in reversed(range(len(maps))):
            groups = maps[level][codes]
            pairs[groups[:, None] == groups] = level
        levels = np.zeros(len(self.sizes), dtype=np.int64)
        for row in range(len(codes)):
            without = slice(1, 1 << row)
            further = pairs[self.firsts[without], row]
            levels[(1 << row) + 1 : 2 << row] = np.maximum(levels[without], further)
        return levels

    def _lost(self, axis: int) -> Floats:
        """The information loss of a cell, by level (first index) and row."""
        column = self.problem.table.columns[axis]
        codes = self.problem.codes[:, axis]
        if self.problem.goal.metric.name == "loss":
            return np.stack([shares[mapped[codes]] for shares, mapped in zip(column.shares, column.maps, strict=True)])
        heights = np.arange(column.finest, column.finest + len(column.maps)) / max(1, column.hierarchy.top)
        return np.repeat(heights[:, None], len(codes), axis=1)

    def recoding(self, class_of: Codes, cost: float | None = None) -> Recoding:
        """The recoded table; `cost` is the cost of the optimum, or None if it was not found in time."""
        problem = self.problem
        numbers = np.bincount(class_of, weights=1 << np.arange(len(class_of))).astype(np.int64)[class_of]
        columns = tuple(
            Cells.of_levels(line, problem.whole(self.levels(axis)[numbers].astype(np.uint32)), line.column.codes)
            for axis, line in enumerate(problem.lines)
        )
        kept = problem.table.included.copy()
        facts = {"classes": int(class_of.max(initial=0)) + 1, "complete": cost is not None}
        if cost is None:
            return Recoding(columns, kept, 1, "generalizations of cells", heuristic=False, facts=facts)
        excluded = problem.table.rows - len(problem.rows)
        bound = (cost + excluded) / problem.table.rows
        found = Recoding(columns, kept, len(self.sizes) - 1, "generalizations of cells", heuristic=False, facts=facts)
        optimal = problem.cost(found) <= bound + 1e-9  # a label with several meanings can raise the cost
        return Recoding(
            columns,
            kept,
            found.checked,
            found.what,
            optimal=optimal,
            heuristic=False,
            lower_bound=bound,
            facts=facts,
        )


class _Partitions:
    """The cheapest partition of every set of rows into allowed sets."""

    def __init__(self, problem: RecodingProblem, costs: Floats) -> None:
        self._costs = costs
        self._rows = len(costs).bit_length() - 1
        self.best: Floats = np.full(len(costs), np.inf)
        self.best[0] = 0.0
        for row in reversed(range(self._rows)):  # all sets whose first row is this one
            problem.watch_time()
            self.best[1 << row :: 2 << row] = _cheapest(costs[1 << row :: 2 << row], self.best[:: 2 << row])

    def classes(self) -> Codes:
        """The class of every row in the cheapest partition of all rows."""
        class_of = np.zeros(self._rows, dtype=np.uint32)
        left, number = len(self._costs) - 1, 0
        while left:
            first = left & -left
            members = np.arange(first, left + 1)
            members = members[((members & ~left) == 0) & ((members & first) > 0)]
            chosen = int(members[np.argmin(self._costs[members] + self.best[left ^ members])])
            class_of[[row for row in range(self._rows) if chosen >> row & 1]] = number
            left, number = left ^ chosen, number + 1
        return class_of


def _cheapest(costs: Floats, rest: Floats) -> Floats:
    """For every set, the minimum over its subsets of `costs` of the subset plus `rest` of the complement."""
    half = len(costs) // 2
    if half < 1 << SMALL:
        parts, others, begins = _divided(len(costs).bit_length() - 1)
        least: Floats = np.minimum.reduceat(costs[parts] + rest[others], begins)
        return least
    with_last = np.minimum(_cheapest(costs[half:], rest[:half]), _cheapest(costs[:half], rest[half:]))
    return np.concatenate([_cheapest(costs[:half], rest[:half]), with_last])


@lru_cache(maxsize=SMALL + 2)
def _divided(rows: int) -> tuple[Counts, Counts, Counts]:
    """All ways to divide each set in two: the first parts, the second parts, and where those of each set begin."""
    sets, parts = np.nonzero((np.arange(1 << rows)[:, None] | np.arange(1 << rows)) == np.arange(1 << rows)[:, None])
    return parts, sets ^ parts, np.searchsorted(sets, np.arange(1 << rows))
