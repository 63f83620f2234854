"""A growing table beside what its series remembers, and the next release of it: what both kinds of series share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import islice

import numpy as np
import polars as pl

from kohorte.data import as_text
from kohorte.groups import different_people
from kohorte.kernels.arrays import Integers
from kohorte.plans.plan import Plan
from kohorte.progress import ProgressCallback
from kohorte.release.shown_people import ShownPeople
from kohorte.release.verification import Verification, refuse_failed, verify_source
from kohorte.series.definition import Definition
from kohorte.series.domain.regions import Generalization, Positions, Split
from kohorte.series.drafting.rows_to_show import Selection, ShownRows
from kohorte.series.memory.fingerprints import Recognised, content_sha256, shuffled
from kohorte.series.memory.record import HELD, NEVER, Comparison, Record
from kohorte.series.memory.state import State
from kohorte.series.splitting.group_check import persons_of
from kohorte.sources import FrameSource, Persons, TableSource


@dataclass(frozen=True, eq=False)
class Replayed:
    """A release made again from its entry in the state and the table; `finer`: than the one before, or equal to it.

    `fineness` is that of its rows, `before` that of the same rows as the release before would have shown them.
    """

    generalization: Generalization
    finer: bool
    data: Callable[[], pl.DataFrame] = field(repr=False)
    fineness: Callable[[], Fineness] = field(repr=False)
    before: Callable[[], Fineness] = field(repr=False)


@dataclass(frozen=True, eq=False)
class GrowingTable(ABC):
    """The rows of a table, their positions and fingerprints, and how they compare with the record."""

    definition: Definition
    frame: pl.DataFrame = field(repr=False)
    positions: Positions = field(repr=False)
    recognised: Recognised = field(repr=False)
    comparison: Comparison = field(repr=False)

    @abstractmethod
    def replay(self, state: State) -> Iterator[Replayed]:
        """All releases, one after another."""

    @abstractmethod
    def draft(self, state: State, progress: ProgressCallback | None = None) -> Draft:
        """Choose the rows that the next release shows and how fine it is, and verify the result."""

    def replayed(self, state: State, number: int) -> Replayed:
        """One release."""
        return next(islice(self.replay(state), number - 1, None))

    def rows_of(self, number: int) -> Integers:
        """The rows that an earlier release showed."""
        arrivals = self.comparison.arrivals
        return np.flatnonzero((arrivals > HELD) & (arrivals <= number))

    @cached_property
    def persons(self) -> Persons | None:
        """Whom each row is about; None if rows are counted."""
        return persons_of(self.frame, self.definition.plan)

    def sizes(self, group_of: Integers, rows: Integers) -> Integers:
        """The size of each group of these rows, as the models count it: in people or in rows; no group is empty."""
        groups, numbers = np.unique(group_of, return_inverse=True)
        numbers = numbers.reshape(-1)
        if self.persons is None:
            return np.bincount(numbers)
        return different_people(numbers, self.persons.codes[rows], len(groups))

    def people_of(self, rows: Integers, data: pl.DataFrame, number: int) -> ShownPeople | None:
        """Whom the rows of a release are about, for its verification; `data` are the rows as it shows them."""
        plan = self.definition.plan
        if not plan.unit.counts_people:
            return None
        shown = self.frame[rows[self.order(rows, number)]]  # in the order of the release
        names = dict.fromkeys((*plan.quasi_identifiers, *plan.histograms, *plan.unit.needed_columns))
        tuples = FrameSource(shown, merged=False).distinct(list(names))
        cells = pl.DataFrame([as_text(data[name]) for name in plan.quasi_identifiers])
        return ShownPeople.of(tuples, cells, plan)

    def order(self, rows: Integers, number: int) -> Integers:
        """The order in which a release of this number shows these rows."""
        if self.definition.plan.order == "shuffled":
            return shuffled(self.recognised.contents[rows], number, key=self.definition.key)
        return np.arange(len(rows))

    def rows_to_show(self, generalization: Generalization, number: int) -> ShownRows:
        """Choose the rows that the release of this number shows."""
        return Selection(
            self.frame,
            self.definition.plan,
            self.positions,
            generalization,
            self.comparison.arrivals,
            number=number,
            by_arrival=self.definition.by_arrival,
            departed=self.comparison.departed > 0,
        ).rows_to_show()


@dataclass(frozen=True)
class Figures:
    """A release in figures.

    `held` rows are held back, `new` ones shown for the first time, `withheld` ones were shown before and have to be
    held back because others were corrected or withdrawn. `waited` counts regions that could be split, but not towards
    the target. `smallest_arrival` is the fewest rows of a region that arrived together: what an attacker is left with
    who knows when a person came. `levels` are those of a full-domain series, whose regions are the classes shown.
    `loss_before` is the loss of the same rows in the regions, or at the levels, of the release before (of the first
    release: before anything is split, or at the highest levels), so that it can be compared with `loss`.

    If people are counted, `people` is how many of them the release shows, and `smallest_region` and `smallest_arrival`
    count people. `few` then names the counts of rows behind which there may be fewer people than the models allow.
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
    loss_before: float
    levels: Mapping[str, int] | None = None
    people: int | None = None
    few: frozenset[str] = frozenset()

    def told(self) -> dict[str, object]:
        """The figures as plain data."""
        return {one.name: getattr(self, one.name) for one in fields(Figures) if one.name != "few"}


@dataclass(frozen=True)
class Fineness:
    """How fine the rows that a release shows are. All of it depends on these rows alone, not on any others.

    So the figures of a release stay the same when the table grows.
    """

    regions: int
    loss: float
    waited: int = 0
    levels: Mapping[str, int] | None = None


@dataclass(frozen=True, eq=False)
class Draft:
    """A release that was made, and that nobody has seen yet; its figures are those of a verified one.

    `region_of` is the region, or class, of every row that is shown; a full-domain series has no splits.
    """

    number: int
    table: GrowingTable = field(repr=False)
    shown: ShownRows = field(repr=False)
    data: pl.DataFrame = field(repr=False)
    generalization: Generalization = field(repr=False)
    region_of: Integers = field(repr=False)
    splits: tuple[Split, ...] = field(repr=False)
    fineness: Fineness
    before: Fineness  # the same rows in the regions, or at the levels, of the release before

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return self.table.frame.height

    @property
    def departed(self) -> int:
        """How many rows that were shown before are no longer shown, or show other values."""
        return self.table.comparison.departed + self.shown.withheld

    @cached_property
    def figures(self) -> Figures:
        """The release in figures."""
        return Figures(
            number=self.number,
            rows=self.rows,
            shown=self.data.height,
            held=self.rows - self.data.height,
            new=int((self.shown.arrivals == self.number).sum()),
            corrected=int(self.table.comparison.corrected.sum()),
            withdrawn=self.table.comparison.withdrawn,
            withheld=self.shown.withheld,
            splits=len(self.splits),
            smallest_region=int(self.table.sizes(self.region_of, self.shown.rows).min()),
            smallest_arrival=smallest_arrival(self.table, self.region_of, self.shown.arrivals, self.shown.rows),
            loss_before=self.before.loss,
            people=self.verification.people,
            few=self._few(),
            **vars(self.fineness),
        )

    def _few(self) -> frozenset[str]:
        """The counts of rows that may be about fewer people than the models allow; who withdrew is not known."""
        persons = self.table.persons
        if persons is None:
            return frozenset()
        held = np.ones(self.rows, dtype=bool)
        held[self.shown.rows] = False
        behind = {
            "held": persons.codes[held],
            "new": persons.codes[self.shown.rows[self.shown.arrivals == self.number]],
            "corrected": persons.codes[self.table.comparison.corrected],
        }
        least = self.table.definition.plan.smallest_class
        return frozenset(("withdrawn", "withheld")) | {
            name for name, whom in behind.items() if len(np.unique(whom)) < least
        }

    @cached_property
    def people(self) -> ShownPeople | None:
        """Whom the rows of the release are about, for its verification."""
        return self.table.people_of(self.shown.rows, self.data, self.number)

    @cached_property
    def verification(self) -> Verification:
        """The verification of the rows; without it there are no figures."""
        plan = self.table.definition.plan
        return verified(FrameSource(self.data), plan, rows=self.data.height, people=self.people)

    @property
    def content_sha256(self) -> str:
        """The hash of what the release shows."""
        return content_sha256(self.data)

    def record(self) -> Record:
        """The record of the table for the next release."""
        comparison = self.table.comparison
        gone = (comparison.arrivals != HELD) if self.table.definition.by_arrival else comparison.arrivals == NEVER
        arrivals = np.where(gone, NEVER, HELD)
        arrivals[self.shown.rows] = self.shown.arrivals
        return Record(self.table.recognised, arrivals)


def verified(table: TableSource, plan: Plan, *, rows: int, people: ShownPeople | None) -> Verification:
    """Verify a release from its rows, independently of how it was made; a failure, or other rows, is a bug."""
    verification = verify_source(table, plan, {}, people=people, all_rows=True)
    refuse_failed(verification, plan, same=verification.rows == rows)
    return verification


def smallest_arrival(table: GrowingTable, region_of: Integers, arrivals: Integers, rows: Integers) -> int:
    """The fewest rows of a region that arrived together, or the fewest people that these rows are about."""
    return int(table.sizes(region_of * (int(arrivals.max()) + 1) + arrivals, rows).min())
