"""k-Optimize: the best set of split points, by searching all of them."""

from __future__ import annotations

from typing import ClassVar

from kohorte.recoding.base import RecodingProblem
from kohorte.recoding.cells import Recoding
from kohorte.recoding.split_points import SplitPoints, refuse_beyond_k

MOST_SPLITS = 4_000
"""Memory grows with the square of this."""


class KOptimize:
    """The best way to cut every attribute into intervals, the same for all rows.

    It starts with one interval for each attribute and adds split points. A set of splits and all larger sets are
    excluded when too many rows would be suppressed, or when a lower bound on their cost is not below the best found;
    splits that cannot lead to anything better leave the search (useless values), and those that tell most classes apart
    come first (tail ordering). Attributes that are no numbers are in the order of their hierarchy. What is minimized is
    discernibility, or the classification cost if the plan's metric is `classification`; with any other metric the
    release is the best by discernibility. Suppression is none, limited or free, as the plan's limit says. With
    `minimum_level` an attribute enters with the groups of that level (ages in steps of five years).

    Optimal or heuristic
        Optimal among all sets of split points; when time is over, the best found, with a bound on the optimum.
    Complexity
        Exponential in the number of values; large k are easier.
    Source
        Bayardo, Agrawal, Data Privacy through Optimal k-Anonymization, ICDE 2005.
    """

    name: ClassVar[str] = "k_optimize"
    options: ClassVar[tuple[str, ...]] = ()

    def refuse(self, problem: RecodingProblem) -> str | None:
        """It was made for k-anonymity, cuts along orders, and looks at all pairs of split points."""
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
