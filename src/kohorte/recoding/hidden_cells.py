"""A table at one level per attribute in which some cells are hidden, for mu-Argus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from kohorte.kernels import Grouper
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.recoding.base import RecodingProblem
from kohorte.recoding.cells import Cells, Recoding
from kohorte.search import OutOfTime, Progress

Combination: TypeAlias = tuple[int, ...]
"""The indices of some attributes."""


class HiddenCells:
    """Distinct rows at one level per attribute, and which of their cells are hidden: those show `*`.

    Rows that are equal at these levels have the same cells hidden. An attribute at its top level is always hidden.
    Among cells that could equally be hidden, the attribute with the lowest rank is chosen, then the one with the most
    distinct values, then the first of the plan.
    """

    def __init__(self, problem: RecodingProblem, ranks: Sequence[int]) -> None:
        self.problem = problem
        self.k = problem.goal.smallest_class
        self.levels = [self._safe_level(axis) for axis in range(len(ranks))]
        maps = [column.maps[level] for column, level in zip(problem.table.columns, self.levels, strict=True)]
        shown = np.stack([mapped[problem.codes[:, axis]] for axis, mapped in enumerate(maps)], axis=1)
        widths = [int(mapped.max(initial=0)) + 1 for mapped in maps]
        self.star: Codes = np.array(widths, dtype=np.uint32)
        alone, together = (  # level 0: all values and the hidden one; level 1: the attribute is ignored
            [np.arange(width + 1, dtype=np.uint32) for width in widths],
            [np.zeros(width + 1, dtype=np.uint32) for width in widths],
        )
        self._grouper = Grouper([list(both) for both in zip(alone, together, strict=True)])
        self.of_row, first, self.weights = self._group(shown, np.ones(len(shown), dtype=np.int64))
        self.codes: Codes = shown[first]
        tops = np.array([level == len(c.maps) - 1 for c, level in zip(problem.table.columns, self.levels, strict=True)])
        self.hidden: Bools = np.repeat(tops[None, :], len(self.codes), axis=0)
        distinct = [len(np.unique(column)) for column in shown.T]
        self.priority = sorted(range(len(ranks)), key=lambda axis: (ranks[axis], -distinct[axis], axis))
        self.tops = tops
        self.checked = 0
        self.tested = 0

    def _safe_level(self, axis: int) -> int:
        """The lowest level at which every value of an attribute occurs at least k times, or its top level."""
        column, codes = self.problem.table.columns[axis], self.problem.codes[:, axis]
        for level, mapped in enumerate(column.maps):
            counts = np.bincount(mapped[codes])
            if counts[counts > 0].min(initial=self.k) >= self.k:
                return level
        return len(column.maps) - 1

    def _group(self, codes: Codes, weights: Counts, chosen: Combination | None = None) -> tuple[Codes, Codes, Counts]:
        """Group rows by some attributes, or by all."""
        levels = np.full(codes.shape[1], int(chosen is not None), dtype=np.uint32)
        levels[list(chosen or ())] = 0
        return self._grouper.group(self._grouper.pack(np.ascontiguousarray(codes)), weights, levels, True)

    def _shown(self) -> Codes:
        return np.where(self.hidden, self.star, self.codes)

    @property
    def suppressed(self) -> int:
        """The number of hidden cells, without attributes at their top level."""
        return int((self.hidden[:, ~self.tops].sum(axis=1) * self.weights).sum())

    # Combinations

    def make_safe(self, every: Sequence[Combination]) -> bool:
        """Hide cells until none of these combinations is unsafe; return False if time runs out."""
        wanted = [chosen for chosen in every if not self.tops[list(chosen)].any()]
        self.tested = len(wanted)
        try:
            while self._hide_worst_cells(wanted):
                pass
        except OutOfTime:
            return False
        return True

    def _hide_worst_cells(self, wanted: Sequence[Combination]) -> bool:
        """Hide in each row the cell that is in the most unsafe combinations; return whether there was any."""
        rows = self._grouper.pack(self._shown())
        unsafe = np.zeros(self.codes.shape, dtype=np.int64)
        levels = np.ones(self.codes.shape[1], dtype=np.uint32)
        for chosen in wanted:
            self.problem.watch_time()
            axes = list(chosen)
            levels[axes] = 0
            class_of, _, sizes = self._grouper.group(rows, self.weights, levels, True)
            levels[axes] = 1
            rare = sizes < self.k
            if rare.any():
                unsafe[:, axes] += (rare[class_of] & ~self.hidden[:, axes].any(axis=1))[:, None]
        self.checked += len(wanted)
        at_risk = unsafe.any(axis=1)
        safe = int(self.weights[~at_risk].sum())
        self.problem.report(Progress(self.checked, max(1, len(self.problem.rows)), safe, unit=""))
        worst = np.array(self.priority)[unsafe[:, self.priority].argmax(axis=1)]
        self.hidden[at_risk, worst[at_risk]] = True
        return bool(at_risk.any())

    # Classes

    def leave_no_small_class(self) -> None:
        """Hide cells until every class has k rows or shows only `*`."""
        while (small := self._class_sizes() < self.k).any():
            gained = np.full((int(small.sum()), self.codes.shape[1]), -1, dtype=np.int64)
            here = self._shown()
            for axis in range(self.codes.shape[1]):
                moved = here[small]
                moved[:, axis] = self.star[axis]
                both = np.concatenate([here[~small], moved])
                weights = np.concatenate([self.weights[~small], self.weights[small]])
                class_of, _, sizes = self._group(both, weights)
                gained[:, axis] = sizes[class_of[int((~small).sum()) :]]
            gained[self.hidden[small]] = -1
            choice = np.array(self.priority)[gained[:, self.priority].argmax(axis=1)]
            self.hidden[np.flatnonzero(small), choice] = True
        self._enlarge_hidden_class()

    def _class_sizes(self) -> Counts:
        """The class size of every row; rows that show only `*` count as a class that is large enough."""
        class_of, _, sizes = self._group(self._shown(), self.weights)
        found: Counts = sizes[class_of]
        found[self.hidden.all(axis=1)] = max(self.k, len(self.problem.rows))
        return found

    def _enlarge_hidden_class(self) -> None:
        """Hide the smallest class as well if the rows that show only `*` are too many to suppress and fewer than k."""
        excluded = self.problem.table.rows - len(self.problem.rows)
        nothing = self.hidden.all(axis=1)
        count = int(self.weights[nothing].sum())
        if 0 < count < self.k and count + excluded > self.problem.goal.limit and not nothing.all():
            sizes = np.where(nothing, np.iinfo(np.int64).max, self._class_sizes())
            class_of, _, _ = self._group(self._shown(), self.weights)
            self.hidden[class_of == class_of[sizes.argmin()]] = True

    def recoding(self, *, complete: bool, remedy: str = "") -> Recoding:
        """The recoded table."""
        problem = self.problem
        columns = []
        suppressed: dict[str, int] = {}
        for axis, (line, level) in enumerate(zip(problem.lines, self.levels, strict=True)):
            top = len(line.column.maps) - 1
            hidden = self.hidden[:, axis]
            suppressed[line.column.name] = 0 if self.tops[axis] else int(self.weights[hidden].sum())
            levels = np.where(hidden, top, level).astype(np.uint32)[self.of_row]
            columns.append(Cells.of_levels(line, problem.whole(levels), line.column.codes))
        facts = {
            "levels": {
                line.column.name: n + line.column.finest for line, n in zip(problem.lines, self.levels, strict=True)
            },
            "combinations_tested": self.tested,
            "suppressed_cells": suppressed,
            "complete": complete,
        }
        kept = problem.table.included.copy()
        what = "combinations of attributes"
        return Recoding(tuple(columns), kept, self.checked, what, facts=facts, remedy=remedy)
