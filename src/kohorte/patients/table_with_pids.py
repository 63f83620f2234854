"""The table that comes back from a registration: PIDs in place of identity data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from kohorte.errors import InputError
from kohorte.patients.list.registration import Registered

PID, OUTCOME, TEMP_ID = "pid", "registered", "temp_id"


def refuse_taken_names(frame: pl.DataFrame, columns: Mapping[str, str]) -> None:
    """Refuse a table whose other columns have the names that the registration adds."""
    for name in (PID, OUTCOME, TEMP_ID):
        if name in frame.columns and name not in columns.values():
            raise InputError(
                f"the table has a column {name!r} already; rename it, because the registration adds one",
                code="patients-column",
            )


def table_with_pids(frame: pl.DataFrame, columns: Mapping[str, str], rows: Sequence[Registered]) -> pl.DataFrame:
    """Return the table with PID and outcome first, and without the columns that say who a person is."""
    return table_under(PID, [row.pid for row in rows], frame, columns, [row.outcome.value for row in rows])


def table_under(
    name: str,
    identifiers: Sequence[str | None],
    frame: pl.DataFrame,
    columns: Mapping[str, str],
    outcomes: Sequence[str],
) -> pl.DataFrame:
    """Return the table with any identifiers in place of identity data, under a name, and what became of each row.

    Rows without an identifier are left out: nobody could say whose they are, and nobody could withdraw them.
    """
    added = [
        pl.Series(name, identifiers, dtype=pl.String),
        pl.Series(OUTCOME, outcomes, dtype=pl.String),
    ]
    others = [name for name in frame.columns if name not in columns.values()]
    return pl.DataFrame([*added, *frame.select(others).get_columns()]).filter(pl.col(name).is_not_null())
