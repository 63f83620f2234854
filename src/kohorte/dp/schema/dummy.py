"""A synthetic table that fits the metadata, to try queries before anything is spent."""

from __future__ import annotations

import polars as pl

from kohorte.cohorts.draw import Dice
from kohorte.dp.numbers import is_whole
from kohorte.dp.schema.columns import Column, Datatype
from kohorte.dp.schema.metadata import QueryMetadata
from kohorte.errors import InputError

MOST_ROWS = 10_000_000
UNBOUNDED = 100
CARDINALITY = 10


def dummy_table(metadata: QueryMetadata, rows: int = 1_000, *, seed: int = 0) -> pl.DataFrame:
    """Return a table that fits the metadata, drawn evenly from bounds and values, the same for the same seed."""
    if not is_whole(rows) or not 1 <= rows <= MOST_ROWS:
        raise InputError(f"rows is a whole number from 1 to {MOST_ROWS:,}", code="query-dummy")
    if not is_whole(seed) or seed < 0:
        raise InputError("seed is a whole number of at least 0", code="query-dummy")
    dice = Dice(seed, rows)
    columns = {name: _drawn(name, column, dice) for name, column in metadata.columns.items()}
    if metadata.person_columns:
        people = pl.Series([f"person {row // metadata.max_contributions + 1}" for row in range(rows)])
        columns = dict.fromkeys(metadata.person_columns, people) | columns
    return pl.DataFrame(columns)


def _drawn(name: str, column: Column, dice: Dice) -> pl.Series:
    if column.values is not None:
        return pl.Series(list(column.values)).gather(pl.Series(dice.below(name, len(column.values))))
    if column.datatype is Datatype.BOOL:
        return pl.Series(dice.below(name, 2) == 1)
    if column.datatype is Datatype.TEXT:
        numbers = dice.below(name, column.cardinality or CARDINALITY).tolist()
        return pl.Series([f"{name} {number + 1}" for number in numbers])
    if not column.is_bounded:
        return pl.Series(dice.below(name, UNBOUNDED), dtype=pl.Int64 if column.datatype is Datatype.INT else pl.Float64)
    steps = dice.below(name, column.highest - column.lowest + 1) + column.lowest
    if column.datatype is Datatype.INT:
        return pl.Series(steps * int(column.unit))
    return pl.Series(steps * float(column.unit)).clip(column.min, column.max)
