"""A list of four people with a clock that is moved by hand."""

from __future__ import annotations

import pytest

from kohorte.patients.consents.register import Consents
from kohorte.patients.patient_list import PatientList
from support.clock import Clock
from support.identities import ANNA, OTTO, pids, register

ROSA = OTTO | {"vorname": "Rosa", "nachname": "Quendel", "geburtsdatum": "1988-02-03", "geschlecht": "w", "kvnr": ""}
EMIL = OTTO | {"vorname": "Emil", "nachname": "Tannhof", "geburtsdatum": "1949-11-21", "plz": "80331", "kvnr": ""}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def consents(listed: PatientList, clock: Clock) -> Consents:
    return Consents(listed, clock=clock)


@pytest.fixture
def people(listed: PatientList) -> list[str]:
    """The PIDs of Anna, Otto, Rosa and Emil."""
    return [str(pid) for pid in pids(register(listed, ANNA, OTTO, ROSA, EMIL))]
