"""Models that are called at least as strict as others imply them, on every table."""

from __future__ import annotations

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
)
from kohorte.models.strictness import DIRECTIONS, at_least_as_strict
from support.examples import examples
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
