"""Sets of split points of a table, for k-Optimize and hill climbing."""

from __future__ import annotations

import math
import time
from functools import cached_property

import numpy as np

from kohorte.errors import NoSolution
from kohorte.kernels import Grouper, SplitSets
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.metrics import Classification, Discernibility
from kohorte.models import KAnonymity
from kohorte.recoding.base import RecodingProblem, refuse_people, refuse_unordered
from kohorte.recoding.cells import Cells, Recoding
from kohorte.search import Progress

WHAT = "sets of split points"


def refuse_beyond_k(problem: RecodingProblem) -> str | None:
    """Return why split points cannot be used: they need ordered values, and models that are class sizes."""
    for model in problem.goal.models:
        if not isinstance(model, KAnonymity):
            return f"it supports k-anonymity only, and model {model.name} is more than a class size"
    if not problem.table.included.all():
        return "rows that lack a value would be suppressed beforehand; count missing as a value (missing: category)"
    return refuse_people(problem) or refuse_unordered(problem)


class SplitPoints:
    """A table whose lines are cut into intervals; a split point separates the positions before it from the others.

    The minimized cost is discernibility, or the classification cost if that is the metric of the plan.
    """

    def __init__(self, problem: RecodingProblem) -> None:
        self.problem = problem
        metric = problem.goal.metric
        self.by_label = isinstance(metric, Classification)
        self.measured_by_plan = isinstance(metric, Classification | Discernibility)
        self._row_of, first, people = self._distinct_rows()
        self.sets = SplitSets(
            problem.positions[first],
            people,
            np.array([line.length for line in problem.lines], dtype=np.uint32),
            self._labels(len(first)),
            problem.goal.smallest_class,
            problem.goal.limit,
            self.by_label,
        )
        if self.sets.cost(self.nothing)[1] > problem.goal.limit:
            raise NoSolution(
                f"the table has fewer rows than one class of {problem.goal.smallest_class:,}, and the limit allows no "
                "more than are suppressed",
                code="recoding-no-solution",
            )

    @property
    def nothing(self) -> Bools:
        """The empty set of splits: one class of all rows."""
        return np.zeros(self.sets.splits, dtype=bool)

    def _distinct_rows(self) -> tuple[Codes, Codes, Counts]:
        return _grouped(self.problem.positions, [line.length for line in self.problem.lines])

    def _labels(self, rows: int) -> Counts:
        """For each distinct row, the number of people with each value of the attribute that is to be predicted."""
        if not isinstance(self.problem.goal.metric, Classification):
            return np.zeros((rows, 0), dtype=np.int64)
        name = self.problem.goal.metric.attribute
        column = next(column for column in self.problem.table.sensitive if column.name == name)
        labels = len(column.domain.overall)
        keys = self._row_of.astype(np.int64) * labels + column.codes[self.problem.table.included]
        return np.bincount(keys, minlength=rows * labels).reshape(rows, labels)

    @cached_property
    def metric_name(self) -> str:
        """The name of the minimized cost."""
        return Classification.name if self.by_label else Discernibility.name

    @property
    def seconds_left(self) -> float:
        """The seconds until the time limit."""
        limit = self.problem.goal.time_limit
        return math.inf if limit is None else max(0.0, limit - (time.monotonic() - self.problem.started))

    def report(self, visited: int, best: float, bound: float) -> bool:
        """Call the progress callback; return False if it asks to stop.

        How close the bound is to the best cost says nothing about the time that is left, so there is no unit.
        """
        share = int(1000 * bound / best) if best > 0 and bound > 0 else 0
        return self.tell(Progress(visited, 1000, share, best, bound, unit=""))

    def tell(self, progress: Progress) -> bool:
        """Call the progress callback; return False if it asks to stop."""
        callback = self.problem.goal.progress
        return callback is None or callback(progress) is not False

    def _large_enough(self, intervals: Codes) -> Bools:
        """Tell which rows are in a class that is large enough."""
        class_of, _, sizes = _grouped(intervals, [line.length for line in self.problem.lines])
        kept = sizes[class_of] >= self.problem.goal.smallest_class
        return self.problem.whole(kept.astype(np.uint32)).astype(bool)

    def recoding(self, chosen: Bools, visited: int, bound: float, *, proven: bool, heuristic: bool) -> Recoding:
        """The table recoded by a set of splits."""
        problem = self.problem
        columns, intervals = [], []
        begin = 0
        for axis, line in enumerate(problem.lines):
            own = chosen[begin : begin + line.length - 1]
            begin += line.length - 1
            starts = np.concatenate([[0], np.flatnonzero(own) + 1])
            ends = np.append(starts[1:] - 1, line.length - 1)
            interval_of = (np.searchsorted(starts, problem.positions[:, axis], side="right") - 1).astype(np.uint32)
            intervals.append(interval_of)
            lows, highs = starts.astype(np.uint32), ends.astype(np.uint32)
            columns.append(Cells.of_intervals(line, lows, highs, problem.whole(interval_of)))
        cost = self.sets.cost(chosen)[0]
        facts = {
            "minimized": self.metric_name,
            "minimized_cost": cost,
            "minimized_lower_bound": bound if bound > -math.inf else None,
            "splits": int(chosen.sum()),
            "possible_splits": int(self.sets.splits),
        }
        by_plan = self.measured_by_plan
        return Recoding(
            tuple(columns),
            self._large_enough(np.stack(intervals, axis=1)),
            visited,
            WHAT,
            optimal=proven and by_plan,
            heuristic=heuristic or not by_plan,
            lower_bound=bound if by_plan else -math.inf,
            facts=facts,
        )


def _grouped(rows: Codes, lengths: list[int]) -> tuple[Codes, Codes, Counts]:
    """The group of each row, the first row of each group and the size of each group."""
    grouper = Grouper([[np.arange(length, dtype=np.uint32)] for length in lengths])
    ones = np.ones(len(rows), dtype=np.int64)
    return grouper.group(grouper.pack(rows), ones, np.zeros(len(lengths), dtype=np.uint32), True)
