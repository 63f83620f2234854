"""The databases of the tests: a SQLite file, and PostgreSQL where it is installed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kohorte.trust.store import ENVIRONMENT
from support.postgres import cluster


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Let stores of this test be in one kind of database; returns which."""
    if request.param == "sqlite":
        monkeypatch.delenv(ENVIRONMENT, raising=False)
        yield "sqlite"
        return
    with cluster(request.config).database() as address:
        monkeypatch.setenv(ENVIRONMENT, address)
        yield "postgresql"
