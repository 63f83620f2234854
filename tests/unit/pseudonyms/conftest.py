"""The databases of the tests: a SQLite file, and PostgreSQL where it is installed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.trust import KINDS, database_of


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Let stores of this test be in one kind of database; returns which."""
    with database_of(request, monkeypatch) as kind:
        yield kind
