"""The rows that a request is about, and the whole table that they are taken from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from kohorte.errors import InputError
from kohorte.exchange.checking.shown_labels import people_with
from kohorte.kernels.arrays import Bools, Integers


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of the base set: `frame` has the attributes of the request and the columns of the person.

    `people` are the indices of the ledger, for each row, and `at` is where it is in `whole`, the whole table with the
    same columns; `table` are the indices of its people, row by row. `condition` has the columns that the condition
    looks at, if they are others.
    `cells` and `whole_cells` number the cells into which the condition divides the rows by what others may know.
    `facts` number what is true of each row of the whole table (-1: nothing) in each sensitive attribute that the
    condition looks at: its value, and whether a comparison holds.
    `told` flags, if these are several attributes, the rows of the whole table of which the condition tells each.
    """

    frame: pl.DataFrame = field(repr=False)
    people: Integers = field(repr=False)
    at: Integers = field(repr=False)
    whole: pl.DataFrame = field(repr=False)
    table: Integers = field(repr=False)
    cells: Integers = field(repr=False)
    whole_cells: Integers = field(repr=False)
    facts: Mapping[str, tuple[Integers, ...]] = field(default_factory=dict, repr=False)
    told: Mapping[str, Bools] = field(default_factory=dict, repr=False)
    condition: pl.DataFrame = field(default_factory=pl.DataFrame, repr=False)

    def only(self, kept: Bools) -> Rows:
        """Some of the rows."""
        return replace(
            self,
            frame=self.frame.filter(pl.Series(kept)),
            people=self.people[kept],
            at=self.at[kept],
            cells=self.cells[kept],
            condition=pl.DataFrame(),
        )

    def with_condition(self) -> pl.DataFrame:
        """The rows of the base set with the columns that the condition looks at."""
        return self.frame.hstack(self.condition.get_columns())

    @property
    def count(self) -> int:
        """The number of people."""
        return people_with(np.ones(len(self.people), dtype=bool), self.people)

    def without(self, names: list[str]) -> Rows:
        """The rows without some columns."""
        return replace(self, frame=self.frame.drop(names), whole=self.whole.drop(names))


def selected(
    frame: pl.DataFrame,
    kept: Bools,
    names: tuple[str, ...],
    ledger_people: Integers,
    *,
    cells: Integers,
    facts: Mapping[str, tuple[Integers, ...]],
    told: Mapping[str, Bools],
    condition: tuple[str, ...] = (),
) -> Rows:
    """The rows that satisfy a condition, with the columns that a draft needs."""
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise InputError(f"the table lacks the column {missing[0]!r}", code="exchange-request-column")
    whole = frame.select(names)
    others = [frame[name].filter(pl.Series(kept)) for name in condition if name not in names]
    return Rows(
        frame=whole.filter(pl.Series(kept)),
        people=ledger_people[kept],
        at=np.flatnonzero(kept),
        whole=whole,
        table=ledger_people,
        cells=cells[kept],
        whole_cells=cells,
        facts=facts,
        told=told,
        condition=pl.DataFrame(others),
    )
