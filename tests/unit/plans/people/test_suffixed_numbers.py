"""Identifiers such as 4711/1 and 4711/2: one patient with two cases, or two people."""

from __future__ import annotations

import random
from dataclasses import replace

import polars as pl
import pytest

import kohorte as ko
from kohorte.plans.people.person_notes import person_notes
from kohorte.sources import FrameSource

SUFFIXES = ("{}/{}", "{}-{}", "{}_{}", "{}.{}", "{} / {}", "P{}-{}", "{}/0{}")


def stays(form: str, *, same: bool = True, people: int = 40, seed: int = 1, letters: bool = False) -> pl.DataFrame:
    """One to three rows of each patient, each with another case after the number; `same` people keep sex and birth."""
    chance, rows = random.Random(seed), []
    for number in chance.sample(range(1000, 9999), people):
        sex, birth = chance.choice("fm"), str(chance.randrange(1930, 2005))
        for case in range(1, chance.randint(2, 4)):
            if not same:
                sex, birth = chance.choice("fm"), str(chance.randrange(1930, 2005))
            rows.append((form.format(number, "abc"[case - 1] if letters else case), sex, birth, chance.choice("xyz")))
    return pl.DataFrame(rows, schema=["PatNr", "sex", "birth_year", "ward"], orient="row")


def notes(frame: pl.DataFrame, person: object = "PatNr") -> tuple[str, ...]:
    roles = {name: {"role": "quasi-identifying"} for name in frame.columns} | {"PatNr": {"role": "identifying"}}
    plan = ko.Plan(roles, [{"model": "k-anonymity", "k": 2}], person=person)  # type: ignore[arg-type,list-item]
    return person_notes(FrameSource(frame), plan)


@pytest.mark.parametrize("form", SUFFIXES)
@pytest.mark.parametrize("person", ["PatNr", "none"])
def test_identifiers_that_differ_in_a_suffix_are_an_open_point(form: str, person: str) -> None:
    [note] = notes(stays(form), person)
    assert note.startswith("people may be counted several times: ")
    assert "only in a suffix" in note
    assert "rows of a group nearly always agree in 'sex' and 'birth_year'" in note


@pytest.mark.parametrize("form", ["{0}/2023{1}", "{1}/{0}"])
def test_long_suffixes_and_prefixes_are_told_only_by_what_people_keep(form: str) -> None:
    [note] = notes(stays(form))
    assert "rows of a group nearly always agree in 'sex' and 'birth_year'" in note
    assert notes(stays(form, same=False)) == ()
    assert notes(stays(form).drop("sex", "birth_year")) == ()


@pytest.mark.parametrize("letters", [False, True])
@pytest.mark.parametrize("people", [2, 40])
def test_suffixes_that_count_up_are_enough_where_no_column_tells(letters: bool, people: int) -> None:
    frame = stays("{}/{}", people=people, letters=letters, seed=3).drop("sex", "birth_year")
    [note] = notes(frame)
    assert "the suffixes count up" in note


def test_people_who_differ_in_sex_and_birth_are_different_although_their_numbers_share_a_beginning() -> None:
    assert notes(stays("{}/{}", same=False)) == ()


@pytest.mark.parametrize("numbers", [
    [f"{row:05}" for row in range(200)],
    [f"2023-{row:04}" for row in range(200)],
    [f"{site:02}-{row:03}" for site in range(1, 11) for row in range(1, 21)],
    [f"P-{row}" for row in range(200)],
    [f"{row * 7919 % 99991:05}X" for row in range(200)],
    [f"{row * 104729:x}" for row in range(200)],
    [f"DE-{row:03}-{row * 31 % 97:02}" for row in range(200)],
])  # fmt: skip
def test_numbers_with_a_year_a_site_or_a_check_digit_raise_no_alarm(numbers: list[str]) -> None:
    frame = pl.DataFrame({"PatNr": numbers, "ward": [f"w{row % 5}" for row in range(len(numbers))]})
    assert notes(frame) == ()


def test_a_number_with_and_without_a_suffix_is_one_group() -> None:
    frame = pl.DataFrame({"PatNr": ["4711", "4711/2", "4712", "4713"], "ward": list("abcd")})
    [note] = notes(frame)
    assert "1 group of values of 'PatNr' differs only in a suffix" in note


def test_the_clinic_belongs_to_the_stem() -> None:
    frame = stays("{}/{}").with_columns(clinic=pl.Series(["A", "B"] * 200).head(stays("{}/{}").height))
    roles = {name: {"role": "quasi-identifying"} for name in frame.columns} | {"PatNr": {"role": "identifying"}}
    plan = ko.Plan(roles, [{"model": "k-anonymity", "k": 2}], person=["clinic", "PatNr"])  # type: ignore[arg-type,list-item]
    alone = replace(plan, person="PatNr")  # type: ignore[arg-type]
    of_both, of_number = (
        [note for note in person_notes(FrameSource(frame), one) if "only in a suffix" in note] for one in (plan, alone)
    )
    assert len(of_number) == 1
    assert of_both != of_number, "a stem in two clinics is two"


def test_the_verdict_on_a_release_is_amber() -> None:
    frame = stays("{}/{}")
    roles = {name: {"role": "quasi-identifying"} for name in frame.columns} | {"PatNr": {"role": "identifying"}}
    plan = ko.Plan(roles, [{"model": "k-anonymity", "k": 2}], person="PatNr", suppression_limit=0.5)  # type: ignore[arg-type,list-item]
    release = ko.anonymize(frame, plan)
    verdict = ko.certify(release).verdict
    assert str(verdict.standing) == "amber"
    assert any("only in a suffix" in reason for reason in verdict.reasons)
    assert any("only in a suffix" in point for point in ko.verify(release.data, plan, population=frame).open_points)
