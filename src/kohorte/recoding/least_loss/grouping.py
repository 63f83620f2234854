"""Groups of rows: cut from the whole table, then improved."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from kohorte.kernels import LossCutter, Regrouper
from kohorte.kernels.arrays import Bools, Codes
from kohorte.kernels.least_loss_reference import NONE
from kohorte.models import DistinctLDiversity, KAnonymity
from kohorte.progress import Progress
from kohorte.recoding.base import RecodingProblem
from kohorte.recoding.cells import Cells, Recoding
from kohorte.recoding.least_loss.costs import WHOLE, CellCosts
from kohorte.recoding.least_loss.set_cells import SetCells
from kohorte.recoding.line import Line
from kohorte.recoding.mondrian import widest_first
from kohorte.recoding.regions import Partition, sorted_by
from kohorte.search import OutOfTime

SMALL, GROWTH = 32, 1.7
"""A pool of twice as many rows takes about 2 ** 1.7 times as long; small pools have 32 rows."""
POOLS = 100_000
"""How many small pools are tried in all rounds, unless that would be fewer than three rounds. Our choice."""
ROUNDS = (3, 60)
"""The fewest and the most rounds."""
PATIENCE = 6
"""After so many rounds in a row that save nothing worth mentioning, the search ends. Our choice."""
LITTLE = 0.0005
"""A round that saves less than this share of the cost saves nothing worth mentioning. Our choice."""
STARTS = 400
"""Small tables are grouped again from other groups, as often as this is a multiple of the number of groups."""
MANY_ROWS = 10_000
"""With at least so many rows, all cores are used, unless the plan says how many threads."""
POOLED = 5
"""How many groups a pool has at most. Our choice."""


@dataclass
class Grouping:
    """The groups of the included rows: the best so far, and how they are improved."""

    problem: RecodingProblem
    cells: str
    best: Codes = field(init=False, repr=False)
    starts: list[Codes] = field(init=False, repr=False)  # the groups of Mondrian, with which the result is compared
    checked: int = 1
    rounds: int = 0

    def __post_init__(self) -> None:
        self.best = np.zeros(len(self.problem.rows), dtype=np.uint32)
        self.starts = []

    @cached_property
    def costs(self) -> CellCosts:
        """What cells cost."""
        return CellCosts(self.problem, self.cells)

    @cached_property
    def by_counts(self) -> bool:
        """Whether the numbers of rows, people and different values in a group tell that it satisfies all models."""
        people = self.problem.table.persons is not None
        known = (KAnonymity,) if people else (KAnonymity, DistinctLDiversity)
        return all(isinstance(model, known) for model in self.problem.goal.models)

    @cached_property
    def may_leave(self) -> int:
        """How many rows may be left out."""
        if not self.by_counts or not self.costs.counts_suppressed:
            return 0
        return max(0, self.problem.goal.limit - self.problem.table.excluded)

    @cached_property
    def kernel(self) -> Regrouper:
        """The kernel that groups rows again."""
        problem, marks = self.problem, []
        persons = problem.table.persons
        if self.by_counts:
            for model in problem.goal.models:
                if isinstance(model, DistinctLDiversity):
                    column = next(one for one in problem.table.sensitive if one.name == model.attribute)
                    marks.append((column.codes[problem.rows].astype(np.uint32), model.l))
            if persons is not None:
                marks.append((persons.codes[problem.rows].astype(np.uint32), problem.goal.smallest_class))
        fixed = np.empty(0, dtype=np.uint32) if self.by_counts else self._alike()
        least = problem.goal.smallest_class if self.by_counts else 1
        return Regrouper(self.costs.positions, self.costs.axes, least, marks, fixed, WHOLE)

    def _alike(self) -> Codes:
        """Rows with the same number may change places: they have the same sensitive values.

        If people are counted, a person's only row may change places with that of another person, and no other row.
        """
        problem, rows = self.problem, self.problem.rows
        alike = np.zeros(len(rows), dtype=np.int64)
        for column in problem.table.sensitive:
            alike = np.unique(alike * len(column.domain.overall) + column.codes[rows], return_inverse=True)[1]
        if problem.table.persons is not None:
            whom = problem.table.persons.codes[rows]
            several = np.bincount(whom)[whom] > 1
            alike[several] = len(rows) + np.arange(int(several.sum()))
        return np.unique(alike, return_inverse=True)[1].astype(np.uint32)

    def cut(self) -> None:
        """Start with the cheapest of some partitions: Mondrian's, relaxed and strict, and cuts by what they save."""
        problem, strict = self.problem, self.problem.goal.options.strict
        for relaxed in (False,) if strict else (True, False):
            cutter = widest_first(problem, relaxed=relaxed)
            self.starts.append(self._keep_cut(Partition(problem, cutter, problem.positions)))
        by_loss = LossCutter(self.costs.positions, self.costs.axes, problem.goal.smallest_class, not strict)
        self._keep_cut(Partition(problem, by_loss, self.costs.positions))

    def _keep_cut(self, partition: Partition) -> Codes:
        """Cut as far as possible, and keep the result if it costs less than the best so far."""
        found, stopped = self._cut_all(partition)
        if self.cost(found) < self.cost(self.best):
            self.best = found
        if stopped:
            raise OutOfTime
        return found

    def _cut_all(self, partition: Partition) -> tuple[Codes, bool]:
        """The regions after all cuts, and whether time ran out before."""
        stopped = False
        try:
            partition.cut_all()
        except OutOfTime:
            stopped = True
        self.checked += partition.checked
        return partition.region_of, stopped

    def cost(self, group_of: Codes) -> int:
        """What groups cost together with the rows in no group."""
        return int(self.kernel.costs(group_of).sum()) + WHOLE * int((group_of == NONE).sum())

    def improve(self) -> None:
        """Improve round by round until nothing worth mentioning is saved; then once more with rows left out."""
        self._improve(may_leave=0)
        self._start_again()
        if self.may_leave:
            self._improve(may_leave=self.may_leave)

    def _start_again(self) -> None:
        """If the table is small and only k counts, improve groups of neighbours in random orders; keep the best."""
        problem, positions = self.problem, self.costs.positions
        if not self.by_counts or not all(isinstance(model, KAnonymity) for model in problem.goal.models):
            return
        if problem.table.persons is not None:
            return
        random = np.random.Generator(np.random.PCG64(problem.goal.options.seed))
        last = len(positions) // problem.goal.smallest_class - 1
        for _ in range(STARTS // self.groups):
            known = self.best
            order = np.lexsort(positions[:, random.permutation(positions.shape[1])].T)
            number_of = np.minimum(np.argsort(order) // problem.goal.smallest_class, last)
            self.best = number_of.astype(np.uint32)
            try:
                self._improve(may_leave=0)
            finally:
                if self.cost(known) <= self.cost(self.best):
                    self.best = known

    def _improve(self, *, may_leave: int) -> None:
        problem, cost = self.problem, self.cost(self.best)
        rows = max(SMALL, 4 * problem.goal.smallest_class, 2 * len(problem.rows) // self.groups)
        rounds = int(min(max(POOLS / self.groups / (rows / SMALL) ** GROWTH, ROUNDS[0]), ROUNDS[1]))
        patience = PATIENCE
        for number in range(rounds):
            problem.watch_time()
            problem.report(Progress(self.checked, rounds, number, cost / WHOLE / len(problem.rows), unit="rounds"))
            leaving = max(0, may_leave - int((self.best == NONE).sum()))
            seed = (problem.goal.options.seed * 1_000_003 + self.rounds) % 2**64
            self.checked += self.groups
            self.rounds += 1
            self.best = self.kernel.round(self.best, POOLED, rows, leaving, seed, self._threads, self._seconds)
            if not self.by_counts:
                self._split_again(np.random.Generator(np.random.PCG64(seed)))
            before, cost = cost, self.cost(self.best)
            patience = PATIENCE if cost < (1 - LITTLE) * before else patience - 1
            if patience == 0 or cost == 0:
                break

    def _split_again(self, random: np.random.Generator) -> None:
        """Merge neighbouring groups and cut them again; keep what costs less, merged group by merged group.

        Neighbours are groups whose first rows follow each other, sorted by the attributes in random order.
        """
        best, positions = self.best, self.costs.positions
        first = np.unique(best, return_index=True)[1]
        rank = np.argsort(np.lexsort(positions[first][:, random.permutation(positions.shape[1])].T))
        merged = ((rank + random.integers(2)) // random.integers(1, 4)).astype(np.uint32)  # one, two or three groups
        union = np.unique(merged[best], return_inverse=True)[1].astype(np.uint32)
        sorted_positions = np.ascontiguousarray(positions[sorted_by(union)])
        cutter = LossCutter(sorted_positions, self.costs.axes, self.problem.goal.smallest_class, True)
        found, stopped = self._cut_all(Partition(self.problem, cutter, sorted_positions, union))
        costs = [
            np.bincount(union[np.unique(groups, return_index=True)[1]], self.kernel.costs(groups))
            for groups in (best, found)
        ]
        better = (costs[1] < costs[0])[union]
        chosen = np.where(better, found.astype(np.int64) + len(first), best)
        self.best = np.unique(chosen, return_inverse=True)[1].astype(np.uint32)
        if stopped:
            raise OutOfTime

    @property
    def groups(self) -> int:
        """The number of groups."""
        return int(self.best[self.best != NONE].max(initial=0)) + 1

    @property
    def _threads(self) -> int:
        wanted = self.problem.goal.options.threads
        return wanted or (os.cpu_count() or 1 if len(self.problem.rows) >= MANY_ROWS else 1)

    @property
    def _seconds(self) -> float:
        """The time that is left."""
        limit = self.problem.goal.time_limit
        return 1e9 if limit is None else max(0.0, self.problem.started + limit - time.monotonic())

    def recoding(self, *, complete: bool) -> Recoding:
        """The recoded table: the best groups, or those of Mondrian if these cost less by the metric itself."""
        found = self._recoding(self.best, complete=complete)
        cost = self.problem.cost(found)
        for group_of in self.starts:
            other = self._recoding(group_of, complete=complete)
            if (less := self.problem.cost(other)) < cost:
                found, cost = other, less
        return found

    def _recoding(self, group_of: Codes, *, complete: bool) -> Recoding:
        problem, inside = self.problem, group_of != NONE
        sizes = np.bincount(group_of[inside])
        columns = tuple(
            _cells(line, self.costs.positions[:, axis], group_of, problem, kind=self.costs.kind(line))
            for axis, line in enumerate(self.costs.lines)
        )
        facts = {
            "cells": self.cells,
            "groups": len(sizes),
            "largest_group": int(sizes.max(initial=0)),
            "rows_per_group_and_k": int(inside.sum()) / (max(1, len(sizes)) * problem.goal.smallest_class),
            "rounds": self.rounds,
            "complete": complete,
        }
        return Recoding(columns, _kept(problem, group_of), self.checked, "groups", facts=facts)


def _cells(line: Line, positions: Codes, group_of: Codes, problem: RecodingProblem, *, kind: str) -> Cells:
    """The cells of one quasi-identifier; rows in no group show any cell, which is not released."""
    inside = np.flatnonzero(group_of != NONE)
    order = inside[np.argsort(group_of[inside], kind="stable")]
    starts = np.flatnonzero(np.diff(group_of[order].astype(np.int64), prepend=-1))
    which = problem.whole(np.where(group_of == NONE, 0, group_of).astype(np.uint32))
    if kind == "sets":
        cells: Cells = SetCells.of_groups(line, positions[order], group_of[order], which)
    else:
        lows, highs = (ends.reduceat(positions[order], starts) for ends in (np.minimum, np.maximum))
        if kind == "intervals":
            known = np.where(positions[order] == line.missing, 0, positions[order])
            ends = np.maximum(lows, np.maximum.reduceat(known, starts))
            cells = Cells.of_known_intervals(line, lows, ends, (highs == line.missing) & (lows < highs), which)
        else:
            levels = np.full(len(starts), len(line.groups) - 1, dtype=np.uint32)
            for level, groups in reversed(list(enumerate(line.groups))):
                levels[groups[lows] == groups[highs]] = level
            cells = Cells.of_levels(line, levels[which], line.column.codes)
    return cells.with_stars(problem.table.included & ~_kept(problem, group_of))


def _kept(problem: RecodingProblem, group_of: Codes) -> Bools:
    """Which rows of the table are in a group."""
    kept = problem.table.included.copy()
    kept[problem.rows] = group_of != NONE
    return kept
