"""The plain strategies for graphs: level by level, and depth first."""

from __future__ import annotations

from typing import ClassVar

from kohorte.search.base import Problem, SearchResult
from kohorte.search.tags import Tags, drawn_sequence


class BreadthFirst:
    """Counts the lattice level by level from the bottom, but for the generalizations of solutions.

    Optimal or heuristic
        Optimal for every model and metric: it leaves out only generalizations of solutions, where the metric is
        monotone. Specializations of nodes that fail have always been counted before.
    Complexity
        At most one check per node; with a monotone metric one for every node that is no solution, and for every
        solution without a finer one.
    Source
        Kohlmayer, dissertation, 2015, section 3.5.4, algorithm 4.
    """

    name: ClassVar[str] = "breadth_first"

    def refuse(self, problem: Problem) -> str | None:
        """Nothing is refused."""
        del problem
        return None

    def run(self, problem: Problem) -> SearchResult:
        """Search the lattice."""
        tags = Tags(problem, drawn_sequence(problem.lattice))
        return tags.visit(tags.check)


class DepthFirst:
    """Counts a node, then goes on to its first generalization, and comes back when there is none left.

    As `flash_depth_first`, but among nodes of a level it takes them as they come.

    Optimal or heuristic
        Optimal for every model and metric: it excludes only what monotone models and metrics allow.
    Complexity
        At most one check per node.
    Source
        Kohlmayer, dissertation, 2015, section 3.5.5, algorithms 5 and 6.
    """

    name: ClassVar[str] = "depth_first"

    def refuse(self, problem: Problem) -> str | None:
        """Nothing is refused."""
        del problem
        return None

    def run(self, problem: Problem) -> SearchResult:
        """Search the lattice."""
        tags = Tags(problem, drawn_sequence(problem.lattice))
        return tags.visit(tags.descend)
