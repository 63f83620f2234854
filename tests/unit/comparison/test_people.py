"""The comparison where people are counted, against a count in plain Python of what each algorithm releases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.comparison import words
from kohorte.comparison.outcome import Outcome, Status
from kohorte.comparison.task import Task
from kohorte.release.preparation import encode_problem
from kohorte.release.recoding import recoding_problem
from kohorte.sources import FrameSource
from support.stays import Stays, different

K = 3
SOME = ["optimal", "exhaustive", "samarati", "mondrian", "local_recoding"]


def figures(stays: Stays, release: pl.DataFrame) -> dict[str, object]:
    """The figures of a release in the order of its rows, in people where classes are meant."""
    shown = list(zip(*(release[name].cast(pl.String) for name in ("ward", "age", "sex")), strict=True))
    kept = [cells != ("*", "*", "*") for cells in shown]
    rows = [row for row, keeps in enumerate(kept) if keeps]
    sizes = [len(own) for own in different([shown[row] for row in rows], [stays.persons[row] for row in rows]).values()]
    of_person = different(stays.persons, kept)
    return {
        "classes": len(sizes),
        "smallest_class": min(sizes),
        "average_class": pytest.approx(sum(sizes) / len(sizes)),
        "suppressed": kept.count(False),
        "people_losing_rows": sum(False in own for own in of_person.values()),
        "people_losing_all_rows": sum(True not in own for own in of_person.values()),
    }


@pytest.mark.parametrize("seed", range(3))
def test_figures_about_classes_count_people(seed: int) -> None:
    stays = Stays.drawn(seed)
    plan = replace(stays.plan(K), order="input")
    found = ko.compare_algorithms(stays.frame, plan, algorithms=SOME, queries=20)
    assert {outcome.algorithm for outcome in found.released} >= {"optimal", "mondrian"}
    for outcome in found.released:
        release = ko.anonymize(stays.frame, replace(plan, search=ko.SearchOptions(algorithm=outcome.algorithm)))
        entry = outcome.to_dict()
        assert {name: entry[name] for name in figures(stays, release.data)} == figures(stays, release.data)
        assert outcome.verified
        assert outcome.smallest_class is not None
        assert outcome.smallest_class >= K
    assert (found.to_dict()["unit"], found.to_dict()["people"]) == ("people", 40)


def test_by_all_rows_the_smallest_class_is_the_fewest_people_with_the_same_classes() -> None:
    stays = Stays.drawn(7)
    person = {"column": "patient", "attacker_knows": "all_rows"}
    plan = replace(stays.plan(K, limit=0.9, person=person), order="input")
    found = ko.compare_algorithms(stays.frame, plan, algorithms=["optimal", "mondrian"], queries=5)
    release = ko.anonymize(stays.frame, plan)
    assert found.of("optimal").smallest_class == release.smallest_class
    assert found.of("optimal").verified
    assert found.of("mondrian").status is Status.REFUSED
    assert "people by all their rows together" in str(found.of("mondrian").reason)


def test_algorithms_that_count_rows_are_listed_with_the_reason() -> None:
    stays = Stays.drawn(2)
    found = ko.compare_algorithms(stays.frame, stays.plan(K), algorithms=["optimal", "mu_argus", "hill_climbing"])
    for name in ("mu_argus", "hill_climbing"):
        assert found.of(name).status is Status.REFUSED
        assert found.of(name).reason == "it counts rows, and the plan counts people (person)"
        assert f"- `{name}` cannot solve this plan: it counts rows" in found.to_markdown()


def test_texts_and_page_name_the_unit_of_every_figure() -> None:
    stays = Stays.drawn(3)
    found = ko.compare_algorithms(stays.frame, stays.plan(K), algorithms=["optimal", "mondrian"], task="blood")
    page = " ".join(found.to_html().split())
    assert "Models and class sizes count people (patient), not rows: 40 people in 100 rows" in page
    assert "count queries and the accuracy of a task count rows" in page
    for name in ("smallest (people)", "average (people)", "suppressed rows", "people losing all rows"):
        assert f'<th scope="col">{name}</th>' in page
    assert "random queries that count rows" in page
    assert "no person has rows both to learn from and to predict" in page
    assert "smallest (people) | suppressed rows | people losing all rows" in found.to_markdown()


def test_by_rows_nothing_is_said_about_people() -> None:
    each, stays = Stays.drawn(3, people=100), Stays.drawn(3)
    found = ko.compare_algorithms(each.frame, each.plan(K, person="none"), algorithms=["optimal"], queries=5)
    assert (found.to_dict()["unit"], found.to_dict()["people"], found.notes) == ("rows", None, ())
    assert found.of("optimal").people_losing_all_rows is None
    assert "people" not in found.to_markdown()
    noted = ko.compare_algorithms(stays.frame, stays.plan(K, person=None), algorithms=["optimal"], queries=5)
    assert any("'patient' has 40 different values in 100 rows" in note for note in noted.notes)
    assert "rows are counted, not people" in noted.to_html()


def test_what_failed_is_measured_in_the_unit_of_the_plan() -> None:
    failed = Outcome("a", True, "", Status.NOT_PRIVATE, "it fails", smallest_class=1, suppressed=2)
    stays = Stays.drawn(1)
    found = ko.compare_algorithms(stays.frame, stays.plan(K), algorithms=["optimal"], queries=5)
    assert words.why(failed, found.unit) == "it fails (smallest class 1 person, 2 rows suppressed)"


def division(stays: Stays, person: str) -> tuple[list[bool], list[bool]]:
    plan = stays.plan(K, person=person)
    prepared = encode_problem(FrameSource(stays.frame), plan, by_row=True)
    task = Task.prepare(prepared, recoding_problem(prepared).lines, "blood", 5)
    return task.training.tolist(), task.test.tolist()


def test_nobody_is_both_learnt_from_and_predicted() -> None:
    stays = Stays.drawn(8)
    training, test = division(stays, "patient")
    learnt, predicted = (
        {person for person, chosen in zip(stays.persons, part, strict=True) if chosen} for part in (training, test)
    )
    assert learnt.isdisjoint(predicted)
    assert (len(learnt), len(predicted)) == (28, 12)
    assert np.logical_xor(training, test).all()


def test_where_every_row_is_a_person_the_rows_are_divided_as_before() -> None:
    stays = Stays.drawn(9, people=60, rows=60)
    assert division(stays, "patient") == division(stays, "none")


def test_where_every_row_is_a_person_all_figures_are_those_of_rows() -> None:
    stays = Stays.drawn(6, people=60, rows=60)
    chosen = ["optimal", "mondrian", "local_recoding"]
    by_people, by_rows = (
        ko.compare_algorithms(stays.frame, stays.plan(K, person=person), algorithms=chosen, task="blood", queries=20)
        for person in ("patient", "none")
    )
    for name in chosen:
        one, other = by_people.of(name).to_dict(), by_rows.of(name).to_dict()
        about_people = ("people_losing_rows", "people_losing_all_rows", "seconds")
        assert {key: one[key] for key in one if key not in about_people} == {
            key: other[key] for key in other if key not in about_people
        }
