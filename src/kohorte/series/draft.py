"""The next release of a series, made but not yet given to anybody; and releases made again."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohorte.errors import InternalError
from kohorte.release.verification import Verification, verify_table
from kohorte.series.definition import Definition
from kohorte.series.fingerprints import Recognised, shuffled
from kohorte.series.output import content_sha256, output_frame, region_loss
from kohorte.series.record import HELD, Comparison, Record, refuse_changes
from kohorte.series.refine import Refined, refine
from kohorte.series.regions import Places, Regions
from kohorte.series.showing import Question, Showing
from kohorte.series.state import State

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Table:
    """A table beside what a series remembers: its rows, their places, their fingerprints, and which are known."""

    definition: Definition
    frame: pl.DataFrame = field(repr=False)
    places: Places = field(repr=False)
    recognised: Recognised = field(repr=False)
    comparison: Comparison = field(repr=False)

    @classmethod
    def read(cls, definition: Definition, frame: pl.DataFrame, record: Record) -> Table:
        """Check a table against plan, domains and record."""
        frame = definition.checked(frame)
        recognised = definition.recognised(frame)
        comparison = record.compare(recognised)
        settings = definition.settings
        refuse_changes(comparison, corrected=settings.corrected, withdrawn=settings.withdrawn)
        return cls(definition, frame, definition.places(frame), recognised, comparison)

    def shown(self, rows: Numbers, regions: Regions, region_of: Numbers, number: int) -> pl.DataFrame:
        """These rows as a release of this number shows them."""
        plan = self.definition.plan
        if plan.order == "shuffled":
            order = shuffled(self.recognised.contents[rows], number, key=self.definition.key)
            rows, region_of = rows[order], region_of[order]
        return output_frame(self.frame[rows], plan, self.definition.axes, regions, region_of)

    def rows_of(self, number: int) -> Numbers:
        """The rows that an earlier release showed."""
        arrivals = self.comparison.arrivals
        return np.flatnonzero((arrivals > HELD) & (arrivals <= number))

    def again(self, regions: Regions, number: int) -> pl.DataFrame:
        """An earlier release, whose regions these are, made again."""
        rows = self.rows_of(number)
        return self.shown(rows, regions, regions.locate(self.places[rows]), number)


@dataclass(frozen=True)
class Figures:
    """A release in figures.

    `held` rows are held back, `new` ones shown for the first time, `withheld` ones were shown before and have to be
    held back because others were corrected or withdrawn. `waited` counts regions that could be split, but not towards
    the target. `smallest_arrival` is the fewest rows of a region that arrived together: whom one finds who knows when
    somebody came.
    """

    number: int
    rows: int
    shown: int
    held: int
    new: int
    corrected: int
    withdrawn: int
    withheld: int
    regions: int
    splits: int
    waited: int
    loss: float
    smallest_region: int
    smallest_arrival: int


def refuse_unverified(verification: Verification, data: pl.DataFrame) -> None:
    """Refuse a release that fails its verification, or has not the rows that were made: that is a bug."""
    if not verification.satisfied or verification.rows != data.height:
        raise InternalError(
            "the release does not pass its own verification and was withheld; please report this", code="not-verified"
        )


def smallest_arrival(region_of: Numbers, arrivals: Numbers) -> int:
    """The fewest rows of a region that arrived together."""
    return int(np.unique(region_of * (int(arrivals.max()) + 1) + arrivals, return_counts=True)[1].min())


@dataclass(frozen=True, eq=False)
class Draft:
    """A release that was made and verified, and that nobody has seen."""

    number: int
    table: Table = field(repr=False)
    showing: Showing = field(repr=False)
    refined: Refined = field(repr=False)
    data: pl.DataFrame = field(repr=False)
    verification: Verification

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
        )
        data = table.shown(showing.rows, refined.regions, refined.region_of, number)
        verification = verify_table(data, definition.plan, {})
        refuse_unverified(verification, data)
        return cls(number, table, showing, refined, data, verification)

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return self.table.frame.height

    @property
    def departed(self) -> int:
        """How many rows were shown before and are not any more, or show something else."""
        return self.table.comparison.departed + self.showing.withheld

    @cached_property
    def figures(self) -> Figures:
        """The release in figures."""
        definition, refined = self.table.definition, self.refined
        loss = region_loss(definition.axes, definition.weights, refined.regions, refined.region_of, rows=self.rows)
        return Figures(
            number=self.number,
            rows=self.rows,
            shown=self.data.height,
            held=self.rows - self.data.height,
            new=int((self.showing.arrivals == self.number).sum()),
            corrected=int(self.table.comparison.corrected.sum()),
            withdrawn=self.table.comparison.withdrawn,
            withheld=self.showing.withheld,
            regions=len(refined.regions),
            splits=len(refined.splits),
            waited=refined.waited,
            loss=loss,
            smallest_region=int(np.unique(refined.region_of, return_counts=True)[1].min()),
            smallest_arrival=smallest_arrival(refined.region_of, self.showing.arrivals),
        )

    @property
    def content_sha256(self) -> str:
        """The hash of what the release shows."""
        return content_sha256(self.data)

    def record(self) -> Record:
        """What the series has to remember of the table."""
        arrivals = np.full(self.rows, HELD, dtype=np.int64)
        arrivals[self.showing.rows] = self.showing.arrivals
        return Record(self.table.recognised, self.table.comparison.first_seen(self.number), arrivals)
