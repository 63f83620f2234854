"""Who is proposed as the person in tables as hospitals have them; the answers are known because the tables are made."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import polars as pl
import pytest

import kohorte as ko
from kohorte.data import Role
from kohorte.models import DistinctLDiversity
from kohorte.plans import Plan
from kohorte.plans.people.person_notes import person_notes
from kohorte.plans.person import Person
from kohorte.plans.proposal import Proposal, propose
from kohorte.service.datasets.proposal import proposal as proposal_of_service
from kohorte.sources import FrameSource

NAMED = ("patient_id", "PatNr", "Patientennummer", "MRN", "Pseudonym", "KVNR", "subject_id", "Versichertennummer")
NEUTRAL = ("ID", "Nr", "Kennung", "key", "Fallnummer", "code_nr")
THINGS = {
    "device": "DEV{}",
    "Geräte-ID": "G-{}",
    "email": "practice{}@example.org",
    "IP-Adresse": "10.0.0.{}",
    "unit": "U{}",
    "Station": "Station {}",
    "Arzt_ID": "A{}",
    "doctor_id": "D{}",
    "hospital_id": "{}",
    "MAC-Adresse": "00:11:22:33:44:{}",
}
FOR_LIFE = {"en": ("sex", "birth_date", "diagnosis"), "de": ("Geschlecht", "Geburtsdatum", "Diagnose")}


@dataclass(frozen=True)
class Layout:
    """A table: the number of people by its name, a thing that serves many of them, the language, rows per person."""

    number: str | None
    thing: str
    language: str
    each: int

    def frame(self) -> pl.DataFrame:
        """180 rows, in a random order; the thing has six values and says nothing about people."""
        chance = random.Random(f"{self}")
        sex, birth, diagnosis = FOR_LIFE[self.language]
        people = [
            (f"{code}", chance.choice("fm"), f"{chance.randrange(1930, 2005)}-{chance.randrange(1, 13):02}-15")
            for code in chance.sample(range(10_000, 99_999), 180 // self.each)
        ]
        rows = [one for one in people for _ in range(self.each)]
        chance.shuffle(rows)
        numbers = {} if self.number is None else {self.number: [one[0] for one in rows]}
        return pl.DataFrame(
            numbers
            | {sex: [one[1] for one in rows], birth: [one[2] for one in rows]}
            | {self.thing: [THINGS[self.thing].format(chance.randrange(10, 16)) for _ in rows]}
            | {diagnosis: [chance.choice(["flu", "gout", "HIV", "cold", "asthma"]) for _ in rows]}
        )


def layouts(numbers: tuple[str | None, ...], each: int) -> list[Layout]:
    """Every number, each with another thing, in both languages."""
    things = list(THINGS)
    made = enumerate(product(numbers, FOR_LIFE))
    return [Layout(number, things[at % len(things)], language, each) for at, (number, language) in made]


SEVERAL_ROWS = layouts((*NAMED, *NEUTRAL), 3)
ONE_ROW = layouts((*NAMED, *NEUTRAL), 1)[::3]
NO_NUMBER = [Layout(None, thing, ("en", "de")[at % 2], (1, 3)[at % 2]) for at, thing in enumerate(THINGS)]


def named(layout: Layout) -> str:
    return f"{layout.number}-{layout.thing}-{layout.language}-{layout.each}"


def proposed(frame: pl.DataFrame) -> tuple[Proposal, Plan]:
    """The proposal and its plan, in which every sensitive column is protected."""
    found = propose(frame)
    assert found.plan is not None
    [sensitive] = found.plan.names(Role.SENSITIVE)
    assert DistinctLDiversity(sensitive, l=2) in found.plan.models
    assert not any("no model can protect" in reason for reason in found.reasons)
    return found, found.plan


@pytest.mark.parametrize("layout", SEVERAL_ROWS, ids=named)
def test_the_number_of_people_is_proposed_whatever_else_repeats(layout: Layout) -> None:
    frame = layout.frame()
    _, plan = proposed(frame)
    assert plan.unit.columns == (layout.number,)
    for person in (None, Person()):
        [note] = person_notes(FrameSource(frame), replace(plan, person=person))
        assert f"{layout.number!r} has 60 different values in 180 rows" in note
        assert f"person: {layout.number}" in note


@pytest.mark.parametrize("layout", ONE_ROW, ids=named)
def test_a_number_of_people_in_every_row_is_proposed_and_any_other_number_leaves_the_question_open(
    layout: Layout,
) -> None:
    frame = layout.frame()
    found, plan = proposed(frame)
    [reason] = [reason for reason in found.reasons if reason.startswith("person: ")]
    assert f"every row has its own value of {layout.number!r}" in reason
    [note] = person_notes(FrameSource(frame), replace(plan, person=None))
    assert note.startswith("rows are counted, not people: nobody has said that every row is another person")
    assert "'person: none' if every row is another person" in note
    if layout.number in NAMED:
        assert plan.unit.columns == (layout.number,)
        assert f"add 'person: {layout.number}' to the plan" in note
    else:
        assert plan.person is None
        assert "Until then rows are counted, not people" in reason
        assert "of which a person can have several; add 'person: COLUMN' to the plan" in note
    for person in (plan.person or Person(), Person()):
        assert person_notes(FrameSource(frame), replace(plan, person=person)) == ()


@pytest.mark.parametrize("layout", NO_NUMBER, ids=named)
def test_things_and_addresses_are_a_question_at_most(layout: Layout) -> None:
    frame = layout.frame()
    found, plan = proposed(frame)
    assert plan.person is None
    [note] = person_notes(FrameSource(frame), plan)
    if plan.attributes[layout.thing].role is not Role.IDENTIFYING:
        assert "no column of the table says whether several rows are about one person" in note
        return
    assert "the table does not tell whether it says whom a row is about" in note
    assert any(f"add the line '{Person((layout.thing,)).line}'" in reason for reason in found.reasons)
    assert person_notes(FrameSource(frame), replace(plan, person=Person())) == (), "the statement answers the question"


def test_a_number_of_samples_in_every_row_does_not_make_rows_people() -> None:
    frame = NO_NUMBER[2].frame().with_columns(Probennummer=pl.int_range(5000, 5180).cast(pl.String))
    found, plan = proposed(frame)
    assert plan.person is None
    assert any("'email' has 6 different values" in reason and "does not tell" in reason for reason in found.reasons)


def test_a_number_of_cases_in_every_row_does_not_hide_the_number_of_people() -> None:
    frame = Layout("ID", "device", "de", 3).frame().with_columns(Fallnummer=pl.int_range(5000, 5180).cast(pl.String))
    assert proposed(frame)[1].unit.columns == ("ID",)


def test_an_insurance_is_not_a_person_although_its_name_is_that_of_a_number() -> None:
    kinds = pl.Series("Krankenversicherung", ["private", "public", "none"] * 60)
    frame = Layout("PatNr", "device", "de", 1).frame().with_columns(kinds)
    assert proposed(frame)[1].unit.columns == ("PatNr",)


def test_beside_a_number_in_every_row_codes_of_which_nothing_is_known_are_a_question() -> None:
    chance = random.Random(1)
    ages = [str(chance.randrange(20, 90)) for _ in range(180)]
    frame = pl.DataFrame({"ID": range(7000, 7180), "code_id": [f"c{at % 60}" for at in range(180)], "age": ages})
    found = propose(frame)
    assert found.plan is not None
    assert found.plan.person is None
    assert found.person is not None
    assert found.person.reason.startswith("'code_id' has 60 different values in 180 rows, and the table does not tell")


@pytest.mark.parametrize("layout", [SEVERAL_ROWS[0], ONE_ROW[1], NO_NUMBER[0]], ids=named)
def test_the_service_proposes_the_same_as_the_command(layout: Layout) -> None:
    frame = layout.frame()
    found, plan = proposed(frame)
    told = proposal_of_service(frame, set())
    assert told["config"].get("person") == (plan.person.to_dict() if plan.person else None)
    assert told["reasons"] == list(found.reasons)


@pytest.mark.parametrize("name", ["adult", "cup"])
def test_public_tables_of_one_row_per_person_raise_no_alarm(name: str, benchmark_folder: Path) -> None:
    frame = ko.read_table(benchmark_folder / f"{name}.csv", separator=";").frame.head(20_000)
    found = propose(frame)
    assert found.person is not None
    assert found.plan is not None
    assert found.plan.person is None
    [note] = person_notes(FrameSource(frame), found.plan)
    assert "no column of the table says whether several rows are about one person" in note
    assert person_notes(FrameSource(frame), replace(found.plan, person=Person())) == ()
