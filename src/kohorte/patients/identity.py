"""What says who a person is: the fields of identity data, and the columns of a table that hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from kohorte.errors import InputError, nearest, refuse_unknown_keys

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "first_names": (
        "first name", "first names", "given name", "given names", "forename", "vorname", "vornamen", "rufname",
    ),
    "last_name": ("last name", "family name", "surname", "name", "nachname", "familienname", "zuname"),
    "birth_name": ("birth name", "maiden name", "name at birth", "geburtsname", "maedchenname"),
    "birth_date": (
        "birth date", "date of birth", "birthdate", "dob", "birthday", "geburtsdatum", "gebdat", "geb datum",
    ),
    "sex": ("sex", "gender", "geschlecht"),
    "postcode": ("postcode", "postal code", "zip", "zip code", "plz", "postleitzahl"),
    "place": ("place", "city", "town", "ort", "wohnort", "stadt"),
    "insurance_number": (
        "insurance number", "insurance id", "kvnr", "versichertennummer", "versicherungsnummer", "versicherten nr",
        "krankenversichertennummer",
    ),
}  # fmt: skip
"""The fields, each with usual names of its column in English and German."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a person is, as it is written; an empty text is missing. The repr shows no value."""

    first_names: str = ""
    last_name: str = ""
    birth_name: str = ""
    birth_date: str = ""
    sex: str = ""
    postcode: str = ""
    place: str = ""
    insurance_number: str = ""

    def __repr__(self) -> str:
        return "<Identity>"

    @property
    def values(self) -> tuple[str, ...]:
        """The fields in the order of `FIELDS`."""
        return (
            self.first_names,
            self.last_name,
            self.birth_name,
            self.birth_date,
            self.sex,
            self.postcode,
            self.place,
            self.insurance_number,
        )


FIELDS: tuple[str, ...] = tuple(field.name for field in fields(Identity))


def fields_given(texts: Sequence[str]) -> dict[str, str]:
    """Read options such as `last_name=FAMNAME`: the column of a field."""
    found: dict[str, str] = {}
    for text in texts:
        field, sign, column = text.partition("=")
        if not sign or not column or field in found:
            raise InputError(
                "--field: is FIELD=COLUMN, each field once, as in --field last_name=FAMNAME", code="patients-field"
            )
        found[field] = column
    return found


def columns_of(names: Sequence[str], given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Which column of a table holds which field: as given, otherwise by the usual names of columns.

    Refused are unknown fields, columns that are not there, two columns for one field, and a table without names.
    """
    chosen = dict(given or {})
    refuse_unknown_keys(chosen, FIELDS, where="the fields of identity", code="patients-field")
    if len(set(chosen.values())) < len(chosen):
        raise InputError("--field: one column cannot be two fields; split it first", code="patients-field")
    for field, column in chosen.items():
        if column not in names:
            raise InputError(
                f"the column {column!r} for {field} is not in the table{nearest(column, names)}", code="patients-column"
            )
    taken = set(chosen.values())
    for field, usual in COLUMNS.items():
        found = [name for name in names if name not in taken and _plain(name) in map(_plain, usual)]
        if field in chosen or not found:
            continue
        if len(found) > 1:
            raise InputError(
                f"the columns {', '.join(map(repr, found))} could all be {field}; say which one with "
                f"--field {field}=COLUMN",
                code="patients-column",
            )
        chosen[field] = found[0]
        taken.add(found[0])
    if not {"last_name", "insurance_number"} & set(chosen):
        raise InputError(
            "no column with family names was found; name it with --field last_name=COLUMN", code="patients-column"
        )
    return chosen


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower().replace("ä", "ae") if letter.isalnum())
