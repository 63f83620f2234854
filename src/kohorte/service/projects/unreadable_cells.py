"""Find cells of a table that do not have the datatype given in the metadata of a project; for stewards only."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row

from kohorte.dp.schema.typed import TypedTable
from kohorte.errors import InputError
from kohorte.in_words import count


def unreadable_cells(table: TypedTable, dataset: Row[Any]) -> tuple[str, ...]:
    """Return a warning for each column with cells of another datatype; refuse a column without any valid cell."""
    missing = {column["name"]: int(column["missing"]) for column in dataset.columns}
    found = []
    for name, alias in table.aliases.items():
        empty = int(table.frame[alias].null_count())
        unreadable = empty - missing[name]
        kind = table.columns[name].datatype
        if unreadable and empty == table.frame.height:
            raise InputError(f"the column {name!r} has no cell that is of type {kind}", code="query-table")
        if unreadable:
            found.append(f"{name}: {count(unreadable, 'cell')} not of type {kind}, treated as missing")
    return tuple(found)
