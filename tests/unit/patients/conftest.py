"""Patient lists in folders of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kohorte.patients.patient_list import PatientList
from kohorte.trust.store import ENVIRONMENT
from support.trust import KINDS, database_of


@pytest.fixture
def trust(tmp_path: Path) -> str:
    return str(tmp_path / "trust")


@pytest.fixture
def listed(trust: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[PatientList]:
    """An empty list in a SQLite file."""
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    opened = PatientList.opened(trust, create=True, actor="tester")
    yield opened
    opened.close()


@pytest.fixture(params=KINDS)
def anywhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, trust: str) -> Iterator[PatientList]:
    """An empty list in each kind of database."""
    with database_of(request, monkeypatch):
        opened = PatientList.opened(trust, create=True, actor="tester")
        yield opened
        opened.close()
