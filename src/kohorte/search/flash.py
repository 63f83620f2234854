"""The Flash family: paths through the lattice, searched by bisection."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kohorte.groups import Marginals
from kohorte.kernels.arrays import Bools
from kohorte.lattice import Lattice, Node
from kohorte.search.base import OutOfTime, Problem, SearchResult


def generalization_order(lattice: Lattice, marginals: Marginals) -> NDArray[np.int64]:
    """Return the place of every node in Flash's order: height, mean generalization, distinct values, levels."""
    width = len(lattice.shape)
    mean = lattice.sum([np.arange(length) / max(1, length - 1) / width for length in lattice.shape])
    lost = lattice.sum([_lost_values(column.maps) / width for column in marginals.columns])
    keys = (np.arange(lattice.size), lost.ravel().round(12), mean.ravel().round(12), lattice.heights.ravel())
    places = np.empty(lattice.size, dtype=np.int64)
    places[np.lexsort(keys)] = np.arange(lattice.size)
    return places.reshape(lattice.shape)


def _lost_values(maps: tuple[NDArray[np.uint32], ...]) -> NDArray[np.float64]:
    distinct = np.array([int(mapped.max(initial=0)) + 1 for mapped in maps])
    lost: NDArray[np.float64] = 1.0 - distinct / distinct[0]
    return lost


class _Tags:
    """Which nodes are known to be solutions or not, and which have been visited."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.lattice = problem.lattice
        self.order = generalization_order(problem.lattice, problem.marginals)
        self.tagged: Bools = np.zeros(problem.lattice.shape, dtype=bool)

    def visit_untagged(self, visit: Callable[[_Tags, Node], None]) -> SearchResult:
        """Go through all nodes in Flash's order and visit those that are not tagged when their turn comes."""
        complete = True
        try:
            for index in np.argsort(self.order.ravel()):
                node = self.lattice.node(int(index))
                if not self.tagged[node]:
                    visit(self, node)
        except OutOfTime:
            complete = False
        best = self.problem.best
        bound = best.cost if complete and best else -math.inf
        tagged = int(self.tagged.sum()) - self.problem.checked
        return SearchResult(best, complete, bound, self.problem.checked, max(0, tagged))

    def untagged_successors(self, node: Node) -> list[Node]:
        """The direct generalizations that are not tagged yet, in Flash's order."""
        successors = [up for up in self.lattice.successors(node) if not self.tagged[up]]
        return sorted(successors, key=self.order.__getitem__)

    def check_and_tag(self, node: Node) -> bool:
        """Count a node and tag all that follows from it by monotonicity."""
        solution = self.problem.evaluate(node).solution
        self.tagged[self.lattice.above(node) if solution else self.lattice.below(node)] = True
        self.problem.report(lambda: int(self.tagged.sum()), lambda: -math.inf)
        return solution


class Flash:
    """Basic Flash: bisects greedy paths from untagged nodes upwards (algorithms 7 to 9).

    Optimal or heuristic
        Optimal for monotone models with monotone metrics (case 1); everything else is refused.
    Complexity
        At most one check per node; O(log height) checks per path.
    Source
        Kohlmayer et al., Flash: Efficient, Stable and Optimal K-Anonymity, PASSAT 2012.
    """

    name: ClassVar[str] = "flash"

    def refuse(self, problem: Problem) -> str | None:
        """Only monotone models and metrics can be searched by bisection."""
        if not problem.monotone:
            return "it needs models that are monotone under this suppression limit"
        if not problem.costing.monotone:
            return "it needs a metric that is monotone under this suppression limit"
        return None

    def run(self, problem: Problem) -> SearchResult:
        """Search the lattice."""
        return _Tags(problem).visit_untagged(self._search_from)

    def _search_from(self, tags: _Tags, start: Node) -> None:
        queue: list[tuple[int, Node]] = []
        self._check_path(tags, self._find_path(tags, start), queue)
        while queue:
            _, node = heapq.heappop(queue)
            for successor in tags.untagged_successors(node):
                if not tags.tagged[successor]:
                    self._check_path(tags, self._find_path(tags, successor), queue)

    @staticmethod
    def _find_path(tags: _Tags, start: Node) -> list[Node]:
        path = [start]
        while successors := tags.untagged_successors(path[-1]):
            path.append(successors[0])
        return path

    @staticmethod
    def _check_path(tags: _Tags, path: list[Node], queue: list[tuple[int, Node]]) -> None:
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            if tags.check_and_tag(path[middle]):
                high = middle - 1
            else:
                heapq.heappush(queue, (int(tags.order[path[middle]]), path[middle]))
                low = middle + 1


class FlashDepthFirst:
    """Depth-first Flash: counts every node that it cannot exclude, always after a finer neighbour.

    Optimal or heuristic
        Optimal for every model and metric: it excludes only what monotone models and metrics allow.
    Complexity
        At most one check per node.
    Source
        Kohlmayer, dissertation, 2015, sections 3.5.5 and 3.7.3.
    """

    name: ClassVar[str] = "flash_depth_first"

    def refuse(self, problem: Problem) -> str | None:
        """Nothing is refused."""
        del problem
        return None

    def run(self, problem: Problem) -> SearchResult:
        """Search the lattice."""
        return _Tags(problem).visit_untagged(self._descend)

    def _descend(self, tags: _Tags, start: Node) -> None:
        """Check a node, then its generalizations, depth first (an explicit stack: lattices can be high)."""
        stack = [start]
        while stack:
            node = stack.pop()
            if tags.tagged[node]:
                continue
            self._check(tags, node)
            stack.extend(reversed(tags.untagged_successors(node)))

    @staticmethod
    def _check(tags: _Tags, node: Node) -> None:
        problem = tags.problem
        evaluation = problem.evaluate(node)
        tags.tagged[node] = True
        if evaluation.solution and problem.costing.monotone:
            tags.tagged[problem.lattice.above(node)] = True
        elif evaluation.gone > problem.limit:
            tags.tagged[problem.lattice.below(node)] = True
        problem.report(lambda: int(tags.tagged.sum()), lambda: -math.inf)
