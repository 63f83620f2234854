"""Columns that repeat where the plan says that people differ: the plan may count a person several times."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from kohorte.plans import Plan
from kohorte.plans.people.person_notes import person_notes
from kohorte.sources import FrameSource

CASES = [(f"case-{case}", f"patient-{case // 3}") for case in range(60) for _ in range(2)]
"""Sixty cases with two rows each, of twenty patients."""


def stays(**more: list[str]) -> pl.DataFrame:
    own = {
        "case_number": [case for case, _ in CASES],
        "patient_id": [patient for _, patient in CASES],
        "age": [str(20 + row % 7) for row in range(len(CASES))],
    }
    return pl.DataFrame(own | more)


def plan_of(frame: pl.DataFrame, person: Any, **roles: str) -> Plan:
    known = {"age": "quasi-identifying"} | roles
    attributes = {name: {"role": known.get(name, "identifying")} for name in frame.columns}
    return Plan(attributes, [{"model": "k-anonymity", "k": 2}], person=person)  # type: ignore[arg-type,list-item]


def notes(frame: pl.DataFrame, person: Any, **roles: str) -> tuple[str, ...]:
    found = person_notes(FrameSource(frame), plan_of(frame, person, **roles))
    assert not any("patient-" in note or "case-" in note for note in found), "a note contains no value"
    return found


def test_a_person_who_is_a_case_is_contradicted_by_patients_with_several_cases() -> None:
    patients = defaultdict(set)
    for case, patient in CASES:
        patients[patient].add(case)
    assert all(len(cases) == 3 for cases in patients.values())
    [note] = notes(stays(), "case_number")
    assert "'patient_id' has 20 different values, and the plan counts 60 people there (person: 'case_number')" in note
    assert "write 'person: patient_id' in the plan" in note


@pytest.mark.parametrize("role", ["identifying", "insensitive", "sensitive"])
def test_a_number_of_people_contradicts_in_every_role(role: str) -> None:
    assert any("counted several times" in note for note in notes(stays(), "case_number", patient_id=role))


def test_a_person_who_has_several_cases_contradicts_nothing() -> None:
    assert notes(stays(), "patient_id") == ()


@pytest.mark.parametrize("person", [["case_number", "patient_id"], ["patient_id", "case_number"]])
def test_a_case_beside_the_patient_is_contradicted_because_it_tells_all_people_apart(person: list[str]) -> None:
    [note] = notes(stays(), person)
    assert "'patient_id' has 20 different values, and the plan counts 60 people" in note


def test_numbers_within_clinics_are_no_contradiction() -> None:
    numbers = [str(row % 10) for row in range(120)]
    clinics = [f"clinic-{row // 10 % 4}" for row in range(120)]
    frame = stays().select("age").with_columns(pl.Series("clinic", clinics), pl.Series("patient", numbers))
    assert notes(frame, ["clinic", "patient"]) == ()


@pytest.mark.parametrize("name", ["doctor", "device", "Station", "e-mail"])
def test_things_and_addresses_that_serve_many_patients_contradict_neither_a_patient_nor_a_case(name: str) -> None:
    frame = stays(**{name: [f"{name}-{row % 5}" for row in range(120)]})
    assert notes(frame, "patient_id") == ()
    assert notes(frame.drop("patient_id"), "case_number") == ()


def test_an_identifier_that_several_cases_have_contradicts_a_case_but_not_a_patient() -> None:
    frame = stays(key=[f"key-{row % 5}" for row in range(120)])
    assert notes(frame, "patient_id") == ()
    assert len(notes(frame.drop("patient_id"), "case_number")) == 1


def test_a_column_with_one_value_or_with_names_contradicts_nobody() -> None:
    frame = stays(key=["the same"] * 120, name=[f"name-{row % 9}" for row in range(120)]).drop("patient_id")
    assert notes(frame, "case_number") == ()


def test_missing_and_suppressed_numbers_contradict_nobody() -> None:
    frame = stays(patient_id=["", "*"] * 60)
    assert notes(frame, "case_number") == ()


@pytest.mark.parametrize(("column", "values"), [("patient_id", 20), ("case_number", 60), ("key17", 60)])
def test_rows_that_are_stated_to_be_people_are_contradicted_by_a_repeated_identifier(column: str, values: int) -> None:
    kept = "patient_id" if column == "patient_id" else "case_number"
    frame = stays().select("age", pl.col(kept).alias(column))
    [note] = notes(frame, "none")
    assert note.startswith("rows are counted, not people: the plan states that every row is another person")
    assert f"{column!r} has {values} different values in 120 rows" in note
    assert f"'person: {column}'" in note


def test_rows_that_are_stated_to_be_people_are_not_contradicted_by_names_or_other_numbers() -> None:
    numbers = [str(row) for row in range(120)]
    frame = stays(patient_id=numbers, name=[f"name-{row % 9}" for row in range(120)]).drop("case_number")
    assert notes(frame, "none") == ()


def test_the_same_is_said_of_a_table_and_of_a_release_whose_original_is_known() -> None:
    frame = stays()
    release = FrameSource(frame.drop("patient_id", "case_number"))
    for person in ("case_number", "none", None):
        plan = plan_of(frame, person)
        of_table = person_notes(FrameSource(frame), plan)
        assert of_table
        assert person_notes(release, plan, original=FrameSource(frame)) == of_table
    assert person_notes(release, plan_of(frame, "none")) == ()


def test_a_release_of_a_plan_that_says_nothing_does_not_tell_whether_people_repeat() -> None:
    unique = stays(patient_id=[str(row) for row in range(120)]).drop("case_number")
    plan, release = plan_of(unique, None), FrameSource(unique.drop("patient_id"))
    [note] = person_notes(release, plan)
    assert note.startswith("rows are counted, not people: nobody has said that every row is another person")
    assert "the table does not have 'patient_id', which may tell" in note
    [known] = person_notes(release, plan, original=FrameSource(unique))
    assert "every row has its own value of 'patient_id'; add 'person: patient_id' to the plan" in known
    assert person_notes(release, plan, original=release) == (note,)


@pytest.mark.parametrize("event", ["case_number", "stay", "visit", "admission_date"])
def test_events_that_are_numbered_for_each_patient_do_not_make_more_people(event: str) -> None:
    own = [str(row % 3 + 1) for row in range(len(CASES))]
    frame = stays().drop("case_number").with_columns(pl.Series(event, own))
    [note] = notes(frame, ["patient_id", event])
    assert "'patient_id' has 20 different values" in note
    assert "write 'person: patient_id' in the plan" in note


def test_a_clinic_that_numbers_its_own_patients_is_not_contradicted() -> None:
    frame = stays(clinic=[f"clinic {row % 3}" for row in range(len(CASES))])
    assert notes(frame.drop("case_number"), ["clinic", "patient_id"]) == ()


@pytest.mark.parametrize("column", ["unit", "Station", "seq", "site"])
def test_a_column_that_differs_within_a_patient_is_contradicted_by_what_patients_keep_for_life(column: str) -> None:
    frame = several_each(column, lambda patient, _: patient)
    [note] = notes(frame, ["patient_id", column], sex="quasi-identifying")
    assert "'patient_id' has 60 different values, and the plan counts 180 people" in note


def test_numbers_that_each_clinic_gives_are_not_contradicted_by_what_patients_keep_for_life() -> None:
    frame = several_each("clinic", lambda patient, clinic: 60 * clinic + patient)
    assert notes(frame, ["clinic", "patient_id"], sex="quasi-identifying") == ()


def several_each(column: str, whom: Callable[[int, int], int]) -> pl.DataFrame:
    """Sixty numbers of patients, each with three values of a column, and two rows of each; sex depends on `whom`."""
    cells = [(patient, other) for patient in range(60) for other in range(3) for _ in range(2)]
    return pl.DataFrame(
        {
            "patient_id": [f"patient-{patient}" for patient, _ in cells],
            column: [str(other) for _, other in cells],
            "sex": ["fm"[random.Random(whom(patient, other)).randrange(2)] for patient, other in cells],
            "age": ["30"] * len(cells),
        }
    )


@pytest.mark.parametrize("person", ["sample_id", "order_id", "row"])
def test_what_may_number_samples_is_contradicted_as_a_case_is(person: str) -> None:
    frame = stays(hash=[patient for _, patient in CASES]).drop("patient_id", "case_number")
    frame = frame.with_columns(pl.Series(person, [f"s{row}" for row in range(len(CASES))]))
    assert any("'hash' has 20 different values" in note for note in notes(frame, person))
