"""Raw tables that stay in memory for a while, because a steward tries many plans on one table."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import polars as pl
from sqlalchemy import Row

from kohorte.release import PreparedTable
from kohorte.service.context import Service
from kohorte.service.datasets import kept_results, tables
from kohorte.service.datasets.memory_room import READING, MemoryRoom
from kohorte.service.datasets.returned_memory import return_memory
from kohorte.service.datasets.table_cache import TableCache
from kohorte.service.storage.database import Database

_caches: weakref.WeakKeyDictionary[Database, TableCache[PreparedTable]] = weakref.WeakKeyDictionary()
_rooms: weakref.WeakKeyDictionary[Database, MemoryRoom] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


@contextmanager
def working(service: Service, dataset: Row[Any]) -> Iterator[PreparedTable]:
    """Return the table of a dataset for work that needs much memory: all such work takes at most `preview_memory`.

    Afterwards the process has at most `preview_cache` bytes of tables, and what it no longer needs is given back.
    """
    with room(service).taking(_cells(dataset)):
        try:
            yield _prepared(service, dataset)
        finally:
            if _cache(service).shrink():
                return_memory()


def frame(service: Service, dataset: Row[Any]) -> pl.DataFrame:
    """Return the table of a dataset; all kept tables have at most `preview_cache` bytes."""
    with room(service).taking(_cells(dataset), READING):
        return _prepared(service, dataset).frame


def _prepared(service: Service, dataset: Row[Any]) -> PreparedTable:
    """The table of a dataset, with what plans that were tried on it have found.

    Its room is taken before: a thread that waits for room must not keep others waiting for the table that it loads.
    """
    key = (str(dataset.table_sha256), "")
    return _cache(service).get(key, lambda: PreparedTable(tables.load(service, dataset)))


def forget(service: Service, table_sha256: str | None) -> None:
    """Remove the table of a deleted dataset, and what was computed from it, from the memory of this process."""
    if table_sha256 is not None:
        _cache(service).forget(table_sha256)
        kept_results.forget(service, table_sha256)


def kept_bytes(service: Service) -> int:
    """Return the size of the kept tables."""
    return _cache(service).bytes


def _cache(service: Service) -> TableCache[PreparedTable]:
    with _lock:
        most = service.settings.preview_cache
        return _caches.setdefault(service.database, TableCache(most, _held, PreparedTable.forget_counted))


def room(service: Service) -> MemoryRoom:
    """Return the room for work on whole tables in this process."""
    with _lock:
        return _rooms.setdefault(service.database, MemoryRoom(service.settings.preview_memory))


def _cells(dataset: Row[Any]) -> int:
    return (dataset.rows or 0) * len(dataset.columns or ())


def _held(table: PreparedTable) -> int:
    return table.held_bytes
