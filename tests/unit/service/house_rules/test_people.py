"""The rule `people`: what passes the rules of a house that counts people protects people, by a count of its own."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from kohorte.dp import Budget
from kohorte.errors import InputError, NoSolution
from kohorte.service.house_rules import HouseRules, QuestionTerms, ReleaseTerms

K, L = 3, 2
REQUIRED = [{"model": "k-anonymity", "k": K}, {"model": "l-diversity_distinct", "l": L}]
ANY = HouseRules.from_dict({"least_k": K, "required_models": REQUIRED})
COUNTED = HouseRules.from_dict(ANY.to_dict() | {"people": "counted"})
STATED = HouseRules.from_dict(ANY.to_dict() | {"people": "stated"})
PERSONS: tuple[Any, ...] = (None, "none", "patient", {"column": "patient", "attacker_knows": "all_rows"})
MODELS: tuple[dict[str, Any], ...] = (
    {"model": "k-anonymity", "k": 2},
    {"model": "k-anonymity", "k": 3},
    {"model": "k-anonymity", "k": 4},
    {"model": "l-diversity_distinct", "attribute": "diagnosis", "l": 2},
    {"model": "l-diversity_distinct", "attribute": "diagnosis", "l": 3},
    {"model": "l-diversity_entropy", "attribute": "diagnosis", "l": 1.5},
    {"model": "alpha-k-anonymity", "attribute": "diagnosis", "alpha": 0.5, "k": 3},
    {"model": "alpha-k-anonymity", "attribute": "diagnosis", "alpha": 0.34, "k": 1},
)


def stays(chance: random.Random) -> pl.DataFrame:
    """Few patients with several rows each."""
    rows, patients = chance.randint(10, 24), chance.randint(4, 9)
    return pl.DataFrame(
        {
            "patient": [f"p{chance.randrange(patients)}" for _ in range(rows)],
            "ward": [chance.choice("abcd") for _ in range(rows)],
            "sex": [chance.choice("fm") for _ in range(rows)],
            "diagnosis": [chance.choice("uvw") for _ in range(rows)],
        }
    )


def plan(models: list[dict[str, Any]], person: object) -> ko.Plan:
    attributes = {
        "patient": {"role": "identifying"},
        "ward": {"role": "quasi-identifying", "hierarchy": {"tree": {"A": ["a", "b"], "B": ["c", "d"]}}},
        "sex": {"role": "quasi-identifying"},
        "diagnosis": {"role": "sensitive"},
    }
    stated = {} if person is None else {"person": person}
    options = {"suppression_limit": 0.5, "output": {"order": "input"}, **stated}
    return ko.Plan.from_dict({"kohorte": 1, "attributes": attributes, "models": models, **options})


def protected(table: pl.DataFrame, release: pl.DataFrame) -> bool:
    """The oracle: every class has K people and L values, and L - 1 people do not have its most frequent value."""
    classes: defaultdict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for patient, *shown in zip(table["patient"], release["ward"], release["sex"], release["diagnosis"], strict=True):
        classes[shown[0], shown[1]].append((patient, shown[2]))
    for shown, rows in classes.items():
        people = {patient for patient, _ in rows}
        holders = [len({patient for patient, own in rows if own == value}) for value in {value for _, value in rows}]
        doubted = len(people) - max(holders) >= L - 1
        if shown != ("*", "*") and not (len(people) >= K and len(holders) >= L and doubted):
            return False
    return True


def test_what_a_house_that_counts_people_lets_pass_protects_people() -> None:
    """Plans that count rows pass the other rules and would break the promise; none of them passes this one."""
    chance, passed, unsafe = random.Random(1), 0, 0
    for _ in range(150):
        table, person = stays(chance), chance.choice(PERSONS)
        chosen = plan(chance.sample(MODELS, chance.randint(1, 3)), person)
        terms = ReleaseTerms.of(chosen)
        if list(ANY.breaches(terms)):
            continue
        breaches = [breach.rule for breach in COUNTED.breaches(terms)]
        assert breaches == ([] if chosen.unit.counts_people else ["people"])
        try:
            release = ko.anonymize(table, chosen).data
        except (NoSolution, InputError):
            continue
        if breaches:
            unsafe += not protected(table, release)
        else:
            passed += 1
            assert protected(table, release)
    assert passed >= 10
    assert unsafe >= 5


@pytest.mark.parametrize(("person", "rules"), [(None, ["people"]), ("none", []), ("patient", [])])
def test_a_house_can_ask_for_a_statement_about_people(person: object, rules: list[str]) -> None:
    terms = ReleaseTerms.of(plan([MODELS[2], MODELS[3]], person))
    assert [breach.rule for breach in STATED.breaches(terms)] == rules


@pytest.mark.parametrize(
    ("private_id", "stated", "counted"),
    [(None, ["people"], ["people"]), ("none", [], ["people"]), ("patient", [], []), (["clinic", "patient"], [], [])],
)
def test_the_rule_holds_for_queries_too(private_id: Any, stated: list[str], counted: list[str]) -> None:
    metadata = ko.QueryMetadata(
        table="t", columns={"age": {"datatype": "int", "min": 0, "max": 9}}, budget=Budget(1), private_id=private_id
    )
    terms = QuestionTerms.of(metadata)
    assert [breach.rule for breach in STATED.breaches(terms)] == stated
    assert [breach.rule for breach in COUNTED.breaches(terms)] == counted


def test_the_fewest_of_a_class_are_people_where_the_plan_counts_people() -> None:
    [breach] = HouseRules(least_k=5).breaches(ReleaseTerms.of(plan([MODELS[1]], "patient")))
    assert breach.reason == "every class needs at least 5 people; the models ask for 3"


@pytest.mark.parametrize("wrong", ["rows", True, ["counted"]])
def test_another_value_of_the_rule_is_refused(wrong: object) -> None:
    with pytest.raises(InputError, match="people is stated or counted, or null"):
        HouseRules.from_dict({"people": wrong})
