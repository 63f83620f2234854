"""Raw tables that stay in memory for a while, because a steward tries many plans on one table."""

from __future__ import annotations

import threading
import weakref
from typing import Any

import polars as pl
from sqlalchemy import Row

from kohorte.release import PreparedTable
from kohorte.service.context import Service
from kohorte.service.datasets import kept_results, tables
from kohorte.service.datasets.table_cache import TableCache
from kohorte.service.storage.database import Database

_caches: weakref.WeakKeyDictionary[Database, TableCache[PreparedTable]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def frame(service: Service, dataset: Row[Any]) -> pl.DataFrame:
    """Return the table of a dataset; all kept tables have at most `preview_cache` bytes."""
    return prepared(service, dataset).frame


def prepared(service: Service, dataset: Row[Any]) -> PreparedTable:
    """Return the table of a dataset, with what plans that were tried on it have found."""
    key = (str(dataset.table_sha256), "")
    return _cache(service).get(key, lambda: PreparedTable(tables.load(service, dataset)))


def shrink(service: Service) -> None:
    """Drop the tables used least recently if what is remembered about tables has grown beyond `preview_cache`."""
    _cache(service).shrink()


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
        return _caches.setdefault(service.database, TableCache(service.settings.preview_cache, _held))


def _held(table: PreparedTable) -> int:
    return table.held_bytes
