"""Local recoding: the best levels for most rows, then other levels for the remaining rows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kohorte.errors import NoSolution
from kohorte.kernels.arrays import Bools, Codes
from kohorte.metrics import (
    Aecs,
    Classification,
    Discernibility,
    Loss,
    NonUniformEntropySuppression,
    Precision,
    QueryLoss,
)
from kohorte.progress import Progress, Stage, tell
from kohorte.recoding.base import RecodingProblem, refuse_models
from kohorte.recoding.cells import Cells, Recoding
from kohorte.recoding.descent import descend
from kohorte.search import Goal, OutOfTime, full_domain, search_named
from kohorte.sources import EncodedTable

COUNT_SUPPRESSED = (Loss, Precision, Aecs, Discernibility, Classification, NonUniformEntropySuppression, QueryLoss)
"""The metrics that count suppressed rows, and so can compare coarser levels with suppression."""


class LocalRecoding:
    """Repeats an optimal search on the rows that the previous search suppressed, until no more rows can be released.

    Each search may suppress all but one class: the metric compares coarser levels for all rows with leaving rows to
    the next search. So most rows keep fine levels, and the few unusual rows get other levels. In the end every class
    takes the finest levels at which its rows agree. If too many rows remain, the last searches are undone, and their
    rows are searched together with the remaining ones.

    If the metric does not count suppressed rows (height, entropies), the searches use loss instead.

    Optimal or heuristic
        Heuristic; each search is optimal unless the lattice is too large to list (descent.py), and by the plan's metric
        the release is never worse than that of a single search, unless that search suppresses all rows.
    Complexity
        One optimal search per pass, rarely more than ten; each has fewer rows than the one before.
    Source
        The method of ARX: Prasser, Kohlmayer, Kuhn, Efficient and Effective Pruning Strategies for Health Data
        De-Identification, 2016.
    """

    name: ClassVar[str] = "local_recoding"
    options: ClassVar[tuple[str, ...]] = ()

    def refuse(self, problem: RecodingProblem) -> str | None:
        """Classes come from several searches, so the models must judge each class on its own."""
        return refuse_models(problem.goal.models)

    def levels(self, table: EncodedTable) -> tuple[tuple[int, ...], ...]:
        """The levels that the cells of each attribute may have."""
        return tuple(tuple(range(len(column.maps))) for column in table.columns)

    def run(self, problem: RecodingProblem) -> Recoding:
        """Search until no more rows can be released."""
        searches = _Searches(problem, self.levels(problem.table))
        many = searches.passes()
        one = searches.single()
        tell(problem.goal.progress, Stage.GENERALIZING, "each row as little as possible")
        candidates = [_recoding(problem, releases, searches) for releases in (many, one) if releases]
        if one:  # with a metric that is not monotone, coarser cells can cost less
            candidates.append(_recoding(problem, one, searches, refined=False))
        if not candidates:
            raise NoSolution(
                "no combination of levels satisfies the models within the suppression limit, not even for all rows "
                "together",
                code="recoding-no-solution",
            )
        return min(
            self._fitting(candidates, problem), key=lambda found: problem.cost(found.settled(problem.goal.limit))
        )

    @staticmethod
    def _fitting(candidates: list[Recoding], problem: RecodingProblem) -> list[Recoding]:
        """The candidates in which the rows that show only `*`, excluded ones too, are within the limit or all rows."""
        limit = problem.goal.limit
        if problem.table.included.all():
            return candidates
        stars = [found.all_starred for found in candidates]
        fitting = [found for found, own in zip(candidates, stars, strict=True) if own.all() or own.sum() <= limit]
        return fitting or candidates


class CellSuppression(LocalRecoding):
    """Cell suppression: every cell shows its value or `*`.

    The same as local recoding with only the finest and the highest level of every attribute. With `minimum_level` in
    the plan, the value is shown at that level.

    Optimal or heuristic
        Heuristic; each search is optimal up to 24 attributes, and the release is never worse than that of a single one.
    Complexity
        At most 2^d combinations in each pass, for d attributes.
    Source
        Meyerson, Williams, On the Complexity of Optimal K-Anonymity, PODS 2004; Leitner, Datenschutzgerechte
        Forschungsschnittstelle für medizinische Daten, KIT, 2020, section 3.2.5.
    """

    name: ClassVar[str] = "cell_suppression"

    def levels(self, table: EncodedTable) -> tuple[tuple[int, ...], ...]:
        """The value, or `*`."""
        return tuple(tuple(dict.fromkeys((0, len(column.maps) - 1))) for column in table.columns)


@dataclass(frozen=True, eq=False)
class _Release:
    """The result of one search: indices of the released rows among the included ones, and the class of each."""

    rows: Codes
    class_of: Codes
    levels: tuple[int, ...]


class _Searches:
    """Optimal searches on some of the rows."""

    def __init__(self, problem: RecodingProblem, levels: tuple[tuple[int, ...], ...]) -> None:
        self.problem = problem
        self.checked = 0
        self.levels = levels
        self._excluded = problem.table.rows - len(problem.rows)
        metric = problem.goal.metric
        self._released = 0
        self._goal = replace(
            problem.goal,
            metric=metric if isinstance(metric, COUNT_SUPPRESSED) else Loss(),
            progress=None if problem.goal.progress is None else self._tell,
        )

    @property
    def everybody(self) -> Codes:
        """The indices of all included rows."""
        return np.arange(len(self.problem.rows), dtype=np.uint32)

    def passes(self) -> list[_Release]:
        """Search the remaining rows repeatedly; empty if too many rows remain in the end."""
        found: list[_Release] = []
        left = self.everybody
        try:
            for release in self._successive_searches():
                found.append(release)
                left = np.setdiff1d(left, release.rows, assume_unique=True)
                self._released = len(self.problem.rows) - len(left)
        except OutOfTime:
            pass
        allowed = self.problem.goal.limit - self._excluded
        while found and len(left) > allowed:
            left = np.union1d(left, found.pop().rows).astype(np.uint32)
            last = self.search(left, allowed)
            if last is not None:
                return [*found, last]
        return found

    def _tell(self, progress: Progress) -> object:
        """Report a search on the remaining rows as a part of the whole: how many rows have their generalization."""
        assert self.problem.goal.progress is not None
        rows = max(1, len(self.problem.rows))
        return self.problem.goal.progress(Progress(self.checked + progress.checked, rows, self._released, unit="rows"))

    def _successive_searches(self) -> Iterator[_Release]:
        left = self.everybody
        least = self.problem.goal.smallest_class
        while len(left) >= least:
            self.problem.watch_time()
            release = self.search(left, len(left) - least)
            if release is None:
                return
            yield release
            left = np.setdiff1d(left, release.rows, assume_unique=True)

    def single(self) -> list[_Release]:
        """Search once, for all rows, within the limit of the plan; excluded rows count towards it."""
        table, goal = self.problem.table, self.problem.goal
        whole = self._table(np.arange(table.rows, dtype=np.uint32))
        goal = replace(goal, progress=self._goal.progress)
        release = self._best(whole, self.everybody, self._with_time_left(goal, goal.limit))
        return [] if release is None else [release]

    def search(self, rows: Codes, limit: int) -> _Release | None:
        """Find the best node of some rows, of which `limit` may be suppressed; None if there is no solution."""
        if limit < 0 or not len(rows):
            return None
        table = self._table(self.problem.rows[rows])
        return self._best(table, rows, self._with_time_left(self._goal, limit))

    def _best(self, table: EncodedTable, rows: Codes, goal: Goal) -> _Release | None:
        """Find the best node of a table whose included rows have these indices; None if there is no solution."""
        evaluator, problem = full_domain(table, goal, self.problem.make_engine(table))
        listed = problem.lattice.too_large is None
        result = search_named("optimal").run(problem) if listed else descend(problem)
        best = result.best
        if best is None and not result.optimal:  # out of time: the top node is the most likely solution
            problem.time_limit = None
            problem.evaluate(problem.lattice.top)
            best = problem.best
        self.checked += problem.checked
        if best is None:
            return None
        class_of, groups = evaluator.engine.classes(best.node)
        kept = evaluator.kept(groups)
        released: Bools = kept[class_of]
        if not released.any():
            return None
        levels = tuple(own[level] for own, level in zip(self.levels, best.node, strict=True))
        return _Release(rows[released], class_of[released], levels)

    def _table(self, rows: Codes) -> EncodedTable:
        """These rows of the table, with the levels that are searched."""
        table = self.problem.table.chosen(rows)
        columns = tuple(
            replace(
                column,
                maps=tuple(column.maps[level] for level in levels),
                labels=tuple(column.labels[level] for level in levels),
                shares=tuple(column.shares[level] for level in levels),
            )
            for column, levels in zip(table.columns, self.levels, strict=True)
        )
        return replace(table, columns=columns)

    def _with_time_left(self, goal: Goal, limit: int) -> Goal:
        left = self.problem.goal.time_limit
        if left is not None:
            left = max(1e-3, left - (time.monotonic() - self.problem.started))
        return replace(goal, limit=limit, time_limit=left)


def _recoding(
    problem: RecodingProblem, releases: list[_Release], searches: _Searches, *, refined: bool = True
) -> Recoding:
    """Combine all releases; if `refined`, each class takes the finest levels at which its rows agree."""
    class_of = np.zeros(len(problem.rows), dtype=np.uint32)
    kept: Bools = np.zeros(len(problem.rows), dtype=bool)
    classes = 0
    for release in releases:
        class_of[release.rows] = classes + release.class_of
        kept[release.rows] = True
        classes += int(release.class_of.max()) + 1
    class_of[~kept] = classes
    finest = finest_levels(problem, class_of, classes + 1, searches.levels)
    if not refined:
        finest = [np.full(classes + 1, level, dtype=np.uint32) for level in releases[0].levels]
    for axis, level in enumerate(releases[-1].levels):
        finest[axis][classes] = level  # for the metric, suppressed rows have the levels of the last search
    columns = tuple(
        Cells.of_levels(line, problem.whole(finest[axis][class_of]), line.column.codes)
        for axis, line in enumerate(problem.lines)
    )
    passes = []
    for release in releases:
        levels = zip(problem.table.columns, release.levels, strict=True)
        found = {column.name: column.finest + level for column, level in levels}
        passes.append({"rows": len(release.rows), "levels": found})
    shown = problem.whole(kept.astype(np.uint32)).astype(bool)
    return Recoding(columns, shown, searches.checked, "combinations of levels", facts={"passes": passes})


def finest_levels(
    problem: RecodingProblem, class_of: Codes, classes: int, levels: tuple[tuple[int, ...], ...]
) -> list[Codes]:
    """For each attribute, the finest of its levels at which the rows of each class agree."""
    order = np.argsort(class_of, kind="stable")
    present, starts = np.unique(class_of[order], return_index=True)
    found = []
    for column, codes, own in zip(problem.table.columns, problem.codes.T, levels, strict=True):
        finest = np.full(classes, len(column.maps) - 1, dtype=np.uint32)
        for level in reversed(own):
            shown = column.maps[level][codes[order]]
            agree = np.minimum.reduceat(shown, starts) == np.maximum.reduceat(shown, starts)
            finest[present[agree]] = level
        found.append(finest)
    return found
