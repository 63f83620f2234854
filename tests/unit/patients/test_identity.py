"""The columns of identity data."""

from __future__ import annotations

import pytest

from kohorte.errors import InputError
from kohorte.patients.identity import columns_of


def test_usual_columns_in_german_and_english_are_found() -> None:
    german = ["Vorname", "Nachname", "Geburtsname", "Geburtsdatum", "Geschlecht", "PLZ", "Ort", "KVNR", "Diagnose"]
    english = ["first_name", "Last Name", "maidenName", "date-of-birth", "sex", "zip_code", "city", "insurance_number"]
    fields = ["first_names", "last_name", "birth_name", "birth_date", "sex", "postcode", "place", "insurance_number"]
    assert columns_of(german) == dict(zip(fields, german, strict=False))
    assert columns_of(english) == dict(zip(fields, english, strict=True))


def test_a_column_that_is_named_wins() -> None:
    found = columns_of(["name", "vorname", "spitzname"], {"first_names": "spitzname"})
    assert found == {"first_names": "spitzname", "last_name": "name"}


@pytest.mark.parametrize(
    ("names", "given", "code"),
    [
        (["vorname", "geburtsdatum"], {}, "patients-column"),
        (["name", "nachname"], {}, "patients-column"),
        (["name"], {"last_name": "nam"}, "patients-column"),
        (["name"], {"familyname": "name"}, "patients-field"),
        (["name"], {"first_names": "name", "last_name": "name"}, "patients-field"),
    ],
)
def test_columns_that_cannot_be_told_are_refused(names: list[str], given: dict[str, str], code: str) -> None:
    with pytest.raises(InputError) as caught:
        columns_of(names, given)
    assert caught.value.code == code
