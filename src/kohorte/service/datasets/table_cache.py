"""A cache of tables in memory, up to a number of bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, Protocol, TypeAlias, TypeVar

import polars as pl

Key: TypeAlias = tuple[str, str]
"""The hash of a dataset's table, and what it was prepared for."""


class HasFrame(Protocol):
    """What is kept: something with a frame, whose size counts."""

    @property
    def frame(self) -> pl.DataFrame:
        """The table."""


Table = TypeVar("Table", bound=HasFrame)


class TableCache(Generic[Table]):
    """The most recently used tables up to a number of bytes; each is loaded by one thread at a time."""

    def __init__(
        self,
        most_bytes: int,
        size: Callable[[Table], int] | None = None,
        reduce: Callable[[Table], object] | None = None,
    ) -> None:
        self._most = most_bytes
        self._size = size or _size
        self._reduce = reduce
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, Table] = OrderedDict()
        self._loading: dict[Key, Future[Table]] = {}

    @property
    def bytes(self) -> int:
        """The size of the cached tables in bytes."""
        with self._lock:
            return sum(self._size(table) for table in self._kept.values())

    def get(self, key: Key, load: Callable[[], Table]) -> Table:
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

    def shrink(self) -> bool:
        """Reduce or drop the least recently used tables if they have grown beyond the number of bytes.

        Return whether there were such tables.
        """
        with self._lock:
            return self._shrink()

    def _load(self, key: Key, load: Callable[[], Table], future: Future[Table]) -> Table:
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

    def _done(self, key: Key, future: Future[Table]) -> None:
        with self._lock:
            if self._loading.get(key) is future:
                del self._loading[key]

    def _shrink(self) -> bool:
        sizes = {key: self._size(table) for key, table in self._kept.items()}
        grown = sum(sizes.values()) > self._most
        for key in list(sizes) if self._reduce is not None else ():
            if sum(sizes.values()) <= self._most:
                break
            self._reduce(self._kept[key])  # type: ignore[misc]
            sizes[key] = self._size(self._kept[key])
        while sum(sizes.values()) > self._most and self._kept:
            del sizes[self._kept.popitem(last=False)[0]]
        return grown


def _size(table: HasFrame) -> int:
    return int(table.frame.estimated_size())
