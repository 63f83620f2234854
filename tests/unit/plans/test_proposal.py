"""The first plan for a table: one for command and service, the safer one, and it runs as it is written."""

from __future__ import annotations

import random
from functools import partial

import polars as pl
import pytest

import kohorte as ko
from kohorte.data import Role
from kohorte.models import DistinctLDiversity, KAnonymity
from kohorte.plans.profile import profile
from kohorte.plans.proposal import propose
from kohorte.service.datasets.proposal import proposal
from kohorte.service.projects.configuration import Dataset, read_plan
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
def test_the_proposed_plan_runs_as_it_is_written_whatever_the_number_of_quasi_identifiers(columns: int) -> None:
    frame = survey(columns)
    plan = propose(frame).plan
    assert plan is not None
    assert len(plan.quasi_identifiers) == columns
    release = ko.anonymize(frame, ko.Plan.from_dict(plan.to_dict()))
    assert ko.verify(release.data, plan).satisfied


def test_an_algorithm_without_a_limit_is_proposed_only_for_many_combinations_and_the_reason_is_given() -> None:
    few, many = propose(survey(5)), propose(survey(14))
    assert (few.algorithm, many.algorithm) == ("optimal", "datafly")
    assert any("algorithm datafly: there are" in reason for reason in many.reasons)
    assert not any("datafly" in reason for reason in few.reasons)


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
