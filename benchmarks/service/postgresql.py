"""A PostgreSQL for a measurement, the same that the tests start."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))


@contextlib.contextmanager
def postgresql(database: str) -> Iterator[str | None]:
    """The address of a new database that waits for its disk, or None for SQLite in the folder of the service."""
    if database == "sqlite":
        yield None
        return
    from support.postgres import Cluster, programs

    found = programs()
    if found is None:
        raise RuntimeError("PostgreSQL is not installed (make postgresql)")
    server = Cluster(found, fsync=True)
    try:
        with server.database() as address:
            yield address
    finally:
        server.stop()
