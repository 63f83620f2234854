"""Tables of a full-domain series: every quasi-identifier at one level, and levels only ever go down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import polars as pl

from kohorte.data import Role
from kohorte.hierarchies import Builder
from kohorte.kernels.arrays import Integers
from kohorte.progress import ProgressCallback, Stage, tell
from kohorte.release.preparation import check_models
from kohorte.series.definition import Definition
from kohorte.series.domain.regions import OUTSIDE, Positions
from kohorte.series.drafting.growing_table import Draft, Fineness, GrowingTable, Replayed
from kohorte.series.drafting.level_search import Candidates
from kohorte.series.drafting.levels import Levels
from kohorte.series.memory.record import NEVER, Record
from kohorte.series.memory.state import State
from kohorte.series.splitting.group_check import persons_of
from kohorte.sources import EncodedTable, encode_rows


@dataclass(frozen=True, eq=False)
class LevelTable(GrowingTable):
    """A table whose rows are generalized by levels; the positions of a row are the codes of its values."""

    encoded: EncodedTable = field(repr=False)

    @classmethod
    def read(cls, definition: Definition, frame: pl.DataFrame, record: Record) -> LevelTable:
        """Check a table against plan, hierarchies and record; refuse values that a hierarchy does not contain."""
        frame, recognised, comparison = definition.compared(frame, record)
        plan = definition.plan
        sensitive = {name: plan.attributes[name].hierarchy for name in plan.counted_attributes}
        encoded = _encoded(definition, frame, sensitive)
        persons = persons_of(frame, plan)
        if persons is not None:
            encoded = replace(encoded, persons=persons.with_domains(encoded.sensitive))
        return cls(definition, frame, _positions(encoded), recognised, comparison, encoded)

    def replay(self, state: State) -> Iterator[Replayed]:
        """All releases, one after another."""
        levels = Levels.top(self.encoded.columns)
        for entry in state.releases:
            before, levels = levels, Levels.named(self.encoded.columns, entry.levels or {})
            rows = self.rows_of(entry.number)
            yield Replayed(
                levels,
                levels.finer_than(before),
                partial(self.data, rows, levels, entry.number),
                partial(self.fineness, levels, rows, entry.rows),
                before=partial(self.fineness, before, rows, entry.rows),
            )

    def draft(self, state: State, progress: ProgressCallback | None = None) -> Draft:
        """Choose the best admissible node below the last one and the rows that are shown, and verify the result.

        If there is no such node, the last one is kept and newcomers are held back. If the rows that were shown do not
        satisfy the models without them either, the reason is raised.
        """
        plan, number, comparison = self.definition.plan, state.number, self.comparison
        check_models(plan, self.encoded.domains)
        arrivals = np.where(comparison.before, comparison.arrivals, number) if self.definition.by_arrival else None
        encoded = replace(self.encoded, included=self.encoded.included & (comparison.arrivals != NEVER))
        last = levels = self.last(state)
        tell(progress, Stage.SEARCHING, "for finer levels")
        best = Candidates(encoded, plan, levels.node, comparison.before, arrivals).best(progress)
        if best is not None:
            levels = replace(levels, node=best.node[: len(levels.node)])
        tell(progress, Stage.CHECKING, "which rows can be shown")
        shown = self.rows_to_show(levels, number)
        tell(progress, Stage.VERIFYING, "the release")
        data = self.data(shown.rows, levels, number)
        return Draft(
            number,
            self,
            shown,
            data,
            generalization=levels,
            region_of=shown.region_of,
            splits=(),
            fineness=self.fineness(levels, shown.rows, self.frame.height),
            before=self.fineness(last, shown.rows, self.frame.height),
        )

    def last(self, state: State) -> Levels:
        """The levels of the last release; before the first, the highest."""
        columns = self.encoded.columns
        return Levels.top(columns) if state.last is None else Levels.named(columns, state.last.levels or {})

    def data(self, rows: Integers, levels: Levels, number: int) -> pl.DataFrame:
        """These rows as a release of this number shows them, without identifying columns."""
        rows = rows[self.order(rows, number)]
        columns = [
            column.generalized(level, column.codes[rows])
            for column, level in zip(levels.columns, levels.node, strict=True)
        ]
        return self.frame[rows].drop(self.definition.plan.names(Role.IDENTIFYING)).with_columns(columns)

    def fineness(self, levels: Levels, shown: Integers, rows: int) -> Fineness:
        """How fine levels are for the rows that are shown; of all `rows`, those held back count 1.

        Some hierarchies count the values of the data to tell how much a label leaves open. Here these are the values
        of the rows that are shown: neither rows that are held back nor later ones change the loss.
        """
        domain = _encoded(self.definition, self.frame[shown])
        lost = Levels(domain.columns, levels.node).loss(_positions(domain), self.definition.weights)
        classes = len(np.unique(levels.locate(self.positions[shown])))
        return Fineness(classes, float(lost.sum() + rows - len(lost)) / rows, levels=levels.names)


def _encoded(
    definition: Definition, frame: pl.DataFrame, sensitive: Mapping[str, Builder | None] | None = None
) -> EncodedTable:
    return encode_rows(
        frame,
        {ladder.name: ladder.builder for ladder in definition.ladders},
        missing=definition.plan.missing,
        sensitive=sensitive or {},
        finest=definition.plan.minimum_levels,
    )


def _positions(encoded: EncodedTable) -> Positions:
    """The codes of all rows; OUTSIDE in rows that are left out because they lack a value."""
    positions = np.stack([column.codes for column in encoded.columns], axis=1).astype(np.int64)
    positions[~encoded.included] = OUTSIDE
    return positions
