"""k-Optimize: the best set of split points, by branch and bound."""

from __future__ import annotations

from typing import ClassVar

from kohorte.recoding.base import RecodingProblem
from kohorte.recoding.cells import Recoding
from kohorte.recoding.split_points import SplitPoints, refuse_beyond_k

MOST_SPLITS = 4_000
"""Memory grows with the square of the number of split points; the limit is our own choice."""


class KOptimize:
    """Finds the best way to cut every attribute into intervals, the same for all rows.

    It starts with one interval for each attribute and adds split points. A set of splits and all larger sets are
    excluded when too many rows would be suppressed, or when a lower bound on their cost is not below the best found.
    Splits that cannot improve the result are removed (useless values), and splits that divide the most classes are
    tried first (tail ordering). Values that are not numbers or dates are in the order of their hierarchy. The minimized
    cost is the classification cost if the plan's metric is `classification`, and discernibility otherwise. With
    `minimum_level`, an attribute is cut between the groups of that level (ages in steps of five years).

    Optimal or heuristic
        Optimal among all sets of split points; at the time limit, the best set found and a bound for the optimum.
    Complexity
        Exponential in the number of values; a large k is easier.
    Source
        Bayardo, Agrawal, Data Privacy through Optimal k-Anonymization, ICDE 2005.
    """

    name: ClassVar[str] = "k_optimize"
    options: ClassVar[tuple[str, ...]] = ()

    def refuse(self, problem: RecodingProblem) -> str | None:
        """It needs k-anonymity, ordered values, and not too many split points."""
        reason = refuse_beyond_k(problem)
        splits = sum(line.length - 1 for line in problem.lines)
        if reason is None and splits > MOST_SPLITS:
            longest = max(problem.lines, key=lambda line: line.length)
            return (
                f"{splits:,} possible split points are too many for it (at most {MOST_SPLITS:,}); attribute "
                f"{longest.column.name!r} has most of them: a minimum_level makes its steps coarser"
            )
        return reason

    def run(self, problem: RecodingProblem) -> Recoding:
        """Search all sets of split points."""
        points = SplitPoints(problem)
        found = points.sets.optimize(points.nothing, points.seconds_left, points.report)
        best, cost, bound, complete, visited = found
        return points.recoding(best, visited, bound, proven=complete or bound >= cost, heuristic=False)
