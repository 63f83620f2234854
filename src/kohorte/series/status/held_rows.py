"""Rows that the next release would hold back: where they are, and what their regions lack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kohorte.kernels.arrays import Bools, Integers
from kohorte.series.domain.regions import OUTSIDE, Regions
from kohorte.series.drafting.region_table import RegionTable
from kohorte.series.memory.record import NEVER
from kohorte.series.splitting.group_check import GroupCheck
from kohorte.series.status.missing_rows import Demands
from kohorte.series.status.region_names import RegionName, few, more, with_values


@dataclass(frozen=True)
class HeldBack:
    """Rows of a region that are held back, and how many more rows (or people) and values it needs to be shown.

    `rows` is None if they (or the people they are about) are fewer than `least`, the fewest that the models allow.
    `together`: the rows needed must come with the same release. If none are needed, the models do not hold with these
    rows yet.
    """

    where: RegionName
    rows: int | None
    needed: int
    values: Mapping[str, int]
    together: bool
    least: int
    unit: str = "row"

    def to_dict(self) -> dict[str, object]:
        """As `kohorte series status --json` prints it."""
        region = dict(self.where.labels)
        counted = {"needed": self.needed, "unit": self.unit, "values": dict(self.values)}
        return {"region": region, "rows": self.rows, **counted}

    def in_words(self) -> str:
        """One line for people."""
        held = few(self.rows, self.least)
        if not self.needed:
            return f"{self.where}: {held}; the models do not hold with them yet"
        together = " that come together" if self.together else ""
        needed = f"{more(self.needed, self.unit)}{together}{with_values(self.values)}"
        return f"{self.where}: {held}; {needed} would let them be shown"


@dataclass(frozen=True, eq=False)
class RowsInRegions:
    """The rows of a table, and the region of each as the last release left them."""

    table: RegionTable
    regions: Regions
    number: int

    @cached_property
    def region_of(self) -> Integers:
        """The region of every row; OUTSIDE in a gap, or if a value is missing that must not be missing."""
        region_of = np.full(self.table.frame.height, OUTSIDE, dtype=np.int64)
        inside = (self.table.positions > OUTSIDE).all(axis=1)
        region_of[inside] = self.regions.locate(self.table.positions[inside])
        region_of[self.table.comparison.arrivals == NEVER] = OUTSIDE
        return region_of

    @cached_property
    def _check(self) -> GroupCheck:
        return GroupCheck.of(self.table.frame[self._inside], self.table.definition.plan)

    @cached_property
    def _inside(self) -> Integers:
        return np.flatnonzero(self.region_of != OUTSIDE)

    def failing(self) -> Bools:
        """The rows that cannot be shown as they are: outside of all regions, or in one that fails the models."""
        failing: Bools = self.region_of == OUTSIDE
        keys = self.region_of[self._inside]
        if self.table.definition.by_arrival:
            comparison = self.table.comparison
            arrivals = np.where(comparison.before, comparison.arrivals, self.number)[self._inside]
            keys = keys * (self.number + 1) + arrivals
        classes, class_of = np.unique(keys, return_inverse=True)
        if len(classes):
            failing[self._inside] = ~self._check.satisfied(class_of, len(classes))[class_of]
        return failing

    def held_back(self, held: Bools, *, most: int) -> tuple[HeldBack, ...]:
        """The regions of rows held back, those that need the fewest more rows first."""
        if not (held & (self.table.positions > OUTSIDE).all(axis=1)).any():
            return ()
        local = self.region_of[self._inside]
        kept_out = held[self._inside]
        chosen, counts = np.unique(local[kept_out], return_counts=True)
        if not len(chosen):
            return ()
        whom = self._check.sizes(np.searchsorted(chosen, local[kept_out]), len(chosen), kept_out)
        together = self.table.definition.by_arrival
        counted = np.flatnonzero(kept_out if together else np.isin(local, chosen))
        demands = Demands.of(self._check)
        lacks = demands.lacks_of_groups(np.searchsorted(chosen, local[counted]), len(chosen), counted)
        order = np.lexsort((chosen, lacks[:, 0], lacks[:, 0] == 0))[: max(0, most)]
        return tuple(
            HeldBack(
                RegionName.of(self.table.definition.axes, self.regions, int(chosen[position])),
                None if whom[position] < demands.least else int(counts[position]),
                int(lacks[position, 0]),
                demands.named(lacks[position]),
                together,
                demands.least,
                demands.unit,
            )
            for position in order
        )
