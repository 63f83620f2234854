"""A cache of typed tables, so that a query does not decrypt, read and convert its table again."""

from __future__ import annotations

import functools
import threading
import weakref
from typing import Any

from sqlalchemy import Row

from kohorte.disclosures.exits.noise import AnswerRecording
from kohorte.dp import Budget, Column, QueryMetadata, dummy_table, query, typed_table
from kohorte.dp.schema.columns import Datatype
from kohorte.dp.schema.typed import TypedTable
from kohorte.errors import InputError
from kohorte.in_words import count
from kohorte.service.context import Service
from kohorte.service.datasets import tables
from kohorte.service.datasets.table_cache import TableCache
from kohorte.service.storage.database import Database

_caches: weakref.WeakKeyDictionary[Database, TableCache[TypedTable]] = weakref.WeakKeyDictionary()
_caches_lock = threading.Lock()


def cache_of(service: Service) -> TableCache[TypedTable]:
    """Return the table cache of an opened service."""
    with _caches_lock:
        return _caches.setdefault(service.database, TableCache(service.settings.table_cache))


@functools.cache
def warm_up() -> None:
    """Load the libraries that answer queries, once, before the first query needs them."""
    made_up = QueryMetadata("made_up", {"age": Column(Datatype.INT, min=0, max=1)}, Budget(1))
    query(dummy_table(made_up, 1), "SELECT AVG(age) FROM made_up", made_up, epsilon=1)


def typed(
    service: Service, dataset: Row[Any], metadata: QueryMetadata, memory: AnswerRecording | None = None
) -> TypedTable:
    """Return the table of a dataset with the types of the metadata, ready for queries.

    With `memory` it is without the people who have withdrawn.
    """

    def load() -> TypedTable:
        warm_up()
        table = tables.load(service, dataset)
        return typed_table(table if memory is None else memory.without_withdrawn(table, metadata), metadata)

    state = "" if memory is None else f" {memory.ledger.withdrawals}"
    return cache_of(service).get((str(dataset.table_sha256), metadata.sha256 + state), load)


def forget(service: Service, table_sha256: str | None) -> None:
    """Remove a dataset's table from memory."""
    if table_sha256 is not None:
        cache_of(service).forget(table_sha256)


def unreadable_cells(table: TypedTable, dataset: Row[Any]) -> tuple[str, ...]:
    """Return a warning, for stewards, for each column with cells of another datatype; refuse one without others."""
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
