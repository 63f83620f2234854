"""Cyrillic names in the spellings of registers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kohorte.patients.identity import Identity
from kohorte.patients.linkage.blocking import keys_of
from kohorte.patients.linkage.frequencies import Frequencies
from kohorte.patients.linkage.record import Record
from kohorte.patients.linkage.scripts import other_spellings
from kohorte.patients.linkage.weights import Verdict, Weighing

ANNA = Identity(first_names="Анна", last_name="Шевченко", birth_date="1960-12-30", sex="f", postcode="01067")


@pytest.mark.parametrize(
    ("name", "german", "passport"),
    [
        ("Иванов", "iwanow", "ivanov"),
        ("Шевченко", "schewtschenko", "shevchenko"),
        ("Чайковский", "tschaikowski", "chaikovskii"),
        ("Хрущёв", "chruschtschow", "khrushchev"),
        ("Цветаева", "zwetajewa", "tsvetaeva"),
        ("Евгений", "jewgeni", "evgenii"),
        ("Юлия", "julija", "iuliia"),
        ("Жуков", "schukow", "zhukov"),
        ("ЩЕРБАКОВ", "schtscherbakow", "shcherbakov"),
        ("Гнатюк Олексій", "hnatjuk oleksii", "hnatiuk oleksii"),
        ("Ђорђевић", "djordjewic", "djordjevic"),
        ("Римская-Корсакова", "rimskaja-korsakowa", "rimskaia-korsakova"),
    ],
)
def test_a_cyrillic_name_has_the_spellings_of_german_registers_and_of_passports(
    name: str, german: str, passport: str
) -> None:
    assert other_spellings(name) == ((german,), (passport,))


def test_names_in_other_scripts_have_no_further_spelling() -> None:
    assert other_spellings("Müller", "Θεόδωρος", "") == ()


@pytest.mark.parametrize(
    ("first", "last"), [("Anna", "Shevchenko"), ("Anna", "Schewtschenko"), ("ANNA", "SHEVCHENKO"), ("Анна", "Шевченко")]
)
def test_a_person_is_found_whatever_script_a_house_uses(first: str, last: str) -> None:
    mine, theirs = Record.of(ANNA), Record.of(replace(ANNA, first_names=first, last_name=last, postcode=""))
    weighing = Weighing(Frequencies(), people=100_000)
    for one, other in ((mine, theirs), (theirs, mine)):
        assert weighing.compare(one, other).verdict is Verdict.SAME
    named = [key for key in keys_of(mine) & keys_of(theirs) if key.startswith("date and family")]
    assert named


def test_another_cyrillic_name_is_another_person() -> None:
    other = Record.of(replace(ANNA, first_names="Ольга", last_name="Иванова", birth_date="1971-03-04", postcode=""))
    assert Weighing(Frequencies(), people=100_000).compare(Record.of(ANNA), other).verdict is Verdict.DIFFERENT
