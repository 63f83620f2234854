"""A PostgreSQL for a measurement."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from testbed.postgresql import Cluster, programs


@contextlib.contextmanager
def postgresql(database: str) -> Iterator[str | None]:
    """The address of a new database that waits for its disk, or None for SQLite in the folder of the service."""
    if database == "sqlite":
        yield None
        return
    found = programs()
    if found is None:
        raise RuntimeError("PostgreSQL is not installed (make postgresql)")
    server = Cluster(found, fsync=True)
    try:
        with server.database() as address:
            yield address
    finally:
        server.stop()
