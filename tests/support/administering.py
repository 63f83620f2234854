"""A patient list in the hands of somebody who administers its database and has no key."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import pytest

from kohorte.errors import EngineError
from kohorte.patients.patient_list import PatientList
from kohorte.trust.folder import TrustFolder


def administer(listed: PatientList, *statements: str) -> None:
    """What a database administrator does while nobody uses the list."""
    listed.close()
    with sqlite3.connect(listed.folder.path / "patients.db") as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def opened(listed: PatientList) -> PatientList:
    """The list, opened by another process."""
    return PatientList(TrustFolder.opened(listed.folder.path), actor="tester")


def refused(code: str, use: Callable[[], object]) -> None:
    """Fail unless something is refused with a code."""
    with pytest.raises(EngineError) as caught:
        use()
    assert caught.value.code == code
