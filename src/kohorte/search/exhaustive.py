"""Exhaustive search, with which tests compare all other searches."""

from __future__ import annotations

import math
from typing import ClassVar

from kohorte.search.base import OutOfTime, Problem, Search, SearchResult


class Exhaustive(Search):
    """Counts every node.

    Optimal or heuristic
        Optimal for every model and metric.
    Complexity
        One check per node of the lattice.
    """

    name: ClassVar[str] = "exhaustive"

    def run(self, problem: Problem) -> SearchResult:
        """Search the lattice."""
        complete = True
        try:
            for evaluation in problem.count_ahead(problem.lattice.nodes()):
                problem.accept(evaluation)
                problem.report(lambda: problem.checked, lambda: -math.inf)
        except OutOfTime:
            complete = False
        bound = problem.best.cost if complete and problem.best else -math.inf
        return SearchResult(problem.best, complete, bound, problem.checked, tagged=0)
