"""Tables of a series whose regions are split: the next release, and earlier releases made again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import polars as pl

from kohorte.data import Role
from kohorte.errors import InternalError
from kohorte.kernels.arrays import Integers
from kohorte.progress import ProgressCallback, Stage, tell
from kohorte.series.definition import Definition
from kohorte.series.domain.region_cells import region_labels, region_loss
from kohorte.series.domain.regions import Regions
from kohorte.series.drafting.growing_table import Draft, Fineness, GrowingTable, Replayed
from kohorte.series.memory.record import Record
from kohorte.series.memory.state import Entry, State, damaged
from kohorte.series.splitting.refine import refine


@dataclass(frozen=True, eq=False)
class RegionTable(GrowingTable):
    """A table whose rows lie in regions."""

    @classmethod
    def read(cls, definition: Definition, frame: pl.DataFrame, record: Record) -> RegionTable:
        """Check a table against plan, domains and record."""
        frame, recognised, comparison = definition.compared(frame, record)
        return cls(definition, frame, definition.positions(frame), recognised, comparison)

    def replay(self, state: State) -> Iterator[Replayed]:
        """All releases, one after another."""
        regions = self.definition.initial
        for entry in state.releases:
            before, regions = regions, _divided(regions, entry)
            yield Replayed(
                regions,
                is_finer(regions, before),
                partial(self._data_again, regions, entry.number),
                partial(self._fineness_again, regions, entry),
                before=partial(self._fineness_again, before, entry),
            )

    def draft(self, state: State, progress: ProgressCallback | None = None) -> Draft:
        """Choose the rows that are shown, split what can be split, and verify the result."""
        definition, number = self.definition, state.number
        regions = definition.regions(state, number - 1)
        tell(progress, Stage.CHECKING, "which rows can be shown")
        shown = self.rows_to_show(regions, number)
        refined = refine(
            regions,
            self.positions[shown.rows],
            shown.check,
            axes=definition.axes,
            weights=definition.weights,
            target=definition.target,
            cohorts=shown.arrivals if definition.by_arrival else None,
            region_of=shown.region_of,
            progress=progress,
        )
        tell(progress, Stage.VERIFYING, "the release")
        data = self.data(shown.rows, refined.regions, refined.region_of, number)
        return Draft(
            number,
            self,
            shown,
            data,
            generalization=refined.regions,
            region_of=refined.region_of,
            splits=refined.splits,
            fineness=self.fineness(refined.regions, refined.region_of, self.frame.height, refined.waited),
            before=self.fineness(regions, shown.region_of, self.frame.height),
        )

    def data(self, rows: Integers, regions: Regions, region_of: Integers, number: int) -> pl.DataFrame:
        """These rows as a release of this number shows them, without identifying columns."""
        order = self.order(rows, number)
        axes, region_of = self.definition.axes, region_of[order]
        cells = [
            pl.Series(axis.name, labels, dtype=pl.String).gather(kinds[region_of])
            for axis, (labels, kinds) in zip(axes, region_labels(axes, regions), strict=True)
        ]
        return self.frame[rows[order]].drop(self.definition.plan.names(Role.IDENTIFYING)).with_columns(cells)

    def fineness(self, regions: Regions, region_of: Integers, rows: int, waited: int = 0) -> Fineness:
        """How fine a release of so many rows is, of which those in `region_of` are shown."""
        loss = region_loss(self.definition.axes, self.definition.weights, regions, region_of, rows=rows)
        return Fineness(len(regions), loss, waited)

    def _data_again(self, regions: Regions, number: int) -> pl.DataFrame:
        rows = self.rows_of(number)
        return self.data(rows, regions, regions.locate(self.positions[rows]), number)

    def _fineness_again(self, regions: Regions, entry: Entry) -> Fineness:
        return self.fineness(regions, regions.locate(self.positions[self.rows_of(entry.number)]), entry.rows)


def _divided(regions: Regions, entry: Entry) -> Regions:
    try:
        return regions.divided(entry.splits)
    except InternalError:
        raise damaged(f"the splits of release {entry.number} cannot be made") from None


def is_finer(regions: Regions, before: Regions) -> bool:
    """Whether every region lies in one of those before, none overlaps another, and together they cover the same."""
    return regions.finer_than(before) and _covered(regions) == _covered(before) and regions.disjoint()


def _covered(regions: Regions) -> int:
    """How many combinations of positions the regions cover, exactly."""
    return int((regions.highs - regions.lows).astype(object).prod(axis=1).sum())
