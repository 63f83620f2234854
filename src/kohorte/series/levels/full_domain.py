"""The next release of a full-domain series: every quasi-identifier at one level, and levels only ever go down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import polars as pl

from kohorte.data import Role
from kohorte.engines import EncodedTable, encode
from kohorte.release.preparation import check_models
from kohorte.release.verification import verify_table
from kohorte.series.definition import Definition
from kohorte.series.domain.regions import OUTSIDE, Places, Split
from kohorte.series.growing import Drafted, Fineness, GrowingTable, Numbers, Replayed, refuse_unverified
from kohorte.series.levels.level_search import Candidates
from kohorte.series.levels.levels import Levels
from kohorte.series.memory.record import NEVER, Record
from kohorte.series.memory.state import Entry, State
from kohorte.series.showing import Question


@dataclass(frozen=True, eq=False)
class LeveledTable(GrowingTable):
    """A table whose rows are generalized by levels; the places of a row are the codes of its values."""

    encoded: EncodedTable = field(repr=False)

    @classmethod
    def read(cls, definition: Definition, frame: pl.DataFrame, record: Record) -> LeveledTable:
        """Check a table against plan, hierarchies and record; values that a hierarchy does not know are refused."""
        frame, recognised, comparison = definition.compared(frame, record)
        plan = definition.plan
        encoded = encode(
            frame,
            {ladder.name: ladder.builder for ladder in definition.ladders},
            missing=plan.missing,
            sensitive={name: plan.attributes[name].hierarchy for name in plan.counted_attributes},
            finest=plan.minimum_levels,
        )
        return cls(definition, frame, _places(encoded), recognised, comparison, encoded)

    def replay(self, state: State) -> Iterator[Replayed]:
        """All releases, one after another."""
        levels = Levels.top(self.encoded.columns)
        for entry in state.releases:
            before, levels = levels, Levels.named(self.encoded.columns, entry.levels or {})
            again = partial(self.shown, self.rows_of(entry.number), levels, entry.number)
            yield Replayed(levels, levels.finer_than(before), again, partial(self._fineness, levels, entry))

    def _fineness(self, levels: Levels, entry: Entry) -> Fineness:
        places = self.places[self.rows_of(entry.number)]
        return fineness_of(levels, places, self.definition.weights, rows=entry.rows)

    def draft(self, state: State) -> LeveledDraft:
        """Choose the levels and the rows that are shown, and verify the result."""
        return LeveledDraft.make(self, state)

    def last(self, state: State) -> Levels:
        """The levels of the last release; before the first, the highest."""
        columns = self.encoded.columns
        return Levels.top(columns) if state.last is None else Levels.named(columns, state.last.levels or {})

    def shown(self, rows: Numbers, levels: Levels, number: int) -> pl.DataFrame:
        """These rows as a release of this number shows them."""
        rows = rows[self.order(rows, number)]
        columns = [
            column.generalized(level, column.codes[rows])
            for column, level in zip(levels.columns, levels.node, strict=True)
        ]
        return self.frame[rows].drop(self.definition.plan.names(Role.IDENTIFYING)).with_columns(columns)


@dataclass(frozen=True, eq=False)
class LeveledDraft(Drafted):
    """A release at one node of the lattice."""

    levels: Levels
    class_of: Numbers = field(repr=False)

    @classmethod
    def make(cls, table: LeveledTable, state: State) -> LeveledDraft:
        """Choose the best admissible node below the last one.

        Where there is none, the last is kept; then newcomers are held back if rows that were shown satisfy the models
        without them. If not even that is possible, the reason is raised.
        """
        definition, number, comparison = table.definition, state.number, table.comparison
        check_models(definition.plan, table.encoded.domains)
        before = comparison.before
        arrivals = np.where(before, comparison.arrivals, number)
        levels = table.last(state)
        encoded = replace(table.encoded, included=table.encoded.included & (comparison.arrivals != NEVER))
        candidates = Candidates(
            encoded, definition.plan, levels.node, before, arrivals if definition.by_arrival else None
        )
        best = candidates.best()
        if best is not None:
            levels = replace(levels, node=best.node[: len(levels.node)])
        showing = Question(
            table.frame,
            definition.plan,
            table.places,
            levels,
            comparison.arrivals,
            number=number,
            by_arrival=definition.by_arrival,
            departed=comparison.departed > 0,
        ).answer()
        data = table.shown(showing.rows, levels, number)
        verification = verify_table(data, definition.plan, {})
        refuse_unverified(verification, data)
        class_of = levels.locate(table.places[showing.rows])
        return cls(number, table, showing, data, verification, levels, class_of)

    @property
    def region_of(self) -> Numbers:
        """The class of every row that is shown."""
        return self.class_of

    @property
    def splits(self) -> tuple[Split, ...]:
        """None: levels take the place of splits."""
        return ()

    def fineness(self) -> Fineness:
        """How fine the release is; rows held back count 1."""
        places = self.table.places[self.showing.rows]
        return fineness_of(self.levels, places, self.table.definition.weights, rows=self.rows)


def fineness_of(levels: Levels, places: Places, weights: Sequence[float], *, rows: int) -> Fineness:
    """How fine levels are for rows at these places; of all rows, those that are held back count 1."""
    lost = levels.loss(places, weights)
    classes = len(np.unique(levels.locate(places)))
    return Fineness(classes, float(lost.sum() + rows - len(lost)) / rows, levels=levels.names)


def _places(encoded: EncodedTable) -> Places:
    """The codes of all rows; OUTSIDE in those that take no part because they lack a value."""
    places = np.stack([column.codes for column in encoded.columns], axis=1).astype(np.int64)
    places[~encoded.included] = OUTSIDE
    return places
