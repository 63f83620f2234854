"""Local recoding: the best levels for most rows, then other levels for the rows that are left."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kohorte.engines import EncodedTable
from kohorte.errors import NoSolution
from kohorte.kernels.arrays import Bools, Codes
from kohorte.quality import (
    Aecs,
    Classification,
    Discernibility,
    Loss,
    NonUniformEntropySuppression,
    Precision,
)
from kohorte.recoding.base import RecodingProblem, refuse_models
from kohorte.recoding.cells import Cells, Recoding
from kohorte.search import Goal, OutOfTime, full_domain, search_named

COUNT_SUPPRESSED = (Loss, Precision, Aecs, Discernibility, Classification, NonUniformEntropySuppression)
"""The metrics that can weigh coarser levels for all rows against suppressing some."""


class LocalRecoding:
    """Repeated optimal search: rows that it would suppress are searched again, until nothing is gained.

    The first search may suppress all but one class: it weighs coarser levels for everybody against leaving rows to the
    next search. So most rows stay fine, and the few that stand apart get levels of their own. In the end every class
    takes the finest levels at which its rows agree. Where too many rows are left, the last searches are undone and
    what they released is searched together with the rest.

    Metrics that do not count suppressed rows (height, entropies) cannot weigh; the passes use loss instead.

    Optimal or heuristic
        Heuristic; each search is optimal, and by the plan's metric the release is never worse than that of a single
        search, unless that suppresses everybody.
    Complexity
        As many searches as there are passes, rarely more than ten; each has fewer rows than the one before.
    Source
        The practice of ARX (Prasser, Kohlmayer, Kuhn, Efficient and Effective Pruning Strategies for Health Data
        De-Identification, 2016); seed: cell generalization and suppression.
    """

    name: ClassVar[str] = "local_recoding"
    options: ClassVar[tuple[str, ...]] = ()

    def refuse(self, problem: RecodingProblem) -> str | None:
        """Classes come from several searches, so that each must be judged for itself."""
        return refuse_models(problem.goal.models)

    def levels(self, table: EncodedTable) -> tuple[tuple[int, ...], ...]:
        """The levels of each attribute that cells may stand at."""
        return tuple(tuple(range(len(column.maps))) for column in table.columns)

    def run(self, problem: RecodingProblem) -> Recoding:
        """Search until nothing is gained."""
        searches = _Searches(problem, self.levels(problem.table))
        many = searches.passes()
        one = searches.single()
        candidates = [_recoding(problem, releases, searches) for releases in (many, one) if releases]
        if one:  # a metric that is not monotone may like coarser cells better
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
        """Rows that lack a value look like those that show nothing: together they may be too many, or must be all."""
        limit = problem.goal.limit
        if problem.table.included.all():
            return candidates
        stars = [found.all_starred for found in candidates]
        fitting = [found for found, own in zip(candidates, stars, strict=True) if own.all() or own.sum() <= limit]
        return fitting or candidates


class CellSuppression(LocalRecoding):
    """Cell suppression: every cell shows its value or `*`, and nothing between.

    The same as local recoding with the finest and the highest level of every attribute alone. With `minimum_level` in
    the plan, the value is shown at that level.

    Optimal or heuristic
        Heuristic; each search is optimal, and the release is never worse than that of a single search.
    Complexity
        At most 2^d combinations in each pass, for d attributes.
    Source
        Seed 003, section 3.2.5 (value, record and cell suppression); Meyerson, Williams, On the Complexity of Optimal
        K-Anonymity, PODS 2004.
    """

    name: ClassVar[str] = "cell_suppression"

    def levels(self, table: EncodedTable) -> tuple[tuple[int, ...], ...]:
        """The value, or `*`."""
        return tuple(tuple(dict.fromkeys((0, len(column.maps) - 1))) for column in table.columns)


@dataclass(frozen=True, eq=False)
class _Release:
    """What one search releases: rows by number among those that take part, and the class of each."""

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
        self._goal = replace(problem.goal, metric=metric if isinstance(metric, COUNT_SUPPRESSED) else Loss())

    @property
    def everybody(self) -> Codes:
        """The numbers of all rows that take part."""
        return np.arange(len(self.problem.rows), dtype=np.uint32)

    def passes(self) -> list[_Release]:
        """Search what is left again and again; none where too many rows are left in the end."""
        found: list[_Release] = []
        left = self.everybody
        try:
            for release in self._one_after_the_other():
                found.append(release)
                left = np.setdiff1d(left, release.rows, assume_unique=True)
        except OutOfTime:
            pass
        allowed = self.problem.goal.limit - self._excluded
        while found and len(left) > allowed:
            left = np.union1d(left, found.pop().rows).astype(np.uint32)
            last = self.search(left, allowed)
            if last is not None:
                return [*found, last]
        return found

    def _one_after_the_other(self) -> Iterator[_Release]:
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
        """Search once, for all rows, within the limit: the plan's own question, with rows that lack a value."""
        table, goal = self.problem.table, self.problem.goal
        whole = self._table(np.arange(table.rows, dtype=np.uint32), table.included)
        release = self._best(whole, self.everybody, self._with_time_left(goal, goal.limit))
        return [] if release is None else [release]

    def search(self, rows: Codes, limit: int) -> _Release | None:
        """Find the best node of some rows when so many of them may be suppressed; None where there is none."""
        if limit < 0 or not len(rows):
            return None
        table = self._table(self.problem.rows[rows], np.ones(len(rows), dtype=bool))
        return self._best(table, rows, self._with_time_left(self._goal, limit))

    def _best(self, table: EncodedTable, rows: Codes, goal: Goal) -> _Release | None:
        """Find the best node of a table whose included rows have these numbers; None where there is none."""
        found = full_domain(table, goal)
        result = search_named("optimal").run(found.problem)
        best = result.best
        if best is None and not result.optimal:  # out of time: the top node is the likeliest solution of all
            found.problem.time_limit = None
            found.problem.evaluate(found.problem.lattice.top)
            best = found.problem.best
        self.checked += found.problem.checked
        if best is None:
            return None
        class_of, groups = found.engine.classes(best.node)
        kept = found.evaluator.kept(groups)
        released: Bools = kept[class_of]
        if not released.any():
            return None
        levels = tuple(own[level] for own, level in zip(self.levels, best.node, strict=True))
        return _Release(rows[released], class_of[released], levels)

    def _table(self, of_table: Codes, included: Bools) -> EncodedTable:
        table = self.problem.table
        columns = tuple(
            replace(
                column,
                codes=column.codes[of_table],
                maps=tuple(column.maps[level] for level in levels),
                labels=tuple(column.labels[level] for level in levels),
                shares=tuple(column.shares[level] for level in levels),
            )
            for column, levels in zip(table.columns, self.levels, strict=True)
        )
        return replace(
            table,
            rows=len(of_table),
            columns=columns,
            included=included,
            sensitive=tuple(replace(column, codes=column.codes[of_table]) for column in table.sensitive),
        )

    def _with_time_left(self, goal: Goal, limit: int) -> Goal:
        left = self.problem.goal.time_limit
        if left is not None:
            left = max(1e-3, left - (time.monotonic() - self.problem.started))
        return replace(goal, limit=limit, time_limit=left)


def _recoding(
    problem: RecodingProblem, releases: list[_Release], searches: _Searches, *, refined: bool = True
) -> Recoding:
    """The table as all releases together show it, with the finest levels at which the rows of a class agree."""
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
        finest[axis][classes] = level  # suppressed rows count as the last search left them
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
