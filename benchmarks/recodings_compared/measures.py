"""What a release is worth: loss, count queries, a classifier, means and correlations, and the time it took."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property

import numpy as np

import kohorte as ko
from benchmarks.recodings_compared.methods import METHODS
from benchmarks.recodings_compared.space import Numbers, Rows, Space
from kohorte.comparison.queries import Queries
from kohorte.comparison.shown import Shown, original, shown
from kohorte.comparison.task import Task
from kohorte.data import to_polars
from kohorte.kernels.arrays import Bools
from kohorte.recoding import RECODERS, Recoder, Recoding, RecodingProblem
from kohorte.recoding.least_loss.grouping import Grouping
from kohorte.release.preparation import EncodedProblem, encode_problem
from kohorte.release.recoding import recoding_problem
from kohorte.sources import FrameSource

QUERIES = 1000
OURS: dict[str, tuple[str, str | None]] = {
    "Mondrian, strict": ("mondrian", None),
    "Mondrian, relaxed": ("mondrian_relaxed", None),
    "iterative local recoding": ("local_recoding", None),
    "`least_loss`, sets": ("least_loss", "sets"),
    "`least_loss`, intervals": ("least_loss", "intervals"),
    "`least_loss`, hierarchy": ("least_loss", "hierarchy"),
}
"""The recoders that take part, and what their cells are where that can be chosen."""
AS_SETS = "Mondrian, relaxed, as sets"
"""The groups of relaxed Mondrian, shown by the values that occur in them."""
NAMES = ("Mondrian, strict", "Mondrian, relaxed", AS_SETS, *METHODS, *list(OURS)[2:])
"""All methods, in the order of the page."""


@dataclass(frozen=True)
class Result:
    """What was measured of one release; `None` where it could not be."""

    method: str
    loss: float
    classes: int
    seconds: float  # of processor time, of all threads
    query_error: float
    accuracy: float | None
    means: float
    correlations: float | None


@dataclass(frozen=True, eq=False)
class Study:
    """A table and a plan; all methods recode the same rows."""

    prepared: EncodedProblem = field(repr=False)
    task: str | None = None

    @classmethod
    def of(cls, frame: object, plan: ko.Plan, task: str | None = None) -> Study:
        """Encode a table."""
        return cls(encode_problem(FrameSource(to_polars(frame)[0]), plan, by_row=True), task)

    @cached_property
    def _problem(self) -> RecodingProblem:
        return recoding_problem(self.prepared)

    @cached_property
    def space(self) -> Space:
        """The rows as methods that group them see them."""
        return Space(self._problem)

    @cached_property
    def _queries(self) -> Queries:
        return Queries.draw(self._problem.lines, QUERIES, 0)

    @cached_property
    def _learning(self) -> Task | None:
        return None if self.task is None else Task.prepare(self.prepared, self._problem.lines, self.task, 0)

    @cached_property
    def _originals(self) -> Numbers:
        return _middles(original(self._problem.lines), self._problem)

    def learnt_from_original(self) -> tuple[float, float] | None:
        """The accuracy after learning from the original rows, and that of guessing the most frequent class."""
        return None if self._learning is None else (self._learning.best().value, self._learning.majority)

    def measured(self, method: str) -> Result:
        """Run a method and measure its release."""
        problem = self._problem_for(method)
        run = self._run_of(method)
        _ = problem.positions, self.space.ends, self.space.names  # the encoding is not part of the measured time
        started = time.process_time()
        recoding = run(problem).settled(problem.goal.limit)
        seconds = time.process_time() - started
        recoded, groups = problem.counted(recoding)
        if not problem.satisfied(groups)[recoded.kept].all() or recoded.suppressed:
            raise RuntimeError(f"{method}: a class does not satisfy the models, or rows are suppressed")
        error = self._queries.error(recoding)
        learning = self._learning
        accuracy = None
        if learning is not None:
            column = self.prepared.source.in_memory("a task")[learning.column]
            accuracy = learning.accuracy(recoding, column).value
        means, correlations = self._kept_of(recoding)
        return Result(
            method=method,
            loss=problem.goal.metric.recoded(recoded, smallest_class=problem.goal.smallest_class),
            classes=len(groups),
            seconds=seconds,
            query_error=np.nan if error is None else error.median,
            accuracy=accuracy,
            means=means,
            correlations=correlations,
        )

    def _problem_for(self, method: str) -> RecodingProblem:
        algorithm, cells = OURS.get(method, ("least_loss", "sets"))
        options = ko.SearchOptions(algorithm, cells=cells)
        problem = replace(self._problem, goal=replace(self.prepared.goal, options=options.options))
        vars(problem)["lines"] = self._problem.lines
        return problem

    def _run_of(self, method: str) -> Callable[[RecodingProblem], Recoding]:
        if method in OURS:
            name = OURS[method][0]
            recoder: Recoder = next(one for one in RECODERS if one.name == name)()
            return recoder.run
        return lambda problem: as_sets(problem, self._groups(method, problem))

    def _groups(self, method: str, problem: RecodingProblem) -> Rows:
        if method == AS_SETS:
            relaxed = self._problem_for("Mondrian, relaxed")
            cells = self._run_of("Mondrian, relaxed")(relaxed).columns
            kinds = np.stack([column.kinds for column in cells], axis=1)[problem.table.included]
            return np.unique(kinds, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
        groups = METHODS[method](self.space, problem.goal.smallest_class)
        return merged_until_satisfied(self.space, groups, problem)

    def _kept_of(self, recoding: Recoding) -> tuple[float, float | None]:
        """How far means are off, in standard deviations, and how far correlations are; means over all columns."""
        before, after = self._originals, _middles(shown(recoding), self._problem)
        deviations = before.std(axis=0)
        varying = deviations > 0
        means = float((np.abs(after.mean(axis=0) - before.mean(axis=0))[varying] / deviations[varying]).mean())
        if varying.sum() < 2 or (after.std(axis=0)[varying] == 0).any():
            return means, None
        off = np.abs(np.corrcoef(after[:, varying].T) - np.corrcoef(before[:, varying].T))
        return means, float(off[np.triu_indices(int(varying.sum()), 1)].mean())

    def to_dict(self, method: str) -> dict[str, object]:
        """What was measured of a method, as plain data."""
        return asdict(self.measured(method))


def as_sets(problem: RecodingProblem, groups: Rows) -> Recoding:
    """Groups of the included rows, shown by intervals of numbers and sets of categories."""
    grouping = Grouping(problem, "sets")
    grouping.best = np.unique(groups, return_inverse=True)[1].reshape(-1).astype(np.uint32)
    return grouping.recoding(complete=True)


def merged_until_satisfied(space: Space, groups: Rows, problem: RecodingProblem) -> Rows:
    """The same groups; one that fails the models is merged with the group with which it costs least, until none fails.

    The published methods know k only. Other models could be built into them; this is the plainest way.
    """
    number_of = np.unique(groups, return_inverse=True)[1].reshape(-1).astype(np.int64)
    count = int(number_of.max()) + 1
    failing = np.flatnonzero(~problem.satisfied(problem.groups(number_of.astype(np.uint32), count))).tolist()
    if not failing:
        return number_of
    shapes = Shapes.of(space, number_of, count)
    while failing:
        number = failing.pop()
        best = shapes.nearest(number)
        shapes.merge(number, into=best)
        number_of[number_of == number] = best
        rows = np.flatnonzero(number_of == best).astype(np.uint32)
        holds = bool(problem.satisfied(problem.groups(np.zeros(len(rows), dtype=np.uint32), 1, rows))[0])
        failing = [other for other in failing if other != best] + ([] if holds else [best])
    return number_of


@dataclass(frozen=True, eq=False)
class Shapes:
    """The cells of groups, and what two of them would cost together."""

    space: Space
    sizes: Rows
    low: Numbers
    high: Numbers
    inside: list[Bools]

    @classmethod
    def of(cls, space: Space, number_of: Rows, count: int) -> Shapes:
        """The cells of some groups."""
        low, high = np.full((count, len(space.spans)), np.inf), np.full((count, len(space.spans)), -np.inf)
        np.minimum.at(low, number_of, space.ends[0])
        np.maximum.at(high, number_of, space.ends[1])
        inside = []
        for column in space.names.T:
            inside.append(np.zeros((count, int(column.max(initial=0)) + 1), dtype=bool))
            inside[-1][number_of, column] = True
        return cls(space, np.bincount(number_of, minlength=count), low, high, inside)

    def nearest(self, number: int) -> int:
        """The group with which one costs least."""
        each = (np.maximum(self.high, self.high[number]) - np.minimum(self.low, self.low[number])).sum(axis=1)
        alone = (self.high - self.low).sum(axis=1)
        for inside, step in zip(self.inside, self.space.steps, strict=True):
            each = each + ((inside | inside[number]).sum(axis=1) - 1) * step
            alone = alone + (inside.sum(axis=1) - 1) * step
        added = (self.sizes + self.sizes[number]) * each - self.sizes * alone
        added[(self.sizes == 0) | (np.arange(len(added)) == number)] = np.inf
        return int(added.argmin())

    def merge(self, number: int, *, into: int) -> None:
        """Put the rows of a group into another one."""
        self.sizes[into] += self.sizes[number]
        self.sizes[number] = 0
        self.low[into] = np.minimum(self.low[into], self.low[number])
        self.high[into] = np.maximum(self.high[into], self.high[number])
        for inside in self.inside:
            inside[into] |= inside[number]


def _middles(table: Shown, problem: RecodingProblem) -> Numbers:
    """Each cell as one number: the middle of an interval, or the mean place of the values that it may stand for."""
    columns = []
    for axis, line in enumerate(problem.lines):
        low, high, listed = table.lows[axis], table.highs[axis], table.listed[axis]
        if listed is None:
            middles = (line.measures[low] + line.measures[high]) / 2
        else:
            weights = line.measures[listed.positions]
            middles = np.bincount(listed.kinds, weights=weights, minlength=len(low)) / listed.sizes
        columns.append(middles[table.kinds[axis]])
    return np.stack(columns, axis=1)
