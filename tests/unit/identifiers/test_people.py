"""Columns that number people or cases, by their names."""

from __future__ import annotations

import pytest

from kohorte.identifiers.people import Numbering, may_be_shared, numbering


@pytest.mark.parametrize(
    "name",
    [
        *(
            "patient_id",
            "PatientID",
            "patient",
            "pid",
            "Patientennummer",
            "pat_nr",
            "pseudonym",
            "MRN",
            "ssn",
            "subject_id",
        ),
        *("Pat", "Pat.", "Patientin/Patient", "Pseudo", "Aktenzeichen", "subj"),
    ],
)
def test_names_of_columns_that_number_people_are_recognised(name: str) -> None:
    assert numbering(name) is Numbering.PEOPLE


@pytest.mark.parametrize("name", ["case_id", "Fallnummer", "encounter_no", "stay_id"])
def test_names_of_columns_that_number_cases_are_told_from_those_of_people(name: str) -> None:
    assert numbering(name) is Numbering.CASES


@pytest.mark.parametrize(
    "name", ["sex", "ward", "age", "zip", "diagnosis", "clinic_id", "patients", "case", "price_no"]
)
def test_ordinary_names_number_neither_people_nor_cases(name: str) -> None:
    assert numbering(name) is None


def test_names_and_addresses_can_be_shared_by_people_but_numbers_cannot() -> None:
    assert all(map(may_be_shared, ("name", "last_name", "street", "city", "phone")))
    assert not any(map(may_be_shared, ("code", "patient_id", "email")))
