"""Models that are called at least as strict as others imply them, on every table."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from math import log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte.models import (
    MODELS,
    AlphaKAnonymity,
    AverageRisk,
    BasicBetaLikeness,
    DeltaPresence,
    DistinctLDiversity,
    EnhancedBetaLikeness,
    EntropyLDiversity,
    EqualTCloseness,
    KAnonymity,
    KMap,
    NTCloseness,
    OrderedTCloseness,
    PopulationUniqueness,
    RecursiveLDiversity,
    SafeHarborRule,
    model_from_dict,
)
from kohorte.models.strictness import DIRECTIONS, at_least_as_strict
from support.examples import examples
from support.people_oracle import CONDITIONS, Seen
from support.problems import evaluator_of
from support.strategies import DIAGNOSIS, INCOME, RANDOM_MODELS, guarded_tables

CITY = {"population": "citizens.csv"}


def test_every_kind_of_model_says_in_which_direction_it_becomes_stricter() -> None:
    assert set(DIRECTIONS) == set(MODELS)


@pytest.mark.parametrize("kind", RANDOM_MODELS, ids=lambda kind: kind.name)
@examples(15)
@given(data=st.data())
def test_adding_what_a_stricter_model_implies_changes_no_release(kind, data) -> None:
    required = data.draw(RANDOM_MODELS[kind])
    several = data.draw(st.tuples(*[RANDOM_MODELS[kind]] * 4, *[st.one_of(*RANDOM_MODELS.values())] * 4))
    stricter = next((one for one in several if at_least_as_strict(one, required) and one != required), required)
    table = data.draw(guarded_tables(stricter, required))
    alone = evaluator_of(table.encoded, "height", [stricter], limit=len(table.rows))
    together = evaluator_of(table.encoded, "height", [stricter, required], limit=len(table.rows))
    for node in table.lattice.nodes():
        one, both = alone(node), together(node)
        assert (one.solution, one.suppressed, one.classes) == (both.solution, both.suppressed, both.classes)


@pytest.mark.parametrize(
    ("stricter", "required"),
    [
        (KAnonymity(10), KAnonymity(5)),
        (AlphaKAnonymity(DIAGNOSIS, alpha=0.5, k=5), KAnonymity(5)),
        (DistinctLDiversity(DIAGNOSIS, l=5), KAnonymity(5)),
        (KAnonymity(20), AverageRisk(threshold=0.05)),
        (EntropyLDiversity(DIAGNOSIS, l=2.5), DistinctLDiversity(DIAGNOSIS, l=3)),
        (RecursiveLDiversity(DIAGNOSIS, c=2, l=4), RecursiveLDiversity(DIAGNOSIS, c=3, l=3)),
        (EnhancedBetaLikeness(DIAGNOSIS, beta=1), BasicBetaLikeness(DIAGNOSIS, beta=2)),
        (NTCloseness(DIAGNOSIS, n=2000, t=0.1), NTCloseness(DIAGNOSIS, n=1000, t=0.2)),
        (DeltaPresence(0.06, 0.1, **CITY), DeltaPresence(0.05, 0.15, **CITY)),
        (SafeHarborRule(allow=["visit"]), SafeHarborRule(allow=["visit", "center"])),
        (PopulationUniqueness(0.01, 0.1), PopulationUniqueness(0.05, 0.1)),
    ],
)
def test_a_stricter_model_is_recognised_and_the_reverse_is_not(stricter, required) -> None:
    assert at_least_as_strict(stricter, required)
    assert at_least_as_strict(required, required)
    assert not at_least_as_strict(required, stricter)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (KMap(k=5, **CITY), KAnonymity(5)),
        (KAnonymity(5), KMap(k=5, **CITY)),
        (KMap(k=5, **CITY), KMap(k=5, population="members.csv")),
        (DistinctLDiversity(DIAGNOSIS, l=3), DistinctLDiversity(INCOME, l=3)),
        (DistinctLDiversity(DIAGNOSIS, l=9), EntropyLDiversity(DIAGNOSIS, l=2)),
        (EqualTCloseness(INCOME, t=0.1), OrderedTCloseness(INCOME, t=0.2)),
        (RecursiveLDiversity(DIAGNOSIS, c=4, l=4), RecursiveLDiversity(DIAGNOSIS, c=3, l=3)),
        (PopulationUniqueness(0.01, 0.2), PopulationUniqueness(0.05, 0.1)),
        (DeltaPresence(0.1, 0.2, empty_classes="ignore", **CITY), DeltaPresence(0.1, 0.2, **CITY)),
        (SafeHarborRule(), KAnonymity(2)),
    ],
)
def test_models_that_cannot_be_compared_are_not_as_strict(one, other) -> None:
    assert not at_least_as_strict(one, other)


# People, of whom each may have several values


def enhanced_likeness(seen: Seen, model: dict) -> bool:
    """Cao and Karras 2012: the basic condition, and an upper limit for values that are frequent in the table."""
    return CONDITIONS["beta-likeness_basic"](seen, model) and all(
        count / seen.people <= -log(seen.table[value] / seen.table_people) * q + q + 1e-12
        for value, count in seen.holders.items()
        for q in (seen.table[value] / seen.table_people,)
    )


OF_ONE = {"attribute": DIAGNOSIS}
PARAMETERS: dict[str, dict[str, tuple[Any, ...]]] = {
    "k-anonymity": {"k": (2, 3, 4, 5)},
    "l-diversity_distinct": {"l": (2, 3, 4)},
    "l-diversity_entropy": {"l": (1.2, 2, 2.5, 3)},
    "l-diversity_recursive": {"c": (0.5, 1, 2), "l": (2, 3)},
    "alpha-k-anonymity": {"alpha": (0.3, 0.4, 0.5, 0.7, 1), "k": (1, 2, 4)},
    "t-closeness_equal": {"t": (0.1, 0.3, 0.5)},
    "beta-likeness_basic": {"beta": (0.5, 1, 2)},
    "beta-likeness_enhanced": {"beta": (0.5, 1, 2)},
    "delta-disclosure": {"delta": (0.5, 1, 3)},
}
ORACLE: dict[str, Callable[[Seen, dict], bool]] = {**CONDITIONS, "beta-likeness_enhanced": enhanced_likeness}


def any_model(chance: random.Random) -> dict[str, Any]:
    name = chance.choice(list(PARAMETERS))
    own = {} if name == "k-anonymity" else OF_ONE
    return {"model": name, **own, **{key: chance.choice(several) for key, several in PARAMETERS[name].items()}}


def any_class(chance: random.Random) -> Seen:
    """A class of people with one or more values each, in a table of more people."""
    table = [{chance.choice("uvwx") for _ in range(chance.choice((1, 1, 2, 3)))} for _ in range(chance.randint(2, 12))]
    own = chance.sample(table, chance.randint(1, len(table)))
    counted = [Counter(value for values in people for value in values) for people in (own, table)]
    return Seen(len(own), counted[0], len(table), counted[1])


def test_what_a_stricter_model_implies_also_holds_for_people_with_several_values() -> None:
    """An oracle in plain Python judges random classes of people by both models."""
    chance, implied = random.Random(7), Counter[tuple[str, str]]()
    for _ in range(12_000):
        given, required = any_model(chance), any_model(chance)
        if not at_least_as_strict(model_from_dict(given), model_from_dict(required)):
            continue
        for seen in (any_class(chance) for _ in range(4)):
            if ORACLE[given["model"]](seen, given):
                assert ORACLE[required["model"]](seen, required), (given, required, seen)
                implied[given["model"], required["model"]] += 1
    assert {pair for pair in implied if pair[0] != pair[1]} == {
        *((name, "k-anonymity") for name in PARAMETERS if "diversity" in name or "alpha" in name),
        ("l-diversity_entropy", "l-diversity_distinct"),
        ("l-diversity_recursive", "l-diversity_distinct"),
        ("alpha-k-anonymity", "l-diversity_distinct"),
        ("beta-likeness_enhanced", "beta-likeness_basic"),
    }
    assert {pair[0] for pair in implied if pair[0] == pair[1]} == {*PARAMETERS}


def test_classes_of_k_people_imply_an_average_risk_in_which_a_person_counts_in_each_class() -> None:
    chance = random.Random(3)
    for _ in range(300):
        k, threshold = chance.randint(2, 6), chance.choice((0.1, 0.2, 0.25, 0.3, 0.5))
        sizes = [k + chance.randint(0, 3) for _ in range(chance.randint(1, 5))]
        if at_least_as_strict(KAnonymity(k), AverageRisk(threshold)):
            assert Fraction(len(sizes), sum(sizes)) <= Fraction(str(threshold))
        else:
            assert Fraction(1, k) > Fraction(str(threshold))
