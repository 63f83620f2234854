"""The first plan for a table: one for command and service, the safer one, and it runs as it is written."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial

import polars as pl
import pytest

import kohorte as ko
from kohorte.data import Role
from kohorte.models import DistinctLDiversity, KAnonymity
from kohorte.plans.people.person_notes import person_notes
from kohorte.plans.people.repeated_people import refuse_repeated, repeated_column
from kohorte.plans.person import Person
from kohorte.plans.profile import profile
from kohorte.plans.proposal import propose
from kohorte.plans.search_options import SearchOptions
from kohorte.service.datasets.proposal import proposal
from kohorte.service.projects.configuration import Dataset, read_plan
from kohorte.sources import FrameSource
from support.work import counted_calls


def survey(columns: int, rows: int = 60) -> pl.DataFrame:
    """A table with so many quasi-identifiers of all types, and a diagnosis."""
    draw = random.Random(columns)
    kinds = (
        lambda: str(draw.randint(0, 90)),
        lambda: draw.choice("abc"),
        lambda: f"{draw.randint(1, 28):02}.{draw.randint(1, 12):02}.{draw.randint(1940, 2020)}",
        lambda: f"{draw.randint(0, 99)},{draw.randint(0, 9)}",
        lambda: draw.choice(["10115", "10117", "81667"]),
    )
    found = {f"q{at}": [kinds[at % 5]() for _ in range(rows)] for at in range(columns)}
    return pl.DataFrame(found | {"diagnosis": [draw.choice(["flu", "cold", "gout"]) for _ in range(rows)]})


@pytest.mark.parametrize("columns", [1, 5, 14, 31])
def test_the_proposed_plan_runs_as_it_is_written_whatever_the_number_of_quasi_identifiers(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kohorte.plans.proposal.SECONDS", 1.0)  # the time limit that it writes
    frame = survey(columns)
    plan = propose(frame).plan
    assert plan is not None
    assert len(plan.quasi_identifiers) == columns
    release = ko.anonymize(frame, ko.Plan.from_dict(plan.to_dict()))
    assert ko.verify(release.data, plan).satisfied


def test_a_search_without_a_list_is_proposed_only_for_many_combinations_and_the_reason_is_given() -> None:
    few, many = propose(survey(5)), propose(survey(14))
    assert few.search == SearchOptions("optimal")
    assert many.search == SearchOptions("best_first", time_limit=30)
    assert any("algorithm best_first: there are" in reason for reason in many.reasons)
    assert not any("best_first" in reason for reason in few.reasons)


def ages_and_wards(columns: int) -> pl.DataFrame:
    """Columns of 1,000 rows that have nothing to do with each other."""
    draw = random.Random(columns)
    kinds = (
        lambda: str(draw.randint(18, 90)),
        lambda: draw.choice("abcdef"),
        lambda: str(10115 + 17 * draw.randint(0, 60)),
    )
    return pl.DataFrame({f"q{at}": [kinds[at % 3]() for _ in range(1000)] for at in range(columns)})


@pytest.mark.parametrize("columns", [14, 31])
def test_the_search_of_a_wide_table_loses_less_than_datafly(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kohorte.plans.proposal.SECONDS", 3.0)
    frame = ages_and_wards(columns)
    plan = propose(frame).plan
    assert plan is not None
    assert ko.anonymize(frame, plan).cost < ko.anonymize(frame, replace(plan, search=SearchOptions("datafly"))).cost


def test_a_sensitive_column_is_protected_by_a_model() -> None:
    found = propose(survey(3))
    assert found.models == (KAnonymity(k=5), DistinctLDiversity("diagnosis", l=2))


def test_the_service_proposes_the_same_plan_as_the_command() -> None:
    for frame in (survey(5), survey(14), pl.DataFrame({"age": ["1", "2", "NA", "4", "5", "6"], "icd": list("aabbcc")})):
        of_service = read_plan(proposal(frame, set())["config"], Dataset(frame.columns, {}))
        assert of_service == propose(frame).plan


def test_texts_for_missing_values_are_part_of_the_plan_which_then_covers_all_other_cells() -> None:
    frame = pl.DataFrame({"age": [*map(str, range(20, 39)), "NA"], "born": ["01.02.1990"] * 18 + ["k.A.", "unbekannt"]})
    plan = propose(frame).plan
    assert plan is not None
    assert plan.missing_values == ("NA", "k.A.", "unbekannt")
    assert ko.verify(ko.anonymize(frame, plan).data, plan).satisfied


@pytest.mark.parametrize("rows", [2, 3, 4])
def test_a_small_table_gets_a_smaller_k_and_the_plan_still_runs(rows: int) -> None:
    frame = survey(3)[:rows]
    found = propose(frame)
    assert found.k == rows
    assert any("too small for the usual 5" in reason for reason in found.reasons)
    assert found.plan is not None
    assert ko.anonymize(frame, found.plan).rows == rows


def test_a_table_of_one_row_gets_no_plan_and_the_reason() -> None:
    found = propose(survey(3)[:1])
    assert found.plan is None
    assert "one row" in found.why_no_plan


def test_a_sensitive_column_with_one_value_is_named_because_no_model_can_protect_it() -> None:
    frame = survey(2).with_columns(diagnosis=pl.lit("flu"))
    assert any("no model can protect 'diagnosis'" in reason for reason in propose(frame).reasons)
    assert propose(frame).models == (KAnonymity(k=5),)


def test_cells_with_a_star_are_explained() -> None:
    frame = survey(2).with_columns(pl.Series("q1", ["*"] + ["a", "b", "c"] * 19 + ["a", "b"]))
    assert any("'q1': cells with * mark suppressed values" in reason for reason in propose(frame).reasons)


@pytest.mark.parametrize("name", ["q1", "diagnosis"])
def test_no_plan_is_proposed_for_suppressed_cells_that_it_could_not_read(name: str) -> None:
    frame = survey(2).with_columns(pl.Series(name, ["*"] + ["a", "b", "c"] * 19 + ["a", "b"]))
    found = propose(frame)
    assert found.plan is None
    assert found.why_no_plan.startswith(f"'{name}': 1 cell with *, which marks a suppressed value of a release")
    assert "take the original table, or empty these cells" in found.why_no_plan
    assert found.why_no_plan in proposal(frame, set())["reasons"]


def test_suppressed_cells_of_a_column_that_is_removed_do_not_stop_the_plan() -> None:
    frame = survey(2).with_columns(pl.Series("patient_id", ["*"] + [f"p{row}" for row in range(59)]))
    plan = propose(frame).plan
    assert plan is not None
    assert ko.anonymize(frame, plan).rows == 60


def test_an_empty_column_does_not_stop_the_plan() -> None:
    frame = survey(2).with_columns(pl.lit(None, dtype=pl.String).alias("nothing"))
    plan = propose(frame).plan
    assert plan is not None
    assert ko.anonymize(frame, plan).rows == 60


def test_a_column_of_dates_is_never_sensitive_by_its_name() -> None:
    frame = pl.DataFrame({"diagnosis_date": ["01.02.2020", "17.03.2021"] * 20, "diagnosis": ["a", "b"] * 20})
    roles = {column.name: column.role for column in profile(frame)}
    assert roles == {"diagnosis_date": Role.QUASI_IDENTIFYING, "diagnosis": Role.SENSITIVE}


def test_the_work_of_a_profile_is_linear_in_the_columns() -> None:
    narrow, wide = survey(100, rows=8), survey(800, rows=8)
    profile(narrow)
    work = [counted_calls(partial(profile, frame))[1] for frame in (narrow, wide)]
    assert work[1] < 9 * work[0]
    assert work[1] < 800 * 1_000


# Whom a row is about


def clinics(*, own_numbers: bool, people: int = 120, rows: int = 260) -> pl.DataFrame:
    """Stays in three clinics, of which each gives its own numbers, or that share the numbers of their patients."""
    draw = random.Random(people + own_numbers)
    born = [str(draw.randint(1930, 2005)) for _ in range(people)]
    whom = [*range(people), *(draw.randrange(people) for _ in range(rows - people))]
    found = []
    for person in whom:
        clinic = person % 3 if own_numbers else draw.randrange(3)
        number = str(person // 3 if own_numbers else person)
        found.append((f"C{clinic}", number, born[person], draw.choice("abc"), draw.choice(["flu", "cold", "gout"])))
    return pl.DataFrame(found, schema=["clinic", "patient", "birth_year", "ward", "diagnosis"], orient="row")


def runs(frame: pl.DataFrame, plan: ko.Plan | None) -> ko.Release:
    """The release of a plan as it is written; it must satisfy it."""
    assert plan is not None
    release = ko.anonymize(frame, ko.Plan.from_dict(plan.to_dict()))
    assert release.verification.satisfied
    return release


def reason_for_person(frame: pl.DataFrame) -> str:
    [reason] = [reason for reason in propose(frame).reasons if reason.startswith("person: ")]
    return reason


def test_numbers_that_each_clinic_gives_are_proposed_together_with_the_clinic() -> None:
    frame = clinics(own_numbers=True)
    plan = propose(frame).plan
    assert plan is not None
    assert plan.unit.columns == ("clinic", "patient")
    assert plan.attributes["patient"].role is Role.IDENTIFYING
    assert plan.attributes["clinic"].role is Role.QUASI_IDENTIFYING
    assert runs(frame, plan).verification.people == 120
    reason = reason_for_person(frame)
    assert "have different values of 'birth_year': each 'clinic' seems to give its own numbers" in reason
    assert "together have 120 different values in 260 rows" in reason


def test_every_exit_names_the_clinic_with_the_number_that_it_gives() -> None:
    frame = clinics(own_numbers=True)
    plan = propose(frame).plan
    assert plan is not None
    line, source = "person: [clinic, patient]", FrameSource(frame)
    for person in (None, Person()):
        [note] = person_notes(source, replace(plan, person=person))
        assert f"'{line}'" in note
        assert "'person: patient'" not in note
    cases = frame.with_columns(case_no=pl.int_range(frame.height).cast(pl.String) + "x")
    by_case = replace(plan, attributes={**plan.attributes, "case_no": {"role": "identifying"}}, person="case_no")  # type: ignore[arg-type,dict-item]
    [note] = person_notes(FrameSource(cases), by_case)
    assert f"write '{line}' in the plan if they say whom a row is about" in note
    with pytest.raises(ko.InputError, match=r"person: \['clinic', 'patient'\]"):
        refuse_repeated(repeated_column(source, plan.unit.roles), "person")


def test_a_number_that_only_the_clinic_makes_unique_does_not_contradict_rows_that_are_people() -> None:
    frame = clinics(own_numbers=True).unique(["clinic", "patient"], maintain_order=True)
    plan = propose(frame).plan
    assert plan is not None
    assert plan.unit.columns == ("clinic", "patient")
    assert person_notes(FrameSource(frame), replace(plan, person=Person())) == ()
    [note] = person_notes(FrameSource(frame), replace(plan, person=None))
    assert "every row has its own value of 'clinic' and 'patient'; add 'person: [clinic, patient]'" in note


def test_numbers_that_clinics_share_are_proposed_alone_and_the_alternative_is_named() -> None:
    frame = clinics(own_numbers=False)
    plan = propose(frame).plan
    assert plan is not None
    assert plan.unit.columns == ("patient",)
    assert runs(frame, plan).verification.people == 120
    assert "If each 'clinic' gives its own numbers, write 'person: [clinic, patient]'" in reason_for_person(frame)


def test_without_a_value_that_people_keep_the_safer_person_is_proposed() -> None:
    """Two people with one number count as one: k is reached too late, never too early."""
    frame = clinics(own_numbers=True).drop("birth_year")
    plan = propose(frame).plan
    assert plan is not None
    assert plan.unit.columns == ("patient",)
    assert runs(frame, plan).verification.people == 40


def test_errors_in_the_date_of_birth_are_no_evidence_for_numbers_of_each_clinic() -> None:
    draw = random.Random(5)
    frame = clinics(own_numbers=False)
    wrong = [str(draw.randint(1930, 2005)) if draw.random() < 0.02 else year for year in frame["birth_year"]]
    plan = propose(frame.with_columns(birth_year=pl.Series(wrong))).plan
    assert plan is not None
    assert plan.unit.columns == ("patient",)


def test_a_person_that_some_rows_do_not_name_is_left_to_somebody_who_knows() -> None:
    frame = clinics(own_numbers=False).with_columns(
        patient=pl.when(pl.int_range(260) % 7 == 0).then(None).otherwise(pl.col("patient"))
    )
    plan = propose(frame).plan
    assert plan is not None
    assert not plan.unit.is_stated
    assert plan.attributes["patient"].role is Role.IDENTIFYING
    runs(frame, plan)
    assert "but not in 38 rows" in reason_for_person(frame)
    assert "then add the line 'person: patient'" in reason_for_person(frame)


@pytest.mark.parametrize("people", [2, 3, 4])
def test_a_table_of_few_people_gets_a_k_that_they_can_reach(people: int) -> None:
    frame = pl.DataFrame(
        {
            "patient": [f"p{row % people}" for row in range(30)],
            "ward": [f"w{row % people}" for row in range(30)],
            "diagnosis": [("flu", "cold", "gout")[row % 3] for row in range(30)],
        }
    )
    assert runs(frame, propose(frame).plan).smallest_class == people


def test_a_table_of_one_person_gets_no_plan() -> None:
    frame = pl.DataFrame({"patient": ["p"] * 9, "ward": list("abcabcabc"), "diagnosis": list("xyzxyzxyz")})
    found = propose(frame)
    assert found.plan is None
    assert found.why_no_plan.startswith("all rows seem to be about one person, and there is nobody to hide among")


def test_a_value_that_everybody_has_is_not_asked_to_be_hidden() -> None:
    frame = pl.DataFrame(
        {
            "patient": [f"p{row // 2}" for row in range(20)],
            "ward": [f"w{row % 3}" for row in range(20)],
            "diagnosis": ["HIV" if row % 2 else f"other {row}" for row in range(20)],
        }
    )
    found = propose(frame)
    assert found.models == (KAnonymity(k=5),)
    why = "no model can protect 'diagnosis': all people have one value in common, or lack one, in at least one of their"
    assert any(reason.startswith(why) for reason in found.reasons)
    runs(frame, found.plan)


def test_many_quasi_identifiers_of_people_with_several_rows_run_as_written() -> None:
    frame = survey(14).with_columns(patient_id=pl.Series([f"p{row % 25}" for row in range(60)]))
    plan = propose(frame).plan
    assert plan is not None
    assert plan.unit.columns == ("patient_id",)
    runs(frame, plan)


def test_the_service_proposes_the_same_people_as_the_command() -> None:
    for own_numbers in (True, False):
        frame = clinics(own_numbers=own_numbers)
        assert read_plan(proposal(frame, set())["config"], Dataset(frame.columns, {})) == propose(frame).plan


def test_a_column_that_says_whom_a_row_is_about_is_identifying_with_that_reason() -> None:
    frame = pl.DataFrame(
        {"Pat": [f"X{row // 6:04d}" for row in range(120)], "age": [str(40 + row // 6) for row in range(120)]}
    )
    found = propose(frame)
    column = next(one for one in found.columns if one.name == "Pat")
    assert (str(column.role), column.why) == ("identifying", "it seems to say whom a row is about")
    assert (column.hierarchy, column.why_hierarchy) == (None, "")
    assert found.plan is not None
    assert found.plan.person is not None
    assert found.plan.person.columns == ("Pat",)
