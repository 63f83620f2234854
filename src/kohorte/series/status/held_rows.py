"""Which rows the next release would hold back: where they are, and what their regions lack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kohorte.kernels.arrays import Bools
from kohorte.series.domain.regions import OUTSIDE, Regions
from kohorte.series.draft import Table
from kohorte.series.judge import Judge
from kohorte.series.memory.record import NEVER
from kohorte.series.status.missing_rows import Demands
from kohorte.series.status.region_names import RegionName, few, more, with_values

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class HeldBack:
    """Rows of a region that are held back, and how many more rows and values it needs to be shown.

    `rows` is None where they are fewer than `least`, the fewest that the models allow. `together`: the rows that are
    needed must come with the same release. Where none are needed, the models do not hold with these rows yet.
    """

    where: RegionName
    rows: int | None
    needed: int
    values: Mapping[str, int]
    together: bool
    least: int

    def to_dict(self) -> dict[str, object]:
        """As `kohorte series status --json` prints it."""
        region = dict(self.where.labels)
        return {"region": region, "rows": self.rows, "needed": self.needed, "values": dict(self.values)}

    def in_words(self) -> str:
        """One line for people."""
        held = few(self.rows, self.least)
        if not self.needed:
            return f"{self.where}: {held}; the models do not hold with them yet"
        together = " that come together" if self.together else ""
        return f"{self.where}: {held}; {more(self.needed)}{together}{with_values(self.values)} would let them be shown"


@dataclass(frozen=True, eq=False)
class RowsInRegions:
    """The rows of a table, and the region of each as the last release left them."""

    table: Table
    regions: Regions
    number: int

    @cached_property
    def region_of(self) -> Numbers:
        """The region of every row; OUTSIDE in a gap, or where a value is missing that must not."""
        region_of = np.full(self.table.frame.height, OUTSIDE, dtype=np.int64)
        inside = (self.table.places > OUTSIDE).all(axis=1)
        region_of[inside] = self.regions.locate(self.table.places[inside])
        region_of[self.table.comparison.arrivals == NEVER] = OUTSIDE
        return region_of

    @cached_property
    def _judge(self) -> Judge:
        return Judge.of(self.table.frame[self._inside], self.table.definition.plan)

    @cached_property
    def _inside(self) -> Numbers:
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
            failing[self._inside] = ~self._judge.satisfied(class_of, len(classes))[class_of]
        return failing

    def held_back(self, held: Bools, *, most: int) -> tuple[HeldBack, ...]:
        """Where rows are held back, those first that need the fewest more rows."""
        if not (held & (self.table.places > OUTSIDE).all(axis=1)).any():
            return ()
        local = self.region_of[self._inside]
        kept_out = held[self._inside]
        chosen, counts = np.unique(local[kept_out], return_counts=True)
        if not len(chosen):
            return ()
        together = self.table.definition.by_arrival
        counted = np.flatnonzero(kept_out if together else np.isin(local, chosen))
        demands = Demands.of(self._judge)
        lacks = demands.lacks_of_groups(np.searchsorted(chosen, local[counted]), len(chosen), counted)
        order = np.lexsort((chosen, lacks[:, 0], lacks[:, 0] == 0))[: max(0, most)]
        return tuple(
            HeldBack(
                RegionName.of(self.table.definition.axes, self.regions, int(chosen[place])),
                None if counts[place] < demands.least else int(counts[place]),
                int(lacks[place, 0]),
                demands.named(lacks[place]),
                together,
                demands.least,
            )
            for place in order
        )
