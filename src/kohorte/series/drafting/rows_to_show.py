"""Choosing the rows that a release shows: those whose region satisfies the models. All others are held back."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from kohorte.errors import NoSolution, PrivacyViolation
from kohorte.in_words import count
from kohorte.kernels.arrays import Bools, Integers
from kohorte.plans.plan import Plan
from kohorte.series.domain.regions import OUTSIDE, Generalization, Positions
from kohorte.series.memory.record import NEVER, shown_before
from kohorte.series.splitting.group_check import GroupCheck


@dataclass(frozen=True, eq=False)
class ShownRows:
    """The rows that a release shows: their numbers, regions and arrivals, and the models ready to judge them.

    `withheld` counts rows that were shown before and have to be held back.
    """

    rows: Integers = field(repr=False)
    region_of: Integers = field(repr=False)
    arrivals: Integers = field(repr=False)
    check: GroupCheck = field(repr=False)
    withheld: int


@dataclass(frozen=True, eq=False)
class Selection:
    """Chooses the rows that the next release shows in the regions of the last one.

    `arrivals` are the releases that first showed each row. `by_arrival`: the rows of each arrival must satisfy the
    models on their own. `departed`: rows that were shown have been corrected or withdrawn, so that others of their
    regions may have to be held back, if they fail without any newcomers.
    """

    frame: pl.DataFrame = field(repr=False)
    plan: Plan
    positions: Positions = field(repr=False)
    regions: Generalization = field(repr=False)
    arrivals: Integers = field(repr=False)
    number: int
    by_arrival: bool
    departed: bool

    def rows_to_show(self) -> ShownRows:
        """Hold rows back until all regions of those that are left satisfy the models.

        The models judge the shown rows alone, as a person who has the release sees no others.
        """
        region_of = np.full(self.frame.height, OUTSIDE, dtype=np.int64)
        inside = (self.positions > OUTSIDE).all(axis=1)
        region_of[inside] = self.regions.locate(self.positions[inside])
        shown: Bools = (region_of != OUTSIDE) & (self.arrivals != NEVER)
        before = shown_before(self.arrivals)
        arrivals = np.where(before, self.arrivals, self.number)
        withheld = 0
        while True:
            rows = np.flatnonzero(shown)
            self._refuse_nothing(rows)
            check = GroupCheck.of(self.frame[rows], self.plan)
            failing = self._failing(check, region_of[rows], arrivals[rows])
            if not failing.any():
                self._refuse_many_held(int((~shown).sum()))
                return ShownRows(rows, region_of[rows], arrivals[rows], check, withheld)
            newcomers = failing & ~before[rows]
            if newcomers.any():
                shown[rows[newcomers]] = False
                continue
            left_over = rows[failing & self._fails_alone(shown & before, region_of, arrivals)[rows]]
            if not self.departed or not len(left_over):
                raise self._failure(region_of[rows][failing])
            withheld += len(left_over)
            shown[left_over] = False

    def _fails_alone(self, known: Bools, region_of: Integers, arrivals: Integers) -> Bools:
        """The rows shown before whose classes fail even without newcomers, because other rows departed."""
        rows = np.flatnonzero(known)
        failing = np.zeros(self.frame.height, dtype=bool)
        if len(rows):
            check = GroupCheck.of(self.frame[rows], self.plan)
            failing[rows] = self._failing(check, region_of[rows], arrivals[rows])
        return failing

    def _failing(self, check: GroupCheck, region_of: Integers, arrivals: Integers) -> Bools:
        """The rows of classes that do not satisfy the models."""
        keys = region_of * (self.number + 1) + arrivals if self.by_arrival else region_of
        classes, class_of = np.unique(keys, return_inverse=True)
        failing: Bools = ~check.satisfied(class_of, len(classes))[class_of]
        return failing

    def _refuse_nothing(self, rows: Integers) -> None:
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
                f"{limit:,}; wait for more rows, or start a new series with a higher limit, wider pieces or a "
                "minimum_level",
                code="series-many-held",
            )

    def _failure(self, region_of: Integers) -> PrivacyViolation:
        """The error for regions that fail: rows that vanish would be a small group of their own."""
        return PrivacyViolation(
            f"the models no longer hold in {count(len(np.unique(region_of)), 'region')} of the last release "
            f"({count(len(region_of), 'row')}); rows that were shown once cannot be held back, so nothing is released: "
            "wait for more rows",
            code="series-region-fails",
        )
