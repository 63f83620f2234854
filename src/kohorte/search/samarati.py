"""Samarati's search: bisects the heights of the lattice."""

from __future__ import annotations

from typing import ClassVar

from kohorte.search.base import Problem, Search, SearchResult
from kohorte.search.tags import Tags, drawn_sequence


class Samarati(Search):
    """Bisects the heights of the lattice: below a height with a solution, above a height without one.

    The published algorithm returns the first solution of the lowest height. Other solutions of that height cost the
    same, and this package breaks ties in a fixed order, so the remaining nodes of that height are counted at the end.
    As published, it uses no predictive tagging.

    Optimal or heuristic
        Optimal for monotone models and the metric `height` with equal weights; everything else is refused.
    Complexity
        All nodes of O(log height) levels.
    Source
        Samarati, Protecting Respondents' Identities in Microdata Release, TKDE 13(6), 2001; Kohlmayer,
        Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität, TU München, 2015, section
        3.5.1, algorithm 1.
    """

    name: ClassVar[str] = "samarati"

    def refuse(self, problem: Problem) -> str | None:
        """The cost must rise with the height, and every generalization of a solution must be a solution."""
        if not problem.monotone:
            return "it needs models that are monotone under this suppression limit"
        if not problem.costing.rises_with_height:
            return "it needs the metric height, with the same weight for all attributes"
        return None

    def run(self, problem: Problem) -> SearchResult:
        """Search the lattice."""
        tags = Tags(problem, drawn_sequence(problem.lattice))
        return tags.result_of(lambda: self._bisect(tags))

    def _bisect(self, tags: Tags) -> None:
        heights = tags.lattice.heights
        low, high = 0, int(heights.max())
        while low <= high:
            height = (low + high) // 2
            if self._count_height(tags, height, first=True):
                tags.tagged[heights > height] = True
                high = height - 1
            else:
                tags.tagged[heights <= height] = True
                low = height + 1
        self._count_height(tags, low, first=False)

    @staticmethod
    def _count_height(tags: Tags, height: int, *, first: bool) -> bool:
        """Count the uncounted nodes of a height, all or up to the first solution."""
        solution = False
        for node in tags.untagged(tags.lattice.heights == height):
            solution |= tags.problem.evaluate(node).solution
            tags.tagged[node] = True
            tags.report(unit="")  # a height ends with its first solution
            if first and solution:
                break
        return solution
