"""The Flash family: paths through the lattice, searched by bisection."""

from __future__ import annotations

import heapq
from collections.abc import Set as AbstractSet
from functools import partial
from typing import ClassVar

from kohorte.lattice import Node
from kohorte.search.base import Problem, SearchResult
from kohorte.search.tags import Tags, flash_sequence, monotone_only

Queue = list[tuple[int, Node]]
"""A heap of nodes that failed, from which further paths start; the first in Flash's order comes first."""


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
        return monotone_only(problem)

    def run(self, problem: Problem) -> SearchResult:
        """Search the lattice."""
        return _search_paths(problem)


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
        tags = Tags(problem, flash_sequence(problem.lattice, problem.marginals))
        return tags.visit(tags.descend)


class FlashTwoPhase:
    """Two-phase Flash: bisects paths by what is monotone, then searches depth first what may be a solution.

    Where a node of a path has too many rows that are suppressed for good, it fails with all its specializations.
    The lowest other node of the path is the start of the second phase, which settles all that lies above it.

    Optimal or heuristic
        Optimal for every model and metric. Where both are monotone it is basic Flash, since the second phase finds
        nothing left to do; where nothing is, it is depth-first Flash from the end of the first path, which leads
        down to the bottom.
    Complexity
        At most one check per node.
    Source
        Kohlmayer, dissertation, 2015, section 3.7.4, algorithm 13. A path starts at the untagged node itself, as in
        algorithm 7: as printed, a node whose generalizations are all tagged would never be counted.
    """

    name: ClassVar[str] = "flash_two_phase"

    def refuse(self, problem: Problem) -> str | None:
        """Nothing is refused."""
        del problem
        return None

    def run(self, problem: Problem) -> SearchResult:
        """Search the lattice."""
        return _search_paths(problem)


def find_path(tags: Tags, start: Node, *, taken: AbstractSet[Node] = frozenset()) -> list[Node]:
    """Go up from a node to one without untagged generalizations, always to the first that is not taken."""
    path = [start]
    while free := [up for up in tags.untagged_successors(path[-1]) if up not in taken]:
        path.append(free[0])
    return path


def middle(path: list[Node]) -> int:
    """The place of the node that is counted first."""
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
    """Bisect a path, then settle what lies above its lowest node that does not fail for good.

    With monotone models and metrics that node is a solution, and all above it is tagged already.
    """
    head: Node | None = None
    while path:
        place = middle(path)
        node = path[place]
        if tags.excludes_finer(tags.check(node)):
            heapq.heappush(queue, (int(tags.order[node]), node))
            path = path[place + 1 :]
        else:
            head, path = node, path[:place]
    if head is not None:
        for successor in tags.untagged_successors(head):
            tags.descend(successor)
