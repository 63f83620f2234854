"""A growing table beside what its series remembers, and the next release of it; the kinds of series add the rest."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohorte.errors import InternalError
from kohorte.release.verification import Verification
from kohorte.series.cover import Cover
from kohorte.series.definition import Definition
from kohorte.series.domain.regions import Places, Split
from kohorte.series.memory.fingerprints import Recognised, shuffled
from kohorte.series.memory.record import HELD, NEVER, Comparison, Record
from kohorte.series.memory.state import State
from kohorte.series.output import content_sha256
from kohorte.series.showing import Showing

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Replayed:
    """A release as its entry in the state and the table give it; `finer`: than the one before, or the same."""

    cover: Cover
    finer: bool
    data: Callable[[], pl.DataFrame] = field(repr=False)
    fineness: Callable[[], Fineness] = field(repr=False)


@dataclass(frozen=True, eq=False)
class GrowingTable(ABC):
    """A table: its rows, their places, their fingerprints, and which are known."""

    definition: Definition
    frame: pl.DataFrame = field(repr=False)
    places: Places = field(repr=False)
    recognised: Recognised = field(repr=False)
    comparison: Comparison = field(repr=False)

    @abstractmethod
    def replay(self, state: State) -> Iterator[Replayed]:
        """All releases, one after another."""

    @abstractmethod
    def draft(self, state: State) -> Drafted:
        """Choose the rows that the next release shows and how fine it is, and verify the result."""

    def replayed(self, state: State, number: int) -> Replayed:
        """One release."""
        return next(islice(self.replay(state), number - 1, None))

    def rows_of(self, number: int) -> Numbers:
        """The rows that an earlier release showed."""
        arrivals = self.comparison.arrivals
        return np.flatnonzero((arrivals > HELD) & (arrivals <= number))

    def order(self, rows: Numbers, number: int) -> Numbers:
        """The order in which a release of this number shows these rows."""
        if self.definition.plan.order == "shuffled":
            return shuffled(self.recognised.contents[rows], number, key=self.definition.key)
        return np.arange(len(rows))


@dataclass(frozen=True)
class Figures:
    """A release in figures.

    `held` rows are held back, `new` ones shown for the first time, `withheld` ones were shown before and have to be
    held back because others were corrected or withdrawn. `waited` counts regions that could be split, but not towards
    the target. `smallest_arrival` is the fewest rows of a region that arrived together: whom one finds who knows when
    somebody came. `levels` are those of a full-domain series, whose regions are the classes that are shown.
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
    levels: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Fineness:
    """How fine a release is."""

    regions: int
    loss: float
    waited: int = 0
    levels: Mapping[str, int] | None = None


@dataclass(frozen=True, eq=False)
class Drafted(ABC):
    """A release that was made and verified, and that nobody has seen."""

    number: int
    table: GrowingTable = field(repr=False)
    showing: Showing = field(repr=False)
    data: pl.DataFrame = field(repr=False)
    verification: Verification

    @property
    @abstractmethod
    def region_of(self) -> Numbers:
        """The region, or class, of every row that is shown."""

    @property
    @abstractmethod
    def splits(self) -> tuple[Split, ...]:
        """The splits that the release makes."""

    @abstractmethod
    def fineness(self) -> Fineness:
        """How fine the release is."""

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
        return Figures(
            number=self.number,
            rows=self.rows,
            shown=self.data.height,
            held=self.rows - self.data.height,
            new=int((self.showing.arrivals == self.number).sum()),
            corrected=int(self.table.comparison.corrected.sum()),
            withdrawn=self.table.comparison.withdrawn,
            withheld=self.showing.withheld,
            splits=len(self.splits),
            smallest_region=int(np.unique(self.region_of, return_counts=True)[1].min()),
            smallest_arrival=smallest_arrival(self.region_of, self.showing.arrivals),
            **vars(self.fineness()),
        )

    @property
    def content_sha256(self) -> str:
        """The hash of what the release shows."""
        return content_sha256(self.data)

    def record(self) -> Record:
        """What the series has to remember of the table."""
        comparison = self.table.comparison
        gone = (comparison.arrivals != HELD) if self.table.definition.by_arrival else comparison.arrivals == NEVER
        arrivals = np.where(gone, NEVER, HELD)
        arrivals[self.showing.rows] = self.showing.arrivals
        return Record(self.table.recognised, arrivals)


def refuse_unverified(verification: Verification, data: pl.DataFrame) -> None:
    """Refuse a release that fails its verification, or has not the rows that were made: that is a bug."""
    if not verification.satisfied or verification.rows != data.height:
        raise InternalError(
            "the release does not pass its own verification and was withheld; please report this", code="not-verified"
        )


def smallest_arrival(region_of: Numbers, arrivals: Numbers) -> int:
    """The fewest rows of a region that arrived together."""
    return int(np.unique(region_of * (int(arrivals.max()) + 1) + arrivals, return_counts=True)[1].min())
