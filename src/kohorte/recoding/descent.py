"""A search for lattices that are too large to list: from the top down, always to the node that saves the most."""

from __future__ import annotations

import heapq
import math

from kohorte.search import Evaluation, OutOfTime, Problem, SearchResult


def descend(problem: Problem) -> SearchResult:
    """Refine one attribute by one level after the other, as long as the cost does not rise.

    At each step the attribute that saves the most is refined; among equals, the first of the plan. What an attribute
    saves is computed again only while it could still be the most: what it saved at an earlier, coarser node is taken
    as the most that it can save now. An attribute whose refinement is no solution, or costs more, is not refined
    further.

    Optimal or heuristic
        Heuristic. If the models are monotone and the top is no solution, there is none.
    Complexity
        Usually a few checks per level of each hierarchy; never a list of all nodes.
    Source
        Our own, after top-down specialization: Fung, Wang, Yu, Top-Down Specialization for Information and Privacy
        Preservation, ICDE 2005; the order of the checks is the lazy one of Minoux, 1978.
    """
    try:
        none = not _descend(problem)
    except OutOfTime:
        none = False
    return SearchResult(
        problem.best, none and problem.monotone, -math.inf, problem.checked, tagged=0, heuristic=not none
    )


def _descend(problem: Problem) -> bool:
    """Follow the path to its end; return whether the top is a solution, without which there is no path."""
    here = problem.evaluate(problem.lattice.top)
    if not here.solution:
        return False
    steps = 0
    waiting = [(-math.inf, axis, -1) for axis in range(len(here.node))]  # what is saved (negative), and at which step
    finer: dict[int, Evaluation] = {}
    while waiting:
        _, axis, computed = heapq.heappop(waiting)
        if computed == steps:
            here, steps = finer[axis], steps + 1
            heapq.heappush(waiting, (-math.inf, axis, -1))
            continue
        if not here.node[axis]:
            continue
        problem.report(lambda: problem.checked, lambda: -math.inf, unit="")
        found = problem.evaluate((*here.node[:axis], here.node[axis] - 1, *here.node[axis + 1 :]))
        if found.solution and found.cost <= here.cost:
            finer[axis] = found
            heapq.heappush(waiting, (found.cost - here.cost, axis, steps))
    return True
