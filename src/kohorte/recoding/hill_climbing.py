"""Two-phase hill climbing over sets of split points."""

from __future__ import annotations

import math
from enum import Enum
from typing import ClassVar

import numpy as np

from kohorte.kernels.arrays import Bools
from kohorte.progress import Progress
from kohorte.recoding.base import RecodingProblem
from kohorte.recoding.cells import Recoding
from kohorte.recoding.split_points import SplitPoints, refuse_beyond_k

STEPS = 2000
"""The number of steps if the plan does not set it; our own choice."""


class Phase(Enum):
    """What a step does with the set of splits."""

    COARSER = 1  # removes a split if the cost falls
    ALLOWED = 2  # removes a split while too many rows are suppressed
    FINER = 3  # adds a split if the cost falls and the suppression limit holds


class HillClimbing:
    """Stochastic search for split points: from many random sets, first coarser and then finer.

    Each round starts with a random set of splits, the first with the empty set. The first phase removes the split
    whose removal lowers the cost most, and further ones while too many rows are suppressed. The second phase adds the
    split that lowers the cost most, until no step helps. The best set of all rounds is released. The minimized cost is
    that of k_optimize. It ends after `steps` steps or at the time limit; the same `seed` gives the same result.

    Optimal or heuristic
        Heuristic; it never returns a set that suppresses more than the limit allows.
    Complexity
        Each step evaluates all neighbours of a set.
    Source
        The search that Bayardo and Agrawal, Data Privacy through Optimal k-Anonymization, ICDE 2005, compare
        k-Optimize with (section 6).
    """

    name: ClassVar[str] = "hill_climbing"
    options: ClassVar[tuple[str, ...]] = ("steps", "seed")

    def refuse(self, problem: RecodingProblem) -> str | None:
        """The costs of neighbours are computed from class sizes alone."""
        return refuse_beyond_k(problem)

    def run(self, problem: RecodingProblem) -> Recoding:
        """Climb from random sets until the steps are used up."""
        points = SplitPoints(problem)
        options = problem.goal.options
        random = np.random.Generator(np.random.PCG64(options.seed))
        steps = left = options.steps or STEPS
        best, best_cost, visited = points.nothing, points.sets.cost(points.nothing)[0], 0
        start = points.nothing
        while left > 0 and points.seconds_left > 0:
            found, taken = climb(points, start, left)
            left -= taken
            visited += taken * points.sets.splits
            cost, suppressed, _ = points.sets.cost(found)
            if suppressed <= problem.goal.limit and cost < best_cost:
                best, best_cost = found, cost
            done = steps - left
            if not points.tell(Progress(visited, steps, done, best_cost, unit="steps")):
                break
            start = random.random(points.sets.splits) < random.random() / 2
        return points.recoding(best, visited, -math.inf, proven=False, heuristic=True)


def climb(points: SplitPoints, start: Bools, most_steps: int) -> tuple[Bools, int]:
    """Remove splits while that helps, then add some; return the resulting set and the number of steps."""
    limit = points.problem.goal.limit
    current, taken = start.copy(), 0
    for phase in (Phase.COARSER, Phase.ALLOWED, Phase.FINER):
        while taken < most_steps and points.seconds_left > 0:
            taken += 1
            costs, suppressed = points.sets.neighbours(current)
            cost, gone, _ = points.sets.cost(current)
            possible = np.flatnonzero(current != (phase is Phase.FINER))
            beyond = np.zeros_like(suppressed) if phase is Phase.COARSER else np.maximum(0, suppressed - limit)
            if not len(possible) or (phase is Phase.ALLOWED and gone <= limit):
                break
            step = possible[np.lexsort((costs[possible], beyond[possible]))[0]]
            if phase is not Phase.ALLOWED and (beyond[step] or costs[step] >= cost):
                break
            current[step] = not current[step]
    return current, taken
