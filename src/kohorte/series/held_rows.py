"""Which rows the next release would hold back: where they are, and what their regions lack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kohorte.kernels.arrays import Bools
from kohorte.series.draft import Table
from kohorte.series.judge import Judge
from kohorte.series.missing_rows import Demands
from kohorte.series.record import HELD
from kohorte.series.regions import OUTSIDE, Regions
from kohorte.series.region_words import place_in_words, region_names, rows_in_words, values_in_words

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class HeldBack:
    """Rows of a region that are held back, and how many more rows and values it needs to be shown.

    `rows` is None where they are fewer than the models allow. `together`: the missing rows must come with the same
    release. Where nothing is missing in numbers, the models do not hold with these rows yet.
    """

    region: Mapping[str, str]
    whole: frozenset[str] = field(repr=False)
    rows: int | None
    needed: int
    values: Mapping[str, int]
    together: bool
    least: int

    def to_dict(self) -> dict[str, object]:
        """As `kohorte series status --json` prints it."""
        return {"region": dict(self.region), "rows": self.rows, "needed": self.needed, "values": dict(self.values)}

    def in_words(self) -> str:
        """One line for people."""
        held = f"fewer than {self.least} rows" if self.rows is None else f"{self.rows:,} rows"
        where = place_in_words(self.region, self.whole)
        if not self.needed:
            return f"{where}: {held}; the models do not hold with them yet"
        together = " that come together" if self.together else ""
        more = f"{rows_in_words(self.needed)}{together}{values_in_words(self.values)}"
        return f"{where}: {held}; {more} let them be shown"


def failing_rows(table: Table, regions: Regions, number: int) -> Bools:
    """The rows that no release can show as they are: outside of all regions, or in one that fails the models."""
    region_of = _located(table, regions)
    failing: Bools = region_of == OUTSIDE
    inside = np.flatnonzero(~failing)
    if not len(inside):
        return failing
    keys = region_of[inside]
    if table.definition.by_arrival:
        arrivals = table.comparison.arrivals[inside]
        keys = keys * (number + 1) + np.where(arrivals == HELD, number, arrivals)
    classes, class_of = np.unique(keys, return_inverse=True)
    judge = Judge.of(table.frame[inside], table.definition.plan)
    failing[inside] = ~judge.satisfied(class_of, len(classes))[class_of]
    return failing


def held_back(table: Table, regions: Regions, held: Bools, *, most: int) -> tuple[tuple[HeldBack, ...], int]:
    """Where rows are held back, those first that need the fewest more; and how many lie outside of all regions."""
    region_of = _located(table, regions)
    rows = np.flatnonzero(held & (region_of != OUTSIDE))
    outside = int((held & (region_of == OUTSIDE)).sum())
    if not len(rows):
        return (), outside
    chosen, group_of = np.unique(region_of[rows], return_inverse=True)
    demands = Demands.of(Judge.of(table.frame[rows], table.definition.plan)) if _judged(table, rows) else None
    del demands, group_of, chosen
    return (), outside


def _located(table: Table, regions: Regions) -> Numbers:
    region_of = np.full(table.frame.height, OUTSIDE, dtype=np.int64)
    inside = (table.places > OUTSIDE).all(axis=1)
    region_of[inside] = regions.locate(table.places[inside])
    return region_of
