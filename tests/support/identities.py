"""A few people for the tests of the patient list, as they come in a table."""

from __future__ import annotations

import polars as pl

from kohorte.patients.identity import columns_of
from kohorte.patients.list.registration import Registrations
from kohorte.patients.patient_list import PatientList

ANNA = {
    "vorname": "Anna", "nachname": "Eichhorst", "geburtsname": "", "geburtsdatum": "1960-12-30", "geschlecht": "w",
    "plz": "01067", "ort": "Dresden", "kvnr": "A123456789",
}  # fmt: skip
OTTO = {
    "vorname": "Otto", "nachname": "Zwickel", "geburtsname": "", "geburtsdatum": "1975-05-17", "geschlecht": "m",
    "plz": "24103", "ort": "Kiel", "kvnr": "B987654321",
}  # fmt: skip
MARRIED = ANNA | {"nachname": "Bauer", "kvnr": ""}
"""Anna after her marriage: nobody asked for the birth name, so that a person has to decide."""
MISSPELT = ANNA | {"nachname": "EICHORST", "kvnr": ""}


def table(*people: dict[str, str]) -> pl.DataFrame:
    return pl.DataFrame(people, schema=dict.fromkeys(ANNA, pl.String))


def register(listed: PatientList, *people: dict[str, str], source: str | None = None) -> Registrations:
    frame = table(*people)
    return listed.register(frame, columns_of(frame.columns), source=source)


def outcomes(found: Registrations) -> list[str]:
    return [row.outcome.value for row in found.rows]


def pids(found: Registrations) -> list[str | None]:
    return [row.pid for row in found.rows]
