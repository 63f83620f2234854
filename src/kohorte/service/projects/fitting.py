"""Whether the cells of a table are what the metadata of a project say; for stewards, who know the table."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row

from kohorte.data.columns import counted
from kohorte.dp.typed import TypedTable
from kohorte.errors import InputError


def unreadable_cells(table: TypedTable, dataset: Row[Any]) -> tuple[str, ...]:
    """Return a warning for each column with cells that are not of its datatype, and refuse one with no other cells."""
    missing = {column["name"]: int(column["missing"]) for column in dataset.columns}
    found = []
    for name, place in table.places.items():
        empty = int(table.frame[place].null_count())
        unreadable = empty - missing[name]
        kind = table.columns[name].datatype
        if unreadable and empty == table.frame.height:
            raise InputError(f"the column {name!r} has no cell that is of type {kind}", code="query-table")
        if unreadable:
            found.append(f"{name}: {counted(unreadable, 'cell')} not of type {kind}, taken for missing")
    return tuple(found)
