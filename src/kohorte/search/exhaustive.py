"""Searches that count every node: the one with which tests compare all others, and MinGen."""

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


class MinGen(Exhaustive):
    """MinGen for whole attributes: counts every node and returns the best solution.

    Published for k-anonymity and the metric precision; here for every model and metric of the plan. Sweeney lets the
    data holder choose among equal solutions; here ties are broken by height, then levels. Sweeney's MinGen works on
    single cells, as the recoder `mingen_cells` does.

    Optimal or heuristic
        Optimal for every model and metric.
    Complexity
        One check per node of the lattice: the product of (height + 1) over the hierarchies.
    Source
        Sweeney, Achieving k-Anonymity Privacy Protection Using Generalization and Suppression, 2002, section 5.
    """

    name: ClassVar[str] = "mingen"
