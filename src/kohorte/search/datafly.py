"""Datafly: repeatedly generalize the attribute with the most distinct values, then suppress the remaining rows."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from kohorte.errors import NoSolution
from kohorte.groups import Marginals
from kohorte.lattice import Node
from kohorte.search.base import Evaluation, OutOfTime, Problem, Search, SearchResult


class Datafly(Search):
    """Datafly: one path upwards, always along the attribute with the most distinct values.

    While more than k rows are in classes that fail, the attribute with the most distinct values at its current level
    is generalized by one level; among equals, the first of the plan. Then the classes that fail are suppressed.
    k is the class size that the models require. In the last step the suppressed rows, which all look the same, must be
    k as well, or none: if they are fewer, the smallest class is suppressed, too; among equals, the one whose labels are
    rarest, and all classes that only their values tell apart. The publication does not say which rows to take; a whole
    class leaves no other class below k. The published algorithm suppresses up to k rows before
    the last step, whatever the size of the table; here the suppression limit of the plan must be met as well, after
    the last step. If no attribute can be generalized further, only the limit of the plan applies.

    The number of distinct values is multiplied by a weight from 0 to 1 (option `weights`, default 1): an attribute of
    weight 0 is never generalized. If the time limit passes, the end of the path is the result: the node at which all
    attributes with a weight above 0 are at their top level.

    Optimal or heuristic
        Heuristic: the result satisfies the models, but may be generalized far more than needed. If the path has no
        solution, another node may have one (`NoSolution`). If the path ends at the top of the lattice and the models
        are monotone, there is none (a result whose `best` is None).
    Complexity
        At most one check per level of each hierarchy.
    Source
        Sweeney, Guaranteeing Anonymity when Sharing Medical Data, the Datafly System, AMIA 1997; Achieving k-Anonymity
        Privacy Protection Using Generalization and Suppression, 2002, section 6, whose fourth step is to "enforce k
        requirement on suppressed tuples".
    """

    name: ClassVar[str] = "datafly"
    suppresses_k_or_none: ClassVar[bool] = True
    options: ClassVar[tuple[str, ...]] = ("weights",)
    lists_nodes: ClassVar[bool] = False

    def run(self, problem: Problem) -> SearchResult:
        """Generalize until few enough rows are in classes that fail, or nothing can be generalized."""
        weights = [problem.options.weights.get(column.name, 1.0) for column in problem.marginals.columns]
        try:
            last = self._climb(problem, weights)
        except OutOfTime:
            last = problem.start(_end(problem, weights))()
        if last.solution:
            return SearchResult(problem.accept(last), False, -math.inf, problem.checked, tagged=0, heuristic=True)
        if problem.monotone and last.node == problem.lattice.top:  # then the lattice has no solution
            return SearchResult(None, True, -math.inf, problem.checked, tagged=0, heuristic=True)
        raise NoSolution(
            f"datafly found no release: with everything generalized that may be, at least {last.suppressed:,} rows "
            f"would have to be suppressed, and the limit allows {problem.limit:,}; give attributes of weight 0 a "
            "higher one, or take a search that looks at more than one path, such as optimal",
            code="datafly-no-solution",
        )

    @staticmethod
    def _climb(problem: Problem, weights: list[float]) -> Evaluation:
        """Follow the path and return its last node; no node is accepted as the best here."""
        excluded = problem.marginals.rows - int(problem.marginals.columns[0].counts.sum())
        node = problem.lattice.bottom
        while True:
            problem.watch_time()
            evaluation = problem.start(node)()
            failing = evaluation.suppressed - evaluation.extra - excluded
            if evaluation.solution and failing <= problem.costing.smallest_class:
                return evaluation
            axis = _most_distinct(problem.marginals, node, weights)
            if axis is None:
                return evaluation
            problem.report(lambda: problem.checked, lambda: -math.inf, unit="")
            node = (*node[:axis], node[axis] + 1, *node[axis + 1 :])


def _most_distinct(marginals: Marginals, node: Node, weights: list[float]) -> int | None:
    """The attribute to generalize next; None if all attributes that may be generalized are at their top level."""
    distinct = {
        axis: weights[axis] * len(np.unique(column.maps[level][column.counts > 0]))
        for axis, (column, level) in enumerate(zip(marginals.columns, node, strict=True))
        if level < column.top and weights[axis] > 0
    }
    return max(distinct, key=distinct.__getitem__, default=None)


def _end(problem: Problem, weights: list[float]) -> Node:
    """The last node of every path."""
    return tuple(top if weight > 0 else 0 for top, weight in zip(problem.lattice.top, weights, strict=True))
