"""Shared by the published searches: an order of the nodes, and tags for nodes that are decided."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from types import EllipsisType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kohorte.groups import Marginals
from kohorte.kernels.arrays import Bools
from kohorte.lattice import Lattice, Node
from kohorte.search.base import Evaluation, OutOfTime, Problem, SearchResult

NodeSequence: TypeAlias = NDArray[np.int64]
"""The positions of all nodes in a flattened array of the lattice, in the order in which a search visits them."""

Region: TypeAlias = tuple[slice | EllipsisType, ...] | Bools
"""Part of the lattice, as an index of its arrays."""


def drawn_sequence(lattice: Lattice) -> NodeSequence:
    """All nodes by height, then by the highest level of the first attribute, as in Kohlmayer (2015)."""
    return np.lexsort((-np.arange(lattice.size), lattice.heights.ravel()))


def flash_sequence(lattice: Lattice, marginals: Marginals) -> NodeSequence:
    """All nodes in the order of Flash: by height, mean generalization, distinct values, then levels.

    Source: Kohlmayer, Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität, TU München,
    2015, section 3.8.
    """
    width = len(lattice.shape)
    mean = lattice.sum([np.arange(length) / max(1, length - 1) / width for length in lattice.shape])
    lost = lattice.sum([_lost_values(column.maps) / width for column in marginals.columns])
    keys = (np.arange(lattice.size), lost.ravel().round(12), mean.ravel().round(12), lattice.heights.ravel())
    return np.lexsort(keys)


def _lost_values(maps: tuple[NDArray[np.uint32], ...]) -> NDArray[np.float64]:
    distinct = np.array([int(mapped.max(initial=0)) + 1 for mapped in maps])
    lost: NDArray[np.float64] = 1.0 - distinct / distinct[0]
    return lost


def monotone_only(problem: Problem) -> str | None:
    """Return why a search for monotone models and metrics (case 1) cannot be used; None if it can."""
    if not problem.monotone:
        return "it needs models that are monotone under this suppression limit"
    if not problem.costing.monotone:
        return "it needs a metric that is monotone under this suppression limit"
    return None


class Tags:
    """Which nodes are tagged: counted, or decided by a counted node."""

    def __init__(self, problem: Problem, sequence: NodeSequence) -> None:
        self.problem = problem
        self.lattice = problem.lattice
        self.sequence = sequence
        positions = np.empty(problem.lattice.size, dtype=np.int64)
        positions[sequence] = np.arange(problem.lattice.size)
        self.order = positions.reshape(problem.lattice.shape)
        self.tagged: Bools = np.zeros(problem.lattice.shape, dtype=bool)

    def visit(self, visit: Callable[[Node], object]) -> SearchResult:
        """Visit all nodes in order, except those that are tagged by then."""

        def search() -> None:
            for node in self.untagged():
                visit(node)

        return self.result_of(search)

    def result_of(self, search: Callable[[], None]) -> SearchResult:
        """Run a search that tags every node, or ends with `OutOfTime`; return its result."""
        complete = True
        try:
            search()
        except OutOfTime:
            complete = False
        best = self.problem.best
        bound = best.cost if complete and best else -math.inf
        return SearchResult(best, complete, bound, self.problem.checked, self.settled() - self.problem.checked)

    def settled(self) -> int:
        """The number of tagged nodes."""
        return int(np.count_nonzero(self.tagged))

    def untagged(self, region: Region = (...,)) -> Iterator[Node]:
        """The nodes of a region in order, without those that are tagged by the time they are reached."""
        positions = np.sort(self.order[region][~self.tagged[region]])
        flat = self.tagged.reshape(-1)
        for index in self.sequence[positions]:
            if not flat[index]:
                yield self.lattice.node(int(index))

    def untagged_successors(self, node: Node) -> list[Node]:
        """The direct generalizations that are not tagged, in order."""
        successors = [up for up in self.lattice.successors(node) if not self.tagged[up]]
        return sorted(successors, key=self.order.__getitem__)

    def check(self, node: Node) -> Evaluation:
        """Count a node and tag all nodes that it decides ("CheckAndTag")."""
        evaluation = self.problem.evaluate(node)
        self.conclude(evaluation)
        self.report()
        return evaluation

    def conclude(self, evaluation: Evaluation) -> None:
        """Tag a counted node and the nodes that it excludes by monotonicity.

        With a monotone metric, no generalization of a solution is better, whether or not it is a solution.
        """
        self.tagged[evaluation.node] = True
        if evaluation.solution and self.problem.costing.monotone:
            self.tagged[self.lattice.above(evaluation.node)] = True
        elif self.excludes_finer(evaluation):
            self.tagged[self.lattice.below(evaluation.node)] = True

    def excludes_finer(self, evaluation: Evaluation) -> bool:
        """Whether neither the node nor any specialization is a solution.

        As published, this follows from monotone models or from the class size that the models require. The search
        `optimal` uses stronger bounds (`Evaluation.gone`).
        """
        return (evaluation.gone if self.problem.monotone else evaluation.small) > self.problem.limit

    def descend(self, start: Node) -> None:
        """Count a node unless it is tagged, then its generalizations, depth first.

        So a node follows a finer neighbour, from whose classes the engine can count it. An explicit stack avoids deep
        recursion.
        """
        stack = [start]
        while stack:
            node = stack.pop()
            if not self.tagged[node]:
                self.check(node)
                stack.extend(reversed(self.untagged_successors(node)))

    def report(self, *, unit: str = "combinations") -> None:
        """Call the progress callback."""
        self.problem.report(self.settled, lambda: -math.inf, unit=unit)
