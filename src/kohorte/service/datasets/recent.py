"""The most recent results about tables, a few of them, in the memory of a server process."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar

from kohorte.service.context import Service
from kohorte.service.storage.database import Database

Key: TypeAlias = tuple[str, ...]
"""The hash of a dataset's table, and what the result is about."""
Result = TypeVar("Result")


class Recent(Generic[Result]):
    """At most so many results of each service; the least recently used one is dropped, and made again when needed."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: weakref.WeakKeyDictionary[Database, OrderedDict[Key, Result]] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()

    def get(self, service: Service, key: Key, make: Callable[[], Result]) -> tuple[Result, bool]:
        """Return a result, and whether it was made now."""
        with self._lock:
            kept = self._kept.setdefault(service.database, OrderedDict())
            if key in kept:
                kept.move_to_end(key)
                return kept[key], False
        made = make()
        with self._lock:
            kept[key] = made
            while len(kept) > self._most:
                kept.popitem(last=False)
        return made, True

    def forget(self, service: Service, table_sha256: str) -> None:
        """Drop all results about a table that was deleted."""
        with self._lock:
            kept = self._kept.get(service.database, OrderedDict())
            for key in [key for key in kept if key[0] == table_sha256]:
                del kept[key]

    def number(self, service: Service) -> int:
        """Return how many results are kept."""
        with self._lock:
            return len(self._kept.get(service.database, ()))
