"""What a table tells about people that its plan does not state."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from kohorte.data import Role
from kohorte.identifiers import people as people_by_name
from kohorte.plans import Plan
from kohorte.plans.people.person_notes import person_notes
from kohorte.plans.people.repeated_people import repeated_people
from kohorte.plans.proposal import propose
from kohorte.sources import DuckDbSource, FrameSource

PEOPLE = [number % 17 for number in range(40)]


def stays(**more: list[str]) -> pl.DataFrame:
    own = {
        "patient_id": [f"secret-{person}" for person in PEOPLE],
        "age": [str(20 + number % 7) for number in range(40)],
        "ward": [("north", "south", "east")[number % 3] for number in range(40)],
    }
    return pl.DataFrame(own | more)


def plan_of(frame: pl.DataFrame, **roles: str) -> Plan:
    known = {"patient_id": "identifying", "age": "quasi-identifying"} | roles
    return Plan(
        {name: {"role": known.get(name, "insensitive")} for name in frame.columns},  # type: ignore[misc]
        [{"model": "k-anonymity", "k": 2}],  # type: ignore[list-item]
    )


def test_a_plan_that_says_nothing_is_told_that_rows_are_counted_and_which_line_to_add() -> None:
    frame = stays()
    [note] = person_notes(FrameSource(frame), plan_of(frame))
    assert "rows are counted, not people" in note
    assert "17 different values in 40 rows" in note
    assert "'person: patient_id'" in note
    assert "secret" not in note


def test_a_plan_that_states_the_person_gets_no_note_and_neither_do_rows_that_may_be_people() -> None:
    frame = stays()
    assert person_notes(FrameSource(frame), replace(plan_of(frame), person="patient_id")) == ()  # type: ignore[arg-type]
    each = stays(patient_id=[str(number) for number in range(40)])
    assert person_notes(FrameSource(each), replace(plan_of(each), person="none")) == ()  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["patient_id", "Fallnummer", "code", None])
def test_whether_rows_are_people_is_open_until_somebody_says_it(name: str | None) -> None:
    """In truth all rows may be about one person, who has a new case number each time."""
    frame = stays().drop("patient_id")
    if name is not None:
        frame = frame.with_columns(pl.int_range(40).cast(pl.String).alias(name))
    plan = plan_of(frame, **({} if name is None else {name: "identifying"}))
    [note] = person_notes(FrameSource(frame), plan)
    assert note.startswith("rows are counted, not people: nobody has said that every row is another person")
    assert note.endswith("to the plan, or 'person: none' if every row is another person")
    assert ("of which a person can have several" in note) is (name in ("Fallnummer", "code"))
    assert person_notes(FrameSource(frame), replace(plan, person="none")) == ()  # type: ignore[arg-type]


@pytest.mark.parametrize("role", ["insensitive", "sensitive", "quasi-identifying"])
def test_a_column_named_like_a_persons_number_gives_a_note_whatever_its_role(role: str) -> None:
    frame = stays()
    [note] = person_notes(FrameSource(frame), plan_of(frame, patient_id=role))
    assert "17 different values" in note
    assert ("stays in the release" in note) is (role != "quasi-identifying")


def test_an_identifying_column_of_any_name_gives_a_note_if_its_values_repeat() -> None:
    frame = stays().rename({"patient_id": "key17"})
    [note] = person_notes(FrameSource(frame), plan_of(frame, key17="identifying"))
    assert "'person: key17'" in note


def test_a_column_that_numbers_people_is_named_before_one_that_numbers_cases() -> None:
    frame = stays(case_no=[str(number % 3) for number in range(40)])
    found = repeated_people(FrameSource(frame), plan_of(frame, case_no="identifying").unit.roles)
    assert found is not None
    assert found.columns == ("patient_id",)


def test_names_count_only_together_and_not_beside_a_number_of_the_person() -> None:
    own = {
        "first_name": [str(number % 4) for number in range(40)],
        "last_name": [str(number // 4) for number in range(40)],
    }
    frame = stays(**own).drop("patient_id")
    roles = {"first_name": "identifying", "last_name": "identifying"}
    [note] = person_notes(FrameSource(frame), plan_of(frame, **roles))
    assert "name" not in note, "together they are all different"
    twice = frame.with_columns(last_name=pl.lit("one"))
    [note] = person_notes(FrameSource(twice), plan_of(twice, **roles))
    assert "'first_name', 'last_name' together have 4 different values" in note
    numbered = twice.with_columns(patient_id=pl.int_range(40).cast(pl.String))
    [note] = person_notes(FrameSource(numbered), plan_of(numbered, **roles))
    assert "every row has its own value of 'patient_id'" in note


def test_a_column_that_ties_rows_of_one_person_together_gives_a_warning_until_it_is_stated() -> None:
    frame = stays(pseudo=[f"secret-{person}" for person in PEOPLE])
    plan = replace(plan_of(frame), person="patient_id")  # type: ignore[arg-type]
    [note] = person_notes(FrameSource(frame), plan)
    assert "'pseudo' stays in the release and ties rows of one person together" in note
    assert "of its 17 values that occur in several rows, 17 belong to one person each" in note
    assert "'linked_by: pseudo'" in note
    assert "secret" not in note
    assert person_notes(FrameSource(frame), replace(plan, linked_by="pseudo")) == ()


def test_a_column_of_cases_ties_rows_although_a_person_has_several_cases() -> None:
    frame = stays(case=[f"{person}-{number // 20}" for number, person in enumerate(PEOPLE)])
    notes = person_notes(FrameSource(frame), replace(plan_of(frame), person="patient_id"))  # type: ignore[arg-type]
    assert [note for note in notes if note.startswith("'case'")]


def test_ordinary_columns_do_not_look_as_if_they_tied_rows() -> None:
    frame = stays(
        sex=["fm"[number % 2] for number in range(40)],
        diagnosis=[str(number * number % 23) for number in range(40)],
        lab=[str(number) for number in range(40)],
        constant=["x"] * 40,
    )
    plan = replace(plan_of(frame, diagnosis="sensitive"), person="patient_id")  # type: ignore[arg-type]
    assert person_notes(FrameSource(frame), plan) == ()


def test_notes_are_the_same_for_a_table_in_duckdb(tmp_path: Path) -> None:
    frame = stays(pseudo=[f"secret-{person}" for person in PEOPLE])
    frame.write_parquet(tmp_path / "stays.parquet")
    for plan in (plan_of(frame), replace(plan_of(frame), person="patient_id")):  # type: ignore[arg-type]
        notes = person_notes(FrameSource(frame), plan)
        assert notes
        assert person_notes(DuckDbSource(tmp_path / "stays.parquet"), plan) == notes


def test_a_part_of_the_person_that_stays_and_ties_rows_is_noticed() -> None:
    """The clinic is removed and the number stays; alone it tells people apart, too."""
    frame = stays(clinic=[f"c{person % 2}" for person in PEOPLE])
    plan = plan_of(frame, patient_id="insensitive", clinic="identifying")
    plan = replace(plan, person=["clinic", "patient_id"])  # type: ignore[arg-type]
    [note] = person_notes(FrameSource(frame), plan)
    assert "'patient_id' stays in the release and ties rows of one person together" in note


def test_a_released_table_without_the_persons_column_gives_no_warning() -> None:
    frame = stays(pseudo=[f"secret-{person}" for person in PEOPLE])
    plan = replace(plan_of(frame), person="patient_id")  # type: ignore[arg-type]
    assert person_notes(FrameSource(frame.drop("patient_id")), plan) == ()


def test_the_first_plan_proposes_the_person_with_a_reason() -> None:
    proposal = propose(stays())
    assert proposal.plan is not None
    assert proposal.plan.unit.columns == ("patient_id",)
    assert proposal.plan.attributes["patient_id"].role is Role.IDENTIFYING
    [reason] = [reason for reason in proposal.reasons if reason.startswith("person: ")]
    assert "17 different values in 40 rows" in reason
    assert "secret" not in reason


def test_the_first_plan_leaves_open_whether_rows_are_people_unless_a_column_numbers_people() -> None:
    numbered = propose(stays(patient_id=[str(number) for number in range(40)])).plan
    assert numbered is not None
    assert numbered.unit.columns == ("patient_id",)
    bare = propose(stays().drop("patient_id"))
    assert bare.plan is not None
    assert not bare.plan.unit.is_stated
    [reason] = [reason for reason in bare.reasons if reason.startswith("person: ")]
    assert "'person: none' if every row is another person" in reason


@pytest.mark.parametrize("name", ["patient_id", "Fallnummer", "code"])
def test_a_table_of_one_person_is_noticed(name: str) -> None:
    table = FrameSource(pl.DataFrame({name: ["p1"] * 5, "age": ["1", "2", "3", "4", "5"]}))
    found = repeated_people(table, {name: Role.IDENTIFYING, "age": Role.QUASI_IDENTIFYING})
    assert found is not None
    assert (found.columns, found.values, found.rows) == ((name,), 1, 5)


def test_a_column_that_is_the_same_in_all_rows_numbers_nobody_if_another_one_identifies() -> None:
    table = FrameSource(pl.DataFrame({"house": ["a"] * 3, "code": ["x", "y", "z"]}))
    assert repeated_people(table, {"house": Role.IDENTIFYING, "code": Role.IDENTIFYING}) is None


def test_a_table_of_many_columns_is_not_asked_for_its_columns_more_often() -> None:
    """Each answer takes time in proportion to the columns: asked for each column, it would grow with their square."""
    asked = []

    class Counted(FrameSource):
        @property
        def columns(self) -> tuple[str, ...]:
            asked.append(1)
            return super().columns

    for columns in (3, 300):
        asked.clear()
        wide = pl.DataFrame({f"id {number}": ["a", "b", "c"] for number in range(columns)})
        plan = plan_of(wide.with_columns(age=pl.Series([1, 2, 3])), **dict.fromkeys(wide.columns, "identifying"))
        assert len(person_notes(Counted(wide), plan)) == 1
        assert person_notes(Counted(wide.select("id 0")), replace(plan, person="none")) == ()  # type: ignore[arg-type]
        assert len(asked) < 10


def test_linked_by_is_proposed_only_where_the_plan_can_have_it() -> None:
    frame = stays(pseudo=[f"secret-{person}" for person in PEOPLE], case=[f"case-{person}" for person in PEOPLE])
    plan = replace(plan_of(frame), person="patient_id")  # type: ignore[arg-type]
    recoded = replace(plan, search=replace(plan.search, algorithm="mondrian"))
    stated = replace(plan, linked_by="case")
    average = replace(plan, models=({"model": "average-risk", "threshold": 0.5},))  # type: ignore[arg-type]
    for chosen, may_link, proposed in (
        (plan, True, 2),
        (plan, False, 0),
        (recoded, True, 0),
        (stated, True, 0),
        (average, True, 0),
    ):
        notes = person_notes(FrameSource(frame), chosen, may_link=may_link)
        ties = [note for note in notes if "ties rows of one person together" in note]
        assert ties
        assert sum("linked_by" in note for note in ties) == proposed
        assert all(note.endswith("make the column identifying") for note in ties)


def test_the_names_of_many_repeated_identifiers_are_not_compared_with_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at: list[str] = []
    words_of = people_by_name.words_of
    monkeypatch.setattr(people_by_name, "words_of", lambda name: looked_at.append(name) or words_of(name))
    wide = pl.DataFrame({f"id {number}": ["a", "b", "b"] for number in range(300)})
    assert repeated_people(FrameSource(wide), dict.fromkeys(wide.columns, Role.IDENTIFYING)) is not None
    assert max(Counter(looked_at).values()) < 20
