"""Ledgers for the tests, with twelve people whom letters stand for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kohorte.disclosures.ledger import Ledger
from support.trust import KINDS, database_of


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.open(tmp_path / "ledger", create=True, actor="tester")


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Let ledgers of this test be in one kind of database; returns which."""
    with database_of(request, monkeypatch) as kind:
        yield kind
