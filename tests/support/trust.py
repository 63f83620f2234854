"""The databases of the tests of keys and lists: a SQLite file, and PostgreSQL where it is installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kohorte.trust.store import ENVIRONMENT
from support.postgres import cluster

KINDS = ("sqlite", "postgresql")


@contextmanager
def database_of(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Let stores be in the kind of database that is the parameter of a fixture."""
    if request.param == "sqlite":
        monkeypatch.delenv(ENVIRONMENT, raising=False)
        yield "sqlite"
        return
    with cluster(request.config).database() as address:
        monkeypatch.setenv(ENVIRONMENT, address)
        yield "postgresql"
