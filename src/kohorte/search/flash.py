"""The Flash family: paths through the lattice, searched by bisection."""

from __future__ import annotations

import heapq
from collections.abc import Set as AbstractSet
from functools import partial
from typing import ClassVar

from kohorte.lattice import Node
from kohorte.search.base import Problem, Search, SearchResult
from kohorte.search.tags import Tags, flash_sequence, monotone_only

Queue = list[tuple[int, Node]]
"""A heap of nodes that failed, in the order of Flash; further paths start at their generalizations."""


class Flash(Search):
    """Basic Flash: bisects greedy paths that lead upwards from untagged nodes.

    Optimal or heuristic
        Optimal for monotone models with monotone metrics (case 1); everything else is refused.
    Complexity
        At most one check per node; O(log height) checks per path.
    Source
        Kohlmayer et al., Flash: Efficient, Stable and Optimal K-Anonymity, PASSAT 2012;
        Kohlmayer, Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität, TU München, 2015,
        algorithms 7 to 9.
    """

    name: ClassVar[str] = "flash"

    def refuse(self, problem: Problem) -> str | None:
        """Only monotone models and metrics can be searched by bisection."""
        return monotone_only(problem)

    def run(self, problem: Problem) -> SearchResult:
        """Search the lattice."""
        return _search_paths(problem)


class FlashDepthFirst(Search):
    """Depth-first Flash: counts every node that it cannot exclude, always after a finer neighbour.

    Optimal or heuristic
        Optimal for every model and metric: nodes are excluded by monotonicity only.
    Complexity
        At most one check per node.
    Source
        Kohlmayer, Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität, TU München, 2015,
        sections 3.5.5 and 3.7.3.
    """

    name: ClassVar[str] = "flash_depth_first"

    def run(self, problem: Problem) -> SearchResult:
        """Search the lattice."""
        tags = Tags(problem, flash_sequence(problem.lattice, problem.marginals))
        return tags.visit(tags.descend)


class FlashTwoPhase(Search):
    """Two-phase Flash: bisects paths by monotone conditions, then searches depth first above them.

    If too many rows are suppressed at a node and at all its specializations, all these nodes fail. The second phase
    starts at the lowest other node of the path and decides all nodes above it.

    Optimal or heuristic
        Optimal for every model and metric. If both are monotone, it is the same as basic Flash. If neither is, the
        first path leads down to the bottom, and the search is the same as depth-first Flash.
    Complexity
        At most one check per node.
    Source
        Kohlmayer, Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität, TU München, 2015,
        section 3.7.4, algorithm 13. A path starts at the untagged node itself, as in algorithm 7: as printed, a node
        whose generalizations are all tagged would never be counted.
    """

    name: ClassVar[str] = "flash_two_phase"

    def run(self, problem: Problem) -> SearchResult:
        """Search the lattice."""
        return _search_paths(problem)


def find_path(tags: Tags, start: Node, *, taken: AbstractSet[Node] = frozenset()) -> list[Node]:
    """Follow the first untagged generalization that is not `taken`, until there is none."""
    path = [start]
    while free := [up for up in tags.untagged_successors(path[-1]) if up not in taken]:
        path.append(free[0])
    return path


def middle(path: list[Node]) -> int:
    """The position of the node of a path that is counted first."""
    return (len(path) - 1) // 2


def _search_paths(problem: Problem) -> SearchResult:
    tags = Tags(problem, flash_sequence(problem.lattice, problem.marginals))
    return tags.visit(partial(_search_from, tags))


def _search_from(tags: Tags, start: Node) -> None:
    queue: Queue = []
    _check_path(tags, find_path(tags, start), queue)
    while queue:
        _, node = heapq.heappop(queue)
        for successor in tags.untagged_successors(node):
            if not tags.tagged[successor]:
                _check_path(tags, find_path(tags, successor), queue)


def _check_path(tags: Tags, path: list[Node], queue: Queue) -> None:
    """Bisect a path, then search above its lowest node that does not exclude all its specializations.

    With monotone models and metrics that node is a solution, and all nodes above it are tagged already.
    """
    head: Node | None = None
    while path:
        position = middle(path)
        node = path[position]
        if tags.excludes_finer(tags.check(node)):
            heapq.heappush(queue, (int(tags.order[node]), node))
            path = path[position + 1 :]
        else:
            head, path = node, path[:position]
    if head is not None:
        for successor in tags.untagged_successors(head):
            tags.descend(successor)
