"""Breadth-first and depth-first search of the lattice."""

from __future__ import annotations

from typing import ClassVar

from kohorte.search.base import Problem, Search, SearchResult
from kohorte.search.tags import Tags, drawn_sequence


class BreadthFirst(Search):
    """Counts the lattice level by level from the bottom; skips generalizations of solutions if it can.

    Optimal or heuristic
        Optimal for every model and metric: with a monotone metric, it excludes generalizations of solutions.
    Complexity
        At most one check per node; with a monotone metric, the nodes that are not solutions and the minimal solutions.
    Source
        Kohlmayer, Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität, TU München, 2015,
        section 3.5.4, algorithm 4.
    """

    name: ClassVar[str] = "breadth_first"

    def run(self, problem: Problem) -> SearchResult:
        """Search the lattice."""
        tags = Tags(problem, drawn_sequence(problem.lattice))
        return tags.visit(tags.check)


class DepthFirst(Search):
    """Counts a node, then its generalizations, depth first.

    The same as `flash_depth_first`, but nodes of one level are visited in the order of their levels.

    Optimal or heuristic
        Optimal for every model and metric: nodes are excluded by monotonicity only.
    Complexity
        At most one check per node.
    Source
        Kohlmayer, Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität, TU München, 2015,
        section 3.5.5, algorithms 5 and 6.
    """

    name: ClassVar[str] = "depth_first"

    def run(self, problem: Problem) -> SearchResult:
        """Search the lattice."""
        tags = Tags(problem, drawn_sequence(problem.lattice))
        return tags.visit(tags.descend)
