"""How two records agree."""

from __future__ import annotations

import pytest

from kohorte.patients.identity import Identity
from kohorte.patients.linkage.comparison import Level, compare, compare_dates, compare_names
from kohorte.patients.linkage.dates import birth_date
from kohorte.patients.linkage.names import first_names, last_name
from kohorte.patients.linkage.record import Record


@pytest.mark.parametrize(
    ("one", "other", "level"),
    [
        ("Müller", "Mueller", Level.EQUAL),
        ("Müller", "Muller", Level.TYPING),
        ("Müller-Koch", "Koch-Müller", Level.EQUAL),
        ("Müller-Koch", "Müller", Level.NEARLY),
        ("Müller-Koch", "Koch", Level.PARTLY),
        ("Meier", "Mayer", Level.ALIKE),
        ("Schmidt", "Schmitt", Level.TYPING),
        ("Zimmermann", "Zimemrmann", Level.TYPING),
        ("Koch", "Bauer", Level.DIFFERENT),
        ("Koch", "", Level.MISSING),
    ],
)
def test_family_names_agree_in_levels(one: str, other: str, level: Level) -> None:
    assert compare_names(last_name(one), last_name(other))[0] is level
    assert compare_names(last_name(other), last_name(one))[0] is level


@pytest.mark.parametrize(
    ("one", "other", "level"),
    [
        ("Anna Lena", "Annalena", Level.EQUAL),
        ("Luan Luan", "Luan", Level.EQUAL),
        ("Karl Heinz", "Karl", Level.NEARLY),
        ("Hans", "Johannes", Level.ALIKE),
        ("Peter", "P.", Level.PARTLY),
        ("Jan", "Jana", Level.TYPING),
        ("Eva", "Ava", Level.ALIKE),
        ("Peter", "Paul", Level.DIFFERENT),
    ],
)
def test_first_names_agree_in_levels(one: str, other: str, level: Level) -> None:
    assert compare_names(first_names(one), first_names(other))[0] is level


@pytest.mark.parametrize(
    ("one", "other", "level"),
    [
        ("1960-12-31", "31.12.1960", Level.EQUAL),
        ("1960-03-04", "1960-04-03", Level.SWAPPED),
        ("1960-03-04", "1960-03-05", Level.TYPING),
        ("1960-03-12", "1960-03-21", Level.TYPING),
        ("1960-03-04", "1906-03-04", Level.TYPING),
        ("1960-03-04", "1982-03-04", Level.ALIKE),
        ("1960-03-04", "1960", Level.PARTLY),
        ("1960-03-04", "1961", Level.DIFFERENT),
        ("1960-03-04", "1977-08-19", Level.DIFFERENT),
        ("1960-03-04", "01.01.1900", Level.MISSING),
    ],
)
def test_dates_agree_in_levels(one: str, other: str, level: Level) -> None:
    first, second = birth_date(one), birth_date(other)
    assert first is not None
    assert second is not None
    assert compare_dates(first, second) is level
    assert compare_dates(second, first) is level


def record(**fields: str) -> Record:
    return Record.of(Identity(**{"first_names": "Anna", "last_name": "Koch", "birth_date": "1960-12-31"} | fields))


def test_somebody_who_married_is_found_by_the_birth_name() -> None:
    assert compare(record(), record(last_name="Bauer", birth_name="Koch")).last is Level.BIRTH_NAME
    assert compare(record(last_name="Bauer", birth_name="Koch"), record()).last is Level.BIRTH_NAME


def test_first_and_family_name_that_are_swapped_are_noticed() -> None:
    agreement = compare(record(), record(first_names="Koch", last_name="Anna"))
    assert (agreement.first, agreement.last) == (Level.SWAPPED, Level.SWAPPED)


def test_address_and_number_agree_in_levels() -> None:
    here = record(postcode="01067", place="Dresden", insurance_number="A123456789")
    assert compare(here, record(postcode="D-01067".removeprefix("D-"))).address is Level.EQUAL
    assert compare(here, record(postcode="01069", place="Dresden")).address is Level.PARTLY
    assert compare(here, record(postcode="01068", place="Radebeul")).address is Level.TYPING
    assert compare(here, record(postcode="99999", place="Kiel")).address is Level.DIFFERENT
    assert compare(here, record(insurance_number="a 123 456 789")).number is Level.EQUAL
    assert compare(here, record(insurance_number="A123456798")).number is Level.TYPING
    assert compare(here, record(insurance_number="0000000000")).number is Level.MISSING


def test_no_value_is_in_any_repr() -> None:
    one = Identity(first_names="Anna", last_name="Koch")
    shown = repr([one, Record.of(one), compare(Record.of(one), Record.of(one))])
    assert "Anna" not in shown
    assert "koch" not in shown.lower()
