"""Which rows a release shows: those whose region satisfies the models. All others are held back."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohorte.errors import NoSolution, PrivacyViolation
from kohorte.kernels.arrays import Bools
from kohorte.release.plan import Plan
from kohorte.series.cover import Cover
from kohorte.series.domain.regions import OUTSIDE, Places
from kohorte.series.judge import Judge
from kohorte.series.memory.record import NEVER, shown_before

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Showing:
    """The rows that are shown, by number, their regions, when they came, and the models ready to judge them."""

    rows: Numbers = field(repr=False)
    region_of: Numbers = field(repr=False)
    arrivals: Numbers = field(repr=False)
    judge: Judge = field(repr=False)
    withheld: int


@dataclass(frozen=True, eq=False)
class Question:
    """The rows of a table with their places, the regions as they are, and which release showed each row first.

    `by_arrival`: the rows of each arrival must satisfy the models on their own. `departed`: rows that were shown have
    been corrected or withdrawn, so that others of their regions may have to be held back, if they fail without any
    newcomers.
    """

    frame: pl.DataFrame = field(repr=False)
    plan: Plan
    places: Places = field(repr=False)
    regions: Cover = field(repr=False)
    arrivals: Numbers = field(repr=False)
    number: int
    by_arrival: bool
    departed: bool

    def answer(self) -> Showing:
        """Hold rows back until all regions of those that are left satisfy the models.

        The models judge the shown rows by themselves: whoever has the release has no others.
        """
        region_of = np.full(self.frame.height, OUTSIDE, dtype=np.int64)
        inside = (self.places > OUTSIDE).all(axis=1)
        region_of[inside] = self.regions.locate(self.places[inside])
        shown: Bools = (region_of != OUTSIDE) & (self.arrivals != NEVER)
        before = shown_before(self.arrivals)
        arrivals = np.where(before, self.arrivals, self.number)
        withheld = 0
        while True:
            rows = np.flatnonzero(shown)
            self._refuse_nothing(rows)
            judge = Judge.of(self.frame[rows], self.plan)
            failing = self._failing(judge, region_of[rows], arrivals[rows])
            if not failing.any():
                self._refuse_many_held(int((~shown).sum()))
                return Showing(rows, region_of[rows], arrivals[rows], judge, withheld)
            newcomers = failing & ~before[rows]
            if newcomers.any():
                shown[rows[newcomers]] = False
                continue
            left_over = rows[failing & self._fails_alone(shown & before, region_of, arrivals)[rows]]
            if not self.departed or not len(left_over):
                raise self._failure(region_of[rows][failing])
            withheld += len(left_over)
            shown[left_over] = False

    def _fails_alone(self, known: Bools, region_of: Numbers, arrivals: Numbers) -> Bools:
        """The rows shown before whose classes fail even without newcomers: because of rows that departed."""
        rows = np.flatnonzero(known)
        failing = np.zeros(self.frame.height, dtype=bool)
        if len(rows):
            judge = Judge.of(self.frame[rows], self.plan)
            failing[rows] = self._failing(judge, region_of[rows], arrivals[rows])
        return failing

    def _failing(self, judge: Judge, region_of: Numbers, arrivals: Numbers) -> Bools:
        """The rows of classes that do not satisfy the models."""
        keys = region_of * (self.number + 1) + arrivals if self.by_arrival else region_of
        classes, class_of = np.unique(keys, return_inverse=True)
        failing: Bools = ~judge.satisfied(class_of, len(classes))[class_of]
        return failing

    def _refuse_nothing(self, rows: Numbers) -> None:
        if not len(rows):
            raise NoSolution(
                "no row can be shown yet: no region satisfies the models; wait for more rows",
                code="series-nothing-shown",
            )

    def _refuse_many_held(self, held: int) -> None:
        limit = self.plan.most_suppressed(self.frame.height)
        if held > limit:
            raise NoSolution(
                f"{held:,} of {self.frame.height:,} rows would be held back, and the plan's suppression_limit allows "
                f"{limit:,}; wait for more rows, or start a series with a higher limit, wider pieces or a "
                "minimum_level",
                code="series-many-held",
            )

    def _failure(self, region_of: Numbers) -> PrivacyViolation:
        """Rows that were shown must be shown again: those that vanish would be a small group of their own."""
        return PrivacyViolation(
            f"{len(np.unique(region_of)):,} regions of the last release ({len(region_of):,} rows) do not satisfy the "
            "models any more; rows that were shown once cannot be held back, so nothing is released: wait for more "
            "rows",
            code="series-region-fails",
        )
