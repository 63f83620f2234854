"""Recoders that count people: every class of the release has k different people, by a count of the test's own."""

from __future__ import annotations

import random
from collections import defaultdict

import polars as pl
import pytest

from kohorte import Plan, anonymize
from kohorte.errors import InputError


def table(rows: int = 400, people: int = 90) -> pl.DataFrame:
    chance = random.Random(9)
    person = [chance.randrange(people) for _ in range(rows)]
    return pl.DataFrame(
        {
            "patient": [f"P{number}" for number in person],
            "age": [20 + (number * 7) % 60 + chance.randrange(3) for number in person],
            "stay": [chance.randrange(1, 30) for _ in range(rows)],
            "diagnosis": [chance.choice("ABCD") for _ in range(rows)],
        }
    )


def plan(algorithm: str, *more: dict[str, object], **options: object) -> Plan:
    return Plan.from_dict(
        {
            "kohorte": 1,
            "attributes": {
                "age": {
                    "role": "quasi-identifying",
                    "hierarchy": {"intervals": {"widths": [5, 20], "lower": 0, "upper": 100}},
                },
                "stay": {
                    "role": "quasi-identifying",
                    "hierarchy": {"intervals": {"widths": [5, 10], "lower": 0, "upper": 40}},
                },
                "diagnosis": {"role": "sensitive"},
            },
            "models": [{"model": "k-anonymity", "k": 4}, *more],
            "suppression_limit": 0.3,
            "search": {"algorithm": algorithm},
            "person": "patient",
            "output": {"order": "input"},
            **options,
        }
    )


def people_of_classes(frame: pl.DataFrame, released: pl.DataFrame) -> list[set[str]]:
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for person, age, stay in zip(frame["patient"], released["age"], released["stay"], strict=True):
        found[str(age), str(stay)].add(person)
    return [people for shown, people in found.items() if shown != ("*", "*")]


@pytest.mark.parametrize("algorithm", ["mondrian", "mondrian_relaxed", "local_recoding", "cell_suppression"])
def test_a_recoder_leaves_no_class_of_fewer_people_than_k(algorithm: str) -> None:
    frame = table()
    release = anonymize(frame, plan(algorithm))
    sizes = [len(people) for people in people_of_classes(frame, release.data)]
    assert min(sizes) >= 4
    assert release.smallest_class == min(sizes)
    assert release.verification.unit == "people"
    assert release.verification.people == 90


def test_mondrian_by_rows_would_have_left_smaller_classes() -> None:
    frame = table()
    by_rows = anonymize(frame, Plan.from_dict(plan("mondrian").to_dict() | {"person": "none"}))
    assert min(len(people) for people in people_of_classes(frame, by_rows.data)) < 4


def test_mondrian_counts_people_for_the_diversity_of_values() -> None:
    frame = table()
    release = anonymize(frame, plan("mondrian", {"model": "l-diversity_distinct", "attribute": "diagnosis", "l": 2}))
    rows = zip(release.data["age"], release.data["stay"], frame["patient"], frame["diagnosis"], strict=True)
    holders: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for age, stay, person, value in rows:
        holders[str(age), str(stay)][value].add(person)
    for of_value in holders.values():
        everybody = set().union(*of_value.values())
        assert all(len(everybody) - len(some) >= 1 for some in of_value.values())


@pytest.mark.parametrize("algorithm", ["k_optimize", "hill_climbing", "mu_argus", "mu_argus_complete"])
def test_a_recoder_that_counts_rows_by_itself_says_so(algorithm: str) -> None:
    with pytest.raises(InputError, match="the plan counts people") as raised:
        anonymize(table(), plan(algorithm))
    assert raised.value.code == "algorithm-unfit"


def test_recoders_refuse_to_judge_people_by_all_their_rows() -> None:
    all_rows = {"column": "patient", "attacker_knows": "all_rows"}
    with pytest.raises(InputError, match="all their rows together") as raised:
        anonymize(table(), plan("mondrian", person=all_rows))
    assert "optimal" in raised.value.message
