"""What a certificate promises, in the unit that was counted."""

from __future__ import annotations

import re
from typing import Any

import pytest

import kohorte as ko
from kohorte.models import MODELS
from kohorte.models.words import section_of
from kohorte.release.telling.promises import leaves_open, plan_notes, protects_against
from support.stays import Stays

ADDED = "k-anonymity (k = 2) was added to the models of the plan: where people are counted, a class of one person is"


def text_of(stays: Stays, **options: Any) -> str:
    return " ".join(ko.certify(ko.anonymize(stays.frame, stays.plan(**options))).to_text().split())


def test_a_plan_that_asks_for_nothing_says_what_was_added_where_people_are_counted() -> None:
    text = text_of(Stays.drawn(1), k=1)
    assert ADDED in text
    assert "k-anonymity (k = 1): nothing, because every table satisfies it." in text
    assert "k-anonymity (k = 2): Every class has rows of at least k different people" in text
    assert "no model of the plan promises anything" not in text
    assert "k-anonymity (k = 1): Attribute disclosure" not in text


def test_the_command_and_the_verification_say_what_was_added() -> None:
    stays = Stays.drawn(1)
    assert [note for note in plan_notes(stays.plan(k=1)) if note.startswith(ADDED)]
    assert plan_notes(stays.plan(k=2)) == []


def test_a_plan_that_asks_for_nothing_by_rows_promises_nothing() -> None:
    plan = Stays.drawn(1).plan(k=1, person=None)
    assert protects_against(plan) == ["k-anonymity (k = 1): nothing, because every table satisfies it."]
    assert leaves_open(plan)
    text = text_of(Stays.drawn(1), k=1, person=None)
    assert "no model of the plan promises anything" in text
    assert "was added" not in text


def test_that_every_row_is_another_person_is_the_statement_of_the_author() -> None:
    said = (
        "that every row is another person is stated by the author of the plan (person: none); the program did not prove"
    )
    assert said in text_of(Stays.drawn(1, people=100), person="none")
    assert said not in text_of(Stays.drawn(1), person="patient")
    assert "contradicts the table: 'patient' has 40 different values in 100 rows" in text_of(
        Stays.drawn(1), person="none"
    )


def test_an_unprotected_value_is_shared_by_what_was_counted() -> None:
    for person, many in (("patient", "people"), (None, "rows")):
        assert f"when all {many} of a class share its value" in text_of(Stays.drawn(1), person=person)


def test_k_anonymity_by_rows_does_not_promise_people() -> None:
    for person in (None, "none"):
        [said] = protects_against(Stays.drawn(1).plan(k=5, person=person))
        assert "at least k rows that fit a person" in said
        assert "candidates for each person" not in said


ROWS_IN_ANY_CASE = (
    "a row that is not suppressed",
    "suppressed rows",
    "without a row in the release",
    "rows of at least k different people",
    "of one row",
    "without finding the row",
)


@pytest.mark.parametrize("title", ["Guarantee", "Leaves open"])
@pytest.mark.parametrize("kind", [kind for kind in MODELS if not kind.people_refused], ids=lambda kind: kind.name)
def test_no_model_speaks_of_rows_where_people_are_counted(kind: type, title: str) -> None:
    """Only what is about rows in any case: suppressed ones, and the row that an attacker knows or looks for."""
    said = section_of(kind.__doc__, f"{title} for people") or section_of(kind.__doc__, title)
    for words in ROWS_IN_ANY_CASE:
        said = said.replace(words, "")
    assert not re.search(r"\brows?\b", said), said


def test_all_rows_of_a_person_are_promised_where_sets_were_judged() -> None:
    stays = Stays.drawn(1)
    by_sets = stays.plan(person={"column": "patient", "attacker_knows": "all_rows"})
    assert any("knows all rows of somebody" in line for line in protects_against(by_sets))
    assert not any("knows all rows of somebody" in line for line in protects_against(stays.plan()))
    assert any("attacker_knows: one_row" in line for line in leaves_open(stays.plan()))
    assert not any("attacker_knows: one_row" in line for line in leaves_open(by_sets))


def test_too_few_people_for_a_model_are_called_people() -> None:
    frame = Stays.drawn(1, people=3, rows=30)
    with pytest.raises(ko.InputError, match="classes of 5 people, but the table has only 3 people") as caught:
        ko.anonymize(frame.frame, frame.plan(k=5))
    assert caught.value.code == "model-beyond-rows"
    one = Stays(frame.rows[:1])
    with pytest.raises(ko.InputError, match=r"classes of 5 rows, but the table has only 1 row$"):
        ko.anonymize(one.frame, one.plan(k=5, person="none"))
