"""The next release of a series whose regions are split, made but not yet given to anybody; and releases made again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import polars as pl

from kohorte.errors import InternalError
from kohorte.release.verification import verify_table
from kohorte.series.definition import Definition
from kohorte.series.domain.regions import Regions, Split
from kohorte.series.growing import Drafted, Fineness, GrowingTable, Numbers, Replayed, refuse_unverified
from kohorte.series.memory.record import Record
from kohorte.series.memory.state import Entry, State, damaged
from kohorte.series.output import output_frame, region_loss
from kohorte.series.showing import Question
from kohorte.series.splitting.refine import Refined, refine


@dataclass(frozen=True, eq=False)
class Table(GrowingTable):
    """A table whose rows lie in regions."""

    @classmethod
    def read(cls, definition: Definition, frame: pl.DataFrame, record: Record) -> Table:
        """Check a table against plan, domains and record."""
        frame, recognised, comparison = definition.compared(frame, record)
        return cls(definition, frame, definition.places(frame), recognised, comparison)

    def replay(self, state: State) -> Iterator[Replayed]:
        """All releases, one after another."""
        regions = self.definition.initial
        for entry in state.releases:
            before, regions = regions, _divided(regions, entry)
            again = partial(self.again, regions, entry.number)
            yield Replayed(regions, is_finer(regions, before), again, partial(self._fineness, regions, entry))

    def draft(self, state: State) -> Draft:
        """Choose the rows that are shown, split what can be split, and verify the result."""
        return Draft.make(self, state)

    def shown(self, rows: Numbers, regions: Regions, region_of: Numbers, number: int) -> pl.DataFrame:
        """These rows as a release of this number shows them."""
        order = self.order(rows, number)
        definition = self.definition
        return output_frame(self.frame[rows[order]], definition.plan, definition.axes, regions, region_of[order])

    def again(self, regions: Regions, number: int) -> pl.DataFrame:
        """An earlier release, whose regions these are, made again."""
        rows = self.rows_of(number)
        return self.shown(rows, regions, regions.locate(self.places[rows]), number)

    def _fineness(self, regions: Regions, entry: Entry) -> Fineness:
        region_of = regions.locate(self.places[self.rows_of(entry.number)])
        axes, weights = self.definition.axes, self.definition.weights
        return Fineness(len(regions), region_loss(axes, weights, regions, region_of, rows=entry.rows))


@dataclass(frozen=True, eq=False)
class Draft(Drafted):
    """A release that was made and verified, and that nobody has seen."""

    refined: Refined = field(repr=False)

    @classmethod
    def make(cls, table: Table, state: State) -> Draft:
        """Choose the rows that are shown, split what can be split, and verify the result."""
        definition, number = table.definition, state.number
        regions = definition.regions(state, number - 1)
        showing = Question(
            table.frame,
            definition.plan,
            table.places,
            regions,
            table.comparison.arrivals,
            number=number,
            by_arrival=definition.by_arrival,
            departed=table.comparison.departed > 0,
        ).answer()
        refined = refine(
            regions,
            table.places[showing.rows],
            showing.judge,
            axes=definition.axes,
            weights=definition.weights,
            target=definition.target,
            cohorts=showing.arrivals if definition.by_arrival else None,
            region_of=showing.region_of,
        )
        data = table.shown(showing.rows, refined.regions, refined.region_of, number)
        verification = verify_table(data, definition.plan, {})
        refuse_unverified(verification, data)
        return cls(number, table, showing, data, verification, refined)

    @property
    def region_of(self) -> Numbers:
        """The region of every row that is shown."""
        return self.refined.region_of

    @property
    def splits(self) -> tuple[Split, ...]:
        """The splits that the release makes."""
        return self.refined.splits

    def fineness(self) -> Fineness:
        """How fine the release is."""
        definition, refined = self.table.definition, self.refined
        loss = region_loss(definition.axes, definition.weights, refined.regions, refined.region_of, rows=self.rows)
        return Fineness(len(refined.regions), loss, refined.waited)


def _divided(regions: Regions, entry: Entry) -> Regions:
    try:
        return regions.divided(entry.splits)
    except InternalError:
        raise damaged(f"the splits of release {entry.number} cannot be made") from None


def is_finer(regions: Regions, before: Regions) -> bool:
    """Whether every region lies in one of the regions before, none meets another, and together they cover the same."""
    return regions.finer_than(before) and _covered(regions) == _covered(before) and regions.disjoint()


def _covered(regions: Regions) -> int:
    """How many combinations of places the regions cover, exactly."""
    return int((regions.highs - regions.lows).astype(object).prod(axis=1).sum())
