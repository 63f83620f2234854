"""A cache of typed tables, so that a query does not decrypt, read and convert its table again."""

from __future__ import annotations

import functools
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeAlias

from sqlalchemy import Row

from kohorte.disclosures.exits.noise import AnswerRecording
from kohorte.dp import Budget, Column, QueryMetadata, dummy_table, query, typed_table
from kohorte.dp.schema.columns import Datatype
from kohorte.dp.schema.typed import TypedTable
from kohorte.service.context import Service
from kohorte.service.datasets import tables
from kohorte.service.storage.database import Database

Key: TypeAlias = tuple[str, str]
"""The hashes of a dataset's table and of the metadata that it is typed for."""


class TableCache:
    """The most recently used tables up to a number of bytes; each is loaded by one thread at a time."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, TypedTable] = OrderedDict()
        self._loading: dict[Key, Future[TypedTable]] = {}

    @property
    def bytes(self) -> int:
        """The size of the cached tables in bytes."""
        with self._lock:
            return sum(_size(table) for table in self._kept.values())

    def get(self, key: Key, load: Callable[[], TypedTable]) -> TypedTable:
        """Return a cached table, or load it; further callers wait for a table that is being loaded."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            waited = self._loading.get(key)
            mine = self._loading.setdefault(key, Future())
        if waited is not None:
            return waited.result()
        return self._load(key, load, mine)

    def forget(self, table_sha256: str) -> None:
        """Remove a dataset's table from the cache."""
        with self._lock:
            for key in [key for key in (*self._kept, *self._loading) if key[0] == table_sha256]:
                self._kept.pop(key, None)
                self._loading.pop(key, None)

    def _load(self, key: Key, load: Callable[[], TypedTable], future: Future[TypedTable]) -> TypedTable:
        try:
            table = load()
        except BaseException as error:
            self._done(key, future)
            future.set_exception(error)
            raise
        with self._lock:
            if self._loading.get(key) is future:  # otherwise `forget` was called meanwhile
                self._kept[key] = table
                self._shrink()
        self._done(key, future)
        future.set_result(table)
        return table

    def _done(self, key: Key, future: Future[TypedTable]) -> None:
        with self._lock:
            if self._loading.get(key) is future:
                del self._loading[key]

    def _shrink(self) -> None:
        total = sum(_size(table) for table in self._kept.values())
        while total > self._most and self._kept:
            _, oldest = self._kept.popitem(last=False)
            total -= _size(oldest)


def _size(table: TypedTable) -> int:
    return int(table.frame.estimated_size())


_caches: weakref.WeakKeyDictionary[Database, TableCache] = weakref.WeakKeyDictionary()
_caches_lock = threading.Lock()


def cache_of(service: Service) -> TableCache:
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
