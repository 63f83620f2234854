"""A search for lattices that are too large to list: it remembers only what it has seen.

The order in which attributes are lowered and boxes are divided is our own choice. It affects the time, not the result.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from itertools import count
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kohorte.kernels.arrays import Floats
from kohorte.lattice import Node, add_up
from kohorte.search.base import Evaluation, OutOfTime, Problem, Search, SearchResult
from kohorte.search.surrogate import entropies, rare_rows, value_counts

SECONDS = 60.0
"""A lattice that is too large to list is searched for so long if the plan has no time limit; our own choice."""


class Box(NamedTuple):
    """All nodes between two nodes; `gone` rows are suppressed at each of them, and none costs less than `bound`."""

    bound: float
    low: Node
    high: Node
    gone: int

    @property
    def size(self) -> int:
        """The number of nodes."""
        return math.prod(high - low + 1 for low, high in zip(self.low, self.high, strict=True))


class BestFirst(Search):
    """Branch and bound with boxes of nodes, after a local search for a good solution.

    First single attributes are lowered as long as this is a better solution, those first that save much and tell
    little; then one is raised, and others are lowered instead. Then the whole lattice, a box, is divided: the box with
    the lowest bound is halved along an attribute until its parts are decided. A box is decided if too many rows are
    gone at its highest node, or at a node above that, or if its bound is above the best cost. The bound of a box is
    that of the parts at its lowest levels and of the rows that are gone at its highest node.

    Optimal or heuristic
        Optimal if it ends by itself; otherwise it returns the best solution so far and a proven lower bound. Ties are
        broken by height, then by levels from left to right.
    Complexity
        At most one check per node. Memory grows with the checks, not with the lattice: some hundred bytes for each.
        A lattice of more than 2^24 nodes is searched for 60 s unless the plan has a time limit.
    """

    name: ClassVar[str] = "best_first"
    lists_nodes: ClassVar[bool] = False

    def run(self, problem: Problem) -> SearchResult:
        """Search the lattice."""
        if problem.time_limit is None and problem.lattice.too_large is not None:
            problem.time_limit = SECONDS
        state = _State(problem)
        complete = True
        try:
            state.improve(problem.lattice.top)
            state.divide()
        except OutOfTime:
            complete = False
        return SearchResult(
            problem.best,
            optimal=complete,
            lower_bound=state.lower_bound(),
            checked=problem.checked,
            tagged=(problem.lattice.size if complete else state.settled()) - problem.checked,
        )


class _State:
    def __init__(self, problem: Problem) -> None:
        self.problem, self.costing = problem, problem.costing
        counts = value_counts(problem.marginals)
        self.bits = entropies(counts)
        self.seen: dict[Node, Evaluation] = {}
        self.failing: NDArray[np.int16] = np.empty((0, len(problem.lattice.shape)), dtype=np.int16)
        """Nodes at which too many rows are gone, as at everything below them; none of them is below another."""
        self.cheapest = [_cheapest(part) for part in self.costing.parts]
        self.number = count()
        self.waiting: list[tuple[float, int, Box]] = []
        self.open = problem.lattice.size
        self._know_rare_values(rare_rows(counts, self.costing.smallest_class))
        self.bound = self._bound(problem.lattice.bottom, problem.lattice.top, 0)  # of the box that is looked at

    def _know_rare_values(self, rare: tuple[Floats, ...]) -> None:
        """A level at which a single column has too many rows with rare values fails, whatever the other levels are.

        The highest levels are counted in any case.
        """
        top, marginals = self.problem.lattice.top, self.problem.marginals
        excluded = marginals.rows - float(marginals.columns[0].counts.sum())
        for axis, rows in enumerate(rare):
            failing = np.flatnonzero(rows[:-1] + excluded > self.problem.limit)
            if len(failing):
                self._add_failing((*top[:axis], int(failing.max()), *top[axis + 1 :]))

    # Single nodes

    def look_at(self, node: Node) -> Evaluation | None:
        """Count a node, once; None if it is known to fail."""
        if node in self.seen:
            return self.seen[node]
        if self._is_failing(node):
            return None
        found = self.problem.evaluate(node)
        self.seen[node] = found
        if found.gone > self.problem.limit:
            self._add_failing(node)
        self.problem.report(self.settled, self.lower_bound)
        return found

    def _is_failing(self, node: Node) -> bool:
        return bool((self.failing >= np.array(node)).all(axis=1).any())

    def _add_failing(self, node: Node) -> None:
        levels = np.array(node, dtype=np.int16)
        covered = (self.failing <= levels).all(axis=1)
        self.failing = np.vstack([self.failing[~covered], levels])

    # A good solution

    def improve(self, node: Node) -> None:
        """Lower attributes from a node, then raise single ones and lower others, as long as this is better."""
        found = self._lowered(node, kept=-1)
        while found is not None:
            found = next(self._better_after_raising(found), None)

    def _better_after_raising(self, found: Evaluation) -> Iterator[Evaluation]:
        for raised in self.problem.lattice.successors(found.node):
            axis = next(axis for axis, level in enumerate(raised) if level != found.node[axis])
            other = self._lowered(raised, kept=axis)
            if other is not None and other.solution and other.cost < found.cost:
                yield other

    def _lowered(self, node: Node, kept: int) -> Evaluation | None:
        """The solution that is reached from a node by lowering attributes, except one; None if the node is none."""
        found = self.look_at(node)
        while found is not None and found.solution:
            better = next(self._better_below(found, kept), None)
            if better is None:
                return found
            found = better
        return None

    def _better_below(self, found: Evaluation, kept: int) -> Iterator[Evaluation]:
        for node in sorted(self.problem.lattice.predecessors(found.node), key=lambda one: self._merit(found.node, one)):
            if node[kept] < found.node[kept] and kept >= 0:
                continue
            below = self.look_at(node)
            if below is not None and below.solution and below.cost < found.cost:
                yield below

    def _merit(self, above: Node, below: Node) -> float:
        """What lowering one attribute saves for each bit that it tells, negative; the best comes first."""
        axis = next(axis for axis, level in enumerate(below) if level != above[axis])
        part, bits = self.costing.parts[axis], self.bits[axis]
        saved = float(part[above[axis]] - part[below[axis]])
        return -saved / max(float(bits[below[axis]] - bits[above[axis]]), 1e-3)

    # The proof, and better solutions on the way

    def divide(self) -> None:
        """Divide the lattice until every box is decided."""
        lattice = self.problem.lattice
        self.look_at(lattice.top)
        self._let_wait(self._box(lattice.bottom, lattice.top, 0))
        while self.waiting:
            self.problem.watch_time()
            self.problem.report(self.settled, self.lower_bound)
            _, _, box = heapq.heappop(self.waiting)
            self.bound = box.bound
            self._dive(box)

    def _dive(self, box: Box) -> None:
        """Halve a box, go on with one half until it is decided, and let the others wait."""
        best = self.problem.best
        following: Box | None = box
        while following is not None:
            following = self._narrowed(following)
            if following is not None:
                following = self._half(following)
        self.bound = math.inf
        if self.problem.best is not best and self.problem.best is not None:
            self.improve(self.problem.best.node)

    def _half(self, box: Box) -> Box:
        """The lower half, whose highest node is counted, or the upper one if the lower one is decided."""
        axis, level = self._cut(box)
        high = (*box.high[:axis], level, *box.high[axis + 1 :])
        low = (*box.low[:axis], level + 1, *box.low[axis + 1 :])
        found = self.look_at(high)
        upper = self._box(low, box.high, box.gone)
        if found is None or found.gone > self.problem.limit:
            self.open -= box.size - upper.size
            return upper
        self._let_wait(upper)
        return self._box(box.low, high, max(box.gone, found.small if self.costing.raises_floor else found.gone))

    def _box(self, low: Node, high: Node, gone: int) -> Box:
        return Box(self._bound(low, high, gone), low, high, gone)

    def _let_wait(self, box: Box) -> None:
        heapq.heappush(self.waiting, (box.bound, next(self.number), box))

    def _narrowed(self, box: Box) -> Box | None:
        """The part of a box that is not decided by what is known; None if nothing is left."""
        self.bound = box.bound
        reached = self.failing >= np.array(box.high)
        agreeing = reached.sum(axis=1)
        if (agreeing == reached.shape[1]).any():
            self.open -= box.size
            return None
        low = list(box.low)
        for row in np.flatnonzero(agreeing == reached.shape[1] - 1):
            axis = int(np.flatnonzero(~reached[row])[0])
            low[axis] = max(low[axis], int(self.failing[row, axis]) + 1)
        left = self._box(tuple(low), box.high, box.gone)
        self.open -= box.size - left.size
        self.bound = left.bound
        if left.low != left.high and self._may_win(left):
            return left
        self.open -= left.size
        return None

    def _may_win(self, box: Box) -> bool:
        """Whether a node of a box can be better than the best one; of nodes that cost the same the lowest can."""
        return self.problem.better(box.bound, box.low)

    def _cut(self, box: Box) -> tuple[int, int]:
        """Where a box is halved: at the attribute whose levels differ most in what they cost, in the middle."""
        ranges = [
            (float(part[high] - part[low]), float(bits[low] - bits[high]), high - low)
            for part, bits, low, high in zip(self.costing.parts, self.bits, box.low, box.high, strict=True)
        ]
        axis = max((axis for axis, (*_, levels) in enumerate(ranges) if levels), key=lambda axis: ranges[axis])
        return axis, (box.low[axis] + box.high[axis]) // 2

    def _bound(self, low: Node, high: Node, gone: int) -> float:
        """A lower bound for the cost of every node between two nodes, if so many rows are gone at the higher one."""
        node = tuple(int(own[first, last]) for own, first, last in zip(self.cheapest, low, high, strict=True))
        parts = add_up(self.costing.parts, node)
        return parts if self.costing.exact else float(self.costing.at_least(np.array(parts), float(gone)))

    # Progress

    def settled(self) -> int:
        """The number of nodes that are decided, or counted."""
        return max(self.problem.lattice.size - self.open, self.problem.checked)

    def lower_bound(self) -> float:
        """A lower bound for the cost of every solution."""
        best = self.problem.best.cost if self.problem.best else math.inf
        return min(best, self.bound, self.waiting[0][0] if self.waiting else math.inf)


def _cheapest(part: Floats) -> NDArray[np.int64]:
    """For each first and last level, the level between them whose part is the smallest."""
    levels = len(part)
    found = np.zeros((levels, levels), dtype=np.int64)
    for first in range(levels):
        for last in range(first, levels):
            found[first, last] = first + int(part[first : last + 1].argmin())
    return found
