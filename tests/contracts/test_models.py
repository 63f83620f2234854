"""What every privacy model promises to the searches and to the verification."""

import json
import math
import re
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte.models
from kohorte.data import strict_yaml
from kohorte.errors import InputError
from kohorte.groups import Domain, Groups, Histogram, Population
from kohorte.metrics import PLAIN_METRICS
from kohorte.models import (
    MODELS,
    AlphaKAnonymity,
    AverageRisk,
    BasicBetaLikeness,
    DeltaDisclosure,
    DeltaPresence,
    DistinctLDiversity,
    EnhancedBetaLikeness,
    EntropyLDiversity,
    EqualTCloseness,
    HierarchicalTCloseness,
    KAnonymity,
    KMap,
    NTCloseness,
    OrderedTCloseness,
    RecursiveLDiversity,
    SafeHarborRule,
    model_from_dict,
)
from kohorte.search import search_named
from kohorte.sources import Missing
from support import model_oracle
from support.examples import examples
from support.problems import evaluator_of, problem_of
from support.strategies import DIAGNOSIS, INCOME, RANDOM_MODELS, STAGE, guarded_tables, limits
from support.tables import POPULATION, SUBSET, SmallTable, classes_table, flat_levels, tree_levels

FILE, COLUMN = {"population": POPULATION}, {"subset": SUBSET}

EXAMPLES = {
    KAnonymity: (KAnonymity(k=1), KAnonymity(k=2), KAnonymity(k=7)),
    DistinctLDiversity: (DistinctLDiversity(DIAGNOSIS, l=1), DistinctLDiversity(DIAGNOSIS, l=3)),
    EntropyLDiversity: (
        EntropyLDiversity(DIAGNOSIS, l=1.8),
        EntropyLDiversity(DIAGNOSIS, l=3),
        EntropyLDiversity(DIAGNOSIS, l=2.0),
    ),
    RecursiveLDiversity: (
        RecursiveLDiversity(DIAGNOSIS, c=3, l=2),
        RecursiveLDiversity(DIAGNOSIS, c=4.5, l=3),
        RecursiveLDiversity(DIAGNOSIS, c=1.1, l=1),
    ),
    EqualTCloseness: (EqualTCloseness(DIAGNOSIS, t=0.2), EqualTCloseness(DIAGNOSIS, t=0)),
    OrderedTCloseness: (OrderedTCloseness(INCOME, t=0.2), OrderedTCloseness(STAGE, t=1)),
    HierarchicalTCloseness: (HierarchicalTCloseness(DIAGNOSIS, t=0.2), HierarchicalTCloseness(DIAGNOSIS, t=0.05)),
    DeltaPresence: (
        DeltaPresence(0.05, 0.15, **FILE),
        DeltaPresence(0, 0.5, **COLUMN),
        DeltaPresence(0.2, 1.0, empty_classes="ignore", **COLUMN),
    ),
    KMap: (KMap(k=5, **FILE), KMap(k=2, **COLUMN)),
    AlphaKAnonymity: (
        AlphaKAnonymity(DIAGNOSIS, alpha=0.5, k=2),
        AlphaKAnonymity(DIAGNOSIS, alpha=0.3, k=1),
        AlphaKAnonymity(DIAGNOSIS, alpha=1, k=4),
    ),
    DeltaDisclosure: (DeltaDisclosure(DIAGNOSIS, delta=1), DeltaDisclosure(DIAGNOSIS, delta=0.5)),
    BasicBetaLikeness: (BasicBetaLikeness(DIAGNOSIS, beta=1), BasicBetaLikeness(DIAGNOSIS, beta=0.4)),
    EnhancedBetaLikeness: (EnhancedBetaLikeness(DIAGNOSIS, beta=1), EnhancedBetaLikeness(DIAGNOSIS, beta=0.4)),
    NTCloseness: (NTCloseness(DIAGNOSIS, n=4, t=0.3), NTCloseness(DIAGNOSIS, n=1000, t=0.2)),
    AverageRisk: (AverageRisk(threshold=0.05), AverageRisk(threshold=0.5)),
    SafeHarborRule: (SafeHarborRule(), SafeHarborRule(allow=["center", "visit_no"])),
}
OF_THEIR_OWN = {"population-uniqueness"}
"""Models that are about all classes together by an estimate, with tests of their own: tests/unit/estimators."""

every_example = pytest.mark.parametrize("model", [m for models in EXAMPLES.values() for m in models], ids=repr)
every_kind = pytest.mark.parametrize("kind", RANDOM_MODELS, ids=lambda kind: kind.name)
few = examples(20)


def test_every_model_has_an_example_random_parameters_and_an_oracle():
    here = {model for model in MODELS if model.name not in OF_THEIR_OWN}
    assert here <= set(EXAMPLES) <= set(MODELS)
    assert here <= set(RANDOM_MODELS) <= set(MODELS)
    assert {model.name for model in here} <= set(model_oracle.CONDITIONS)


def test_names_are_given_once():
    assert len({model.name for model in MODELS}) == len(MODELS)


@every_example
def test_every_model_says_what_it_guarantees_and_what_it_leaves_open(model):
    titles = [line.strip() for line in type(model).__doc__.splitlines()]
    assert [title for title in titles if title in ("Guarantee", "Leaves open", "Monotone", "Source")] == [
        "Guarantee",
        "Leaves open",
        "Monotone",
        "Source",
    ]


# Verdicts


def asked(data, kind, **options):
    """Draw a model of this kind, and a table with what it asks for."""
    model = data.draw(RANDOM_MODELS[kind])
    return model, data.draw(guarded_tables(model, **options))


@every_kind
@examples(30)
@given(data=st.data())
def test_verdicts_are_those_of_the_definition(kind, data):
    model, table = asked(data, kind)
    engine = table.engine()
    for node in table.lattice.nodes():
        groups = engine.groups(node)
        verdicts = model.satisfied(groups)
        assert verdicts.shape == groups.sizes.shape
        found = {shown for shown, holds in zip(table.shown(groups), verdicts, strict=True) if holds}
        assert found == model_oracle.satisfying(table, node, model.to_dict())
        everything = set(model_oracle.classes(table, node))
        assert model.holds(groups) == model_oracle.holds_for_all(table, node, model.to_dict(), everything)


@examples(60)
@given(data=st.data())
def test_what_is_kept_with_several_models_is_what_their_definitions_say(data):
    models = data.draw(st.lists(st.one_of(*RANDOM_MODELS.values()), min_size=1, max_size=3))
    table = data.draw(guarded_tables(*models, most_rows=10))
    limit = data.draw(limits(table))
    evaluate = evaluator_of(table.encoded, "height", models, limit=limit)
    for node in table.lattice.nodes():
        sizes = {shown: len(rows) for shown, rows in model_oracle.classes(table, node).items()}
        entries = [model.to_dict() for model in models]
        kept = model_oracle.kept_classes(table, node, entries)
        suppressed = len(table.rows) - sum(sizes[shown] for shown in kept)
        found = evaluate(node)
        somebody = any(entry.get("minimum", 0) > 0 and entry.get("empty_classes") != "ignore" for entry in entries)
        assert found.solution == (suppressed <= limit and bool(kept or not somebody))  # strict presence needs a class
        if found.solution:
            assert (found.suppressed, found.classes) == (suppressed, len(kept))


# What searches rest on


def solutions(table, models, limit):
    """Tell of every node whether it is a solution."""
    evaluate = evaluator_of(table.encoded, "height", models, limit=limit)
    return {node: evaluate(node).solution for node in table.lattice.nodes()}


def refuted(table, verdicts):
    """Return a solution with a direct generalization that is none, if there is one."""
    lattice = table.lattice
    return next(
        ((node, up) for node in verdicts if verdicts[node] for up in lattice.successors(node) if not verdicts[up]),
        None,
    )


@every_kind
@few
@given(data=st.data())
def test_a_monotone_model_holds_for_generalizations_of_solutions(kind, data):
    model, table = asked(data, kind, missing=(Missing.CATEGORY,))
    if model.monotone_under(0):
        assert refuted(table, solutions(table, [model], 0)) is None


@every_kind
@few
@given(data=st.data())
def test_a_model_that_is_monotone_with_suppression_holds_for_generalizations_of_solutions(kind, data):
    model, table = asked(data, kind)
    limit = data.draw(limits(table))
    if model.monotone_under(limit):
        assert refuted(table, solutions(table, [model], limit)) is None


@dataclass(frozen=True)
class CounterExample:
    """Level 0 is a solution, level 1 is none."""

    model: object
    limit: int
    table: SmallTable


ORDER = {"order": ("1", "2", "3")}
NOT_MONOTONE_WITH_SUPPRESSION = {
    # "b" is suppressed; together with it the class of two is not
    EntropyLDiversity: CounterExample(EntropyLDiversity(DIAGNOSIS, l=2), 1, classes_table(("ab", "b"))),
    RecursiveLDiversity: CounterExample(RecursiveLDiversity(DIAGNOSIS, c=2, l=2), 1, classes_table(("ab", "b"))),
    AlphaKAnonymity: CounterExample(AlphaKAnonymity(DIAGNOSIS, alpha=0.6, k=2), 1, classes_table(("ab", "b"))),
    # "ab" is like the table; together with a suppressed row it is not
    EqualTCloseness: CounterExample(EqualTCloseness(DIAGNOSIS, t=0.1), 2, classes_table(("ab", "a"), ("b",))),
    OrderedTCloseness: CounterExample(
        OrderedTCloseness(DIAGNOSIS, t=0.1), 2, classes_table(("12", "1"), ("2",), **ORDER)
    ),
    HierarchicalTCloseness: CounterExample(
        HierarchicalTCloseness(DIAGNOSIS, t=0.1), 2, classes_table(("ab", "a"), ("b",), levels=flat_levels("a", "b"))
    ),
    DeltaDisclosure: CounterExample(DeltaDisclosure(DIAGNOSIS, delta=0.5), 2, classes_table(("ab", "a"), ("b",))),
    BasicBetaLikeness: CounterExample(BasicBetaLikeness(DIAGNOSIS, beta=0.2), 2, classes_table(("ab", "a"), ("b",))),
    EnhancedBetaLikeness: CounterExample(
        EnhancedBetaLikeness(DIAGNOSIS, beta=0.5), 3, classes_table(("ab", "b"), ("ac",))
    ),
    # one of two people like the first class is released, of the second all
    DeltaPresence: CounterExample(DeltaPresence(0, 0.5, **COLUMN), 1, classes_table(("a", "a"), others=("1",))),
    # of 2, 2 and 5 rows, both classes of 2 have to go; of 1, 1, 2 and 5 those of 1 were enough
    AverageRisk: CounterExample(AverageRisk(threshold=0.3), 2, classes_table(("a", "a"), ("aa",), ("aaaaa",))),
}
NOT_MONOTONE = {
    NTCloseness: CounterExample(
        NTCloseness(DIAGNOSIS, n=3, t=0.35),
        0,
        replace(
            classes_table(("b", "a", "a", "b")),
            # "a" in (first, x) is near the three rows of (first, *), until these are lost among all rows
            levels=((("first", "second"), ("*", "*")), flat_levels("x", "y")),
            rows=(("first", "y"), ("first", "x"), ("first", "y"), ("second", "y")),
        ),
    ),
    DeltaPresence: CounterExample(
        DeltaPresence(0.4, 1, empty_classes="ignore", **COLUMN), 0, classes_table(("a", ""), others=("1", "234"))
    ),
}
counter_examples = [*NOT_MONOTONE_WITH_SUPPRESSION.values(), *NOT_MONOTONE.values()]


@pytest.mark.parametrize("example", counter_examples, ids=lambda example: repr(example.model))
def test_a_model_that_is_not_declared_monotone_is_not(example):
    verdicts = solutions(example.table, [example.model], example.limit)
    below = (0,) * len(example.table.levels)
    above = (1, *below[1:])
    assert not example.model.monotone_under(example.limit)
    assert (verdicts[below], verdicts[above]) == (True, False)


def test_every_model_is_monotone_or_has_a_counter_example():
    here = [model for model in MODELS if model.name not in OF_THEIR_OWN]
    timid = [model for model in here if not model.monotone_with_suppression]
    assert set(timid) == set(NOT_MONOTONE_WITH_SUPPRESSION) | {NTCloseness}
    assert {model for model in timid if not model.monotone} <= set(NOT_MONOTONE)
    for model in here:
        assert all(example.monotone_under(0) == model.monotone for example in EXAMPLES[model][:2])


def finer(table, node):
    """The node and all that are finer."""
    return [below for below in table.lattice.nodes() if all(a <= b for a, b in zip(below, node, strict=True))]


def check_bounds(models, table):
    """Of no class more rows are kept, at any finer node, than `gone` leaves."""
    keep = evaluator_of(table.encoded, "height", models, limit=len(table.rows)).kept
    engine = table.engine()
    found = {node: engine.classes(node) for node in table.lattice.nodes()}
    kept = {node: keep(groups)[classes] for node, (classes, groups) in found.items()}
    for node, (classes, groups) in found.items():
        bounds = [model.gone(groups) for model in models]
        assert all((bound >= 0).all() and (bound <= groups.sizes + 1e-9).all() for bound in bounds)
        least = np.maximum.reduce(bounds)
        for below in finer(table, node):
            stay = np.bincount(classes[kept[below]], minlength=len(groups))
            assert (stay <= groups.sizes - least + 1e-9).all(), (node, below)


def check_evaluations(models, table, limit):
    """At no finer solution fewer rows are suppressed than the evaluation of a node says."""
    evaluate = evaluator_of(table.encoded, "height", models, limit=limit)
    found = {node: evaluate(node) for node in table.lattice.nodes()}
    for node, evaluation in found.items():
        for below in finer(table, node):
            assert not found[below].solution or evaluation.gone <= found[below].suppressed, (node, below)


@every_kind
@examples(30)
@given(data=st.data())
def test_no_finer_node_keeps_a_row_that_a_model_says_is_gone(kind, data):
    model, table = asked(data, kind)
    check_bounds([model], table)
    check_evaluations([model], table, data.draw(limits(table)))


@examples(80)
@given(data=st.data())
def test_no_finer_node_keeps_a_row_that_several_models_say_is_gone(data):
    models = data.draw(st.lists(st.one_of(*RANDOM_MODELS.values()), min_size=2, max_size=4))
    table = data.draw(guarded_tables(*models))
    check_bounds(models, table)
    check_evaluations(models, table, data.draw(limits(table)))


@examples(80)
@given(data=st.data())
def test_searches_that_rest_on_these_bounds_find_the_optimum(data):
    models = data.draw(st.lists(st.one_of(*RANDOM_MODELS.values()), min_size=1, max_size=3))
    table = data.draw(guarded_tables(*models))
    limit = data.draw(limits(table))
    metric = data.draw(st.sampled_from([metric.name for metric in PLAIN_METRICS]))
    found = {}
    for name in ("exhaustive", "optimal", "flash_two_phase", "flash"):
        problem = problem_of(table.encoded, metric, models, limit=limit)
        if search_named(name).refuse(problem) is None:
            found[name] = search_named(name).run(problem).best
    assert all(best == found["exhaustive"] for best in found.values()), (metric, limit)


@pytest.mark.parametrize("kind", [EqualTCloseness, HierarchicalTCloseness])
@pytest.mark.parametrize(
    ("t", "groups"),
    [
        (0.3, (("a", "b"), ("a" + "b" * 11,))),  # the "a" has to leave the first group, and only that
        (0.05, (("aaaaaabbb", "b"), ("aa",))),  # one "b" has to leave
    ],
)
def test_rounding_errors_do_not_make_a_row_gone_that_t_closeness_keeps(kind, t, groups):
    table = classes_table(*groups, levels=flat_levels("a", "b"))
    check_bounds([kind(DIAGNOSIS, t=t)], table)
    check_evaluations([kind(DIAGNOSIS, t=t)], table, 1)


@pytest.mark.parametrize("overall", [(1, 6), (2, 5), (2, 12), (3, 4), (4, 8), (5, 5), (7, 3)])
def test_of_no_class_of_two_values_more_rows_are_gone_than_have_to_leave_it(overall):
    """Tried out: all classes, all rows that may leave them, all t in steps of 1/20, in whole numbers."""
    everybody = sum(overall)
    classes = [(a, b) for a in range(1, overall[0] + 1) for b in range(1, overall[1] + 1)]
    histogram = Histogram(
        np.arange(len(classes) + 1) * 2,
        np.tile(np.array([0, 1], dtype=np.uint32), len(classes)),
        np.array(classes, dtype=np.int64).ravel(),
        Domain(np.array(overall)),
    )
    groups = Groups((0,), histogram.sizes, codes=lambda which: which, histograms={DIAGNOSIS: histogram})
    for step in range(20):
        gone = EqualTCloseness(DIAGNOSIS, t=step / 20).gone(groups)
        for (a, b), bound in zip(classes, gone, strict=True):
            fewest = min(
                a + b - c - d
                for c in range(a + 1)
                for d in range(b + 1)
                if 20 * abs(c * everybody - overall[0] * (c + d)) <= step * (c + d) * everybody
            )
            assert bound <= fewest + 1e-6, (a, b, step)


@pytest.mark.parametrize("t", [0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45])
@pytest.mark.parametrize("kind", [EqualTCloseness, HierarchicalTCloseness, OrderedTCloseness])
def test_a_class_that_is_exactly_t_away_is_kept_and_none_of_it_is_gone(kind, t):
    """Of 40 rows, 20 have "a": a class with (0.5 + t) of its 20 rows "a" is t away."""
    more = round(20 * (0.5 + t))
    text = "1" * more + "2" * (20 - more)
    table = classes_table((text,), ("1" * (20 - more) + "2" * more,), levels=flat_levels("1", "2"))
    model, groups = kind(DIAGNOSIS, t=t), table.engine().groups((0,))
    assert model.satisfied(groups).all()
    assert model.gone(groups) == pytest.approx([0, 0], abs=1e-9)


@pytest.mark.parametrize(("rows", "of", "beta"), [(5, 19, 2.8), (10, 19, 0.9), (10, 23, 1.3), (1, 49, 48)])
def test_a_value_that_may_have_a_class_to_itself_is_not_gone_by_rounding(rows, of, beta):
    """Its share times 1 + beta is 1, but not in floating-point numbers."""
    table = classes_table(("a" * rows,), ("b" * (of - rows),))
    for model in (BasicBetaLikeness(DIAGNOSIS, beta=beta), DeltaDisclosure(DIAGNOSIS, delta=math.log2(of / rows))):
        groups = table.engine().groups((0,))
        assert (model.gone(groups)[model.satisfied(groups)] <= 1e-9).all()


def test_a_share_that_is_exactly_the_minimum_is_not_gone_by_rounding():
    """0.07 * 100 is more than 7 in floating-point numbers."""
    table = classes_table(("a" * 7,), ("a" * 7,), others=("o" * 93, "o" * 93))
    model, groups = DeltaPresence(0.07, 1, **COLUMN), table.engine().groups((0,))
    assert model.satisfied(groups).all()
    assert model.gone(groups).tolist() == [0, 0]


@pytest.mark.parametrize(("classes", "rows", "threshold"), [(29, 100, 0.29), (7, 100, 0.07), (57, 100, 0.57)])
def test_an_average_risk_that_is_exactly_the_threshold_holds(classes, rows, threshold):
    table = classes_table(("a",) * (classes - 1), ("a" * (rows - classes + 1),))
    assert AverageRisk(threshold).holds(table.engine().groups((0,)))


@pytest.mark.parametrize(("largest", "tail", "c"), [(55, 50, 1.1), (99, 90, 1.1), (11, 10, 1.1), (6, 2, 3)])
def test_recursive_diversity_is_strict_also_where_floating_point_numbers_are_not(largest, tail, c):
    table = classes_table(("a" * largest + "b" * tail,), ("a",))
    model = RecursiveLDiversity(DIAGNOSIS, c=c, l=2)
    assert not model.satisfied(table.engine().groups((0,))).any()
    assert model.satisfied(classes_table(("a" * (largest - 1) + "b" * tail,), ("a",)).engine().groups((0,)))[0]


# The smallest class


def one_class(*counts, people=0):
    """A class in which values occur so often, of a table that is just this class; `people` are like it."""
    values = np.arange(len(counts), dtype=np.uint32)
    domain = Domain(np.array(counts), ordered=True, maps=(values, np.zeros_like(values)))
    histogram = Histogram(np.array([0, len(counts)]), values, np.array(counts, dtype=np.int64), domain)
    size = np.array([sum(counts)])
    population = Population(size + people, 0)
    return Groups(
        (0,),
        size,
        codes=lambda which: np.zeros((int(which.sum()), 1), dtype=np.uint32),
        histograms=dict.fromkeys((DIAGNOSIS, INCOME, STAGE), histogram),
        populations=dict.fromkeys((f"subset: {SUBSET}", f"population: {POPULATION}"), population),
    )


@every_kind
@few
@given(data=st.data())
def test_no_class_below_the_smallest_class_satisfies_the_model(kind, data):
    model, table = asked(data, kind)
    engine = table.engine()
    for node in table.lattice.nodes():
        groups = engine.groups(node)
        assert (groups.sizes[model.satisfied(groups)] >= model.smallest_class).all()


@pytest.mark.parametrize(
    ("model", "smallest"),
    [
        (KAnonymity(k=7), 7),
        (DistinctLDiversity(DIAGNOSIS, l=3), 3),
        (EntropyLDiversity(DIAGNOSIS, l=3), 3),
        (EntropyLDiversity(DIAGNOSIS, l=1.8), 2),
        (EntropyLDiversity(DIAGNOSIS, l=2.0), 2),
        (RecursiveLDiversity(DIAGNOSIS, c=4, l=3), 3),
        (AlphaKAnonymity(DIAGNOSIS, alpha=0.3, k=2), 4),
        (AlphaKAnonymity(DIAGNOSIS, alpha=1 / 3, k=2), 3),
        (AlphaKAnonymity(DIAGNOSIS, alpha=0.2, k=2), 5),
        (AlphaKAnonymity(DIAGNOSIS, alpha=1 / 49, k=2), 49),
        (AlphaKAnonymity(DIAGNOSIS, alpha=0.5, k=6), 6),
    ],
    ids=repr,
)
def test_a_class_of_the_smallest_size_can_satisfy_the_model(model, smallest):
    assert model.smallest_class == smallest
    assert model.satisfied(one_class(*[1] * smallest)).tolist() == [True]
    assert model.satisfied(one_class(*[1] * (smallest - 1))).tolist() == [False]


@every_example
def test_no_class_at_all_satisfies_nothing_and_reaches_nothing(model):
    """All rows lack a quasi-identifier, and the policy for missing values suppresses them."""
    table = replace(
        classes_table(("12",), others=("3",), levels=flat_levels("1", "2")),
        rows=((None,), (None,)),
        missing=Missing.SUPPRESS,
    )
    groups = (
        replace(table, secrets=tuple((name, table.secrets[0][1]) for name in model.sensitive)).engine().groups((0,))
    )
    assert model.satisfied(groups).tolist() == model.gone(groups).tolist() == []
    assert model.reached(groups) is None


# The strongest parameter


@dataclass(frozen=True)
class Strength:
    """How a parameter is made a bit stronger; `strict`: what is reached is not satisfied itself, all weaker are."""

    parameter: str
    step: float
    strict: bool = False


STRENGTHS = {
    KAnonymity: Strength("k", 1),
    DistinctLDiversity: Strength("l", 1),
    EntropyLDiversity: Strength("l", 1e-6),
    RecursiveLDiversity: Strength("c", -1e-6, strict=True),
    EqualTCloseness: Strength("t", -1e-6),
    OrderedTCloseness: Strength("t", -1e-6),
    HierarchicalTCloseness: Strength("t", -1e-6),
    KMap: Strength("k", 1),
    AlphaKAnonymity: Strength("alpha", -1e-6),
    DeltaDisclosure: Strength("delta", -1e-6, strict=True),
    BasicBetaLikeness: Strength("beta", -1e-6),
    EnhancedBetaLikeness: Strength("beta", -1e-6),
    NTCloseness: Strength("t", -1e-6),
    AverageRisk: Strength("threshold", -1e-6),
}
WEAKEST = {RecursiveLDiversity: 1e6, DeltaDisclosure: 1e3, EnhancedBetaLikeness: 1e6, NTCloseness: 1}
"""What may reach nothing, and then fails with this parameter, too."""


def holds_with(model, groups, **parameters):
    """Whether all classes satisfy a model with another parameter; None where it is refused as out of range."""
    try:
        other = replace(model, **parameters)
    except InputError:
        return None
    return bool(other.satisfied(groups).all()) and other.holds(groups)


@pytest.mark.parametrize("kind", STRENGTHS, ids=lambda kind: kind.name)
@examples(30)
@given(data=st.data())
def test_what_is_reached_is_the_strongest_parameter(kind, data):
    model, table = asked(data, kind, missing=(Missing.CATEGORY,))
    model = replace(model, k=1) if kind is AlphaKAnonymity else model  # what is reached is alpha
    strength = STRENGTHS[kind]
    groups = table.engine().groups(data.draw(st.sampled_from(list(table.lattice.nodes()))))
    reached = model.reached(groups)
    if reached is None:
        assert not holds_with(model, groups, **{strength.parameter: WEAKEST[kind]})
        return
    json.dumps(reached, allow_nan=False)
    satisfied = reached - strength.step if strength.strict else reached
    assert holds_with(model, groups, **{strength.parameter: satisfied}) in (True, None)
    assert not holds_with(model, groups, **{strength.parameter: satisfied + strength.step})
    if holds_with(model, groups):  # then what is reached is at least as strong as what was asked for
        assert (reached - getattr(model, strength.parameter)) * strength.step >= -1e-9


@examples(60)
@given(data=st.data())
def test_what_delta_presence_reaches_are_the_narrowest_bounds(data):
    model, table = asked(data, DeltaPresence, missing=(Missing.CATEGORY,))
    groups = table.engine().groups(data.draw(st.sampled_from(list(table.lattice.nodes()))))
    least, most = model.reached(groups)
    assert holds_with(model, groups, minimum=least, maximum=most)
    assert not holds_with(model, groups, minimum=least + 1e-6, maximum=1)
    assert not holds_with(model, groups, minimum=0, maximum=most - 1e-6)


def test_delta_presence_reaches_0_where_strict_empty_classes_would_count():
    """Half of the people like the first class are released, of those like the second nobody."""
    table = classes_table(("a", ""), others=("1", "2"))
    groups = table.engine().groups((0,))
    assert DeltaPresence(0, 0.5, **COLUMN).reached(groups) == (0, 0.5)
    assert DeltaPresence(0.1, 0.5, **COLUMN).reached(groups) == (0, 0.5)
    assert DeltaPresence(0.1, 0.5, empty_classes="ignore", **COLUMN).reached(groups) == (0.5, 0.5)


def test_enhanced_likeness_reaches_nothing_where_a_frequent_value_gains_more_than_any_beta_allows():
    """4 of 5 rows have "a", so that it may gain 0.22, but in its class it gains 0.25."""
    groups = classes_table(("aaaa",), ("b",)).engine().groups((0,))
    assert BasicBetaLikeness(DIAGNOSIS, beta=1).reached(groups) == 4
    assert EnhancedBetaLikeness(DIAGNOSIS, beta=1).reached(groups) is None


def test_n_t_closeness_reaches_nothing_where_no_group_is_large_enough():
    groups = classes_table(("ab",), ("b",)).engine().groups((0,))
    assert NTCloseness(DIAGNOSIS, n=4, t=1).satisfied(groups).tolist() == [False, False]
    assert NTCloseness(DIAGNOSIS, n=4, t=1).reached(groups) is None


# Plans


@every_example
def test_a_model_is_written_to_a_plan_and_read_back(model):
    entry = model.to_dict()
    assert entry["model"] == model.name
    assert model_from_dict(json.loads(json.dumps(entry))) == model
    assert model_from_dict(entry).to_dict() == entry


@every_example
def test_the_representation_of_a_model_is_code(model):
    assert eval(repr(model), vars(kohorte.models)) == model
    assert hash(model) == hash(model_from_dict(model.to_dict()))


@every_example
def test_an_unknown_parameter_is_refused_by_name(model):
    with pytest.raises(InputError, match="no parameter 'strength'") as caught:
        model_from_dict({**model.to_dict(), "strength": 3})
    assert caught.value.code == "model-parameter-unknown"


@every_example
def test_a_missing_parameter_is_refused_with_an_example(model):
    needed = [name for name in model.to_dict() if name not in ("model", "empty_classes", "allow")]
    for name in needed:
        entry = {key: value for key, value in model.to_dict().items() if key != name}
        with pytest.raises(InputError) as caught:
            model_from_dict(entry)
        assert caught.value.code == "model-parameter"
        assert name in caught.value.message
        assert type(model).example in caught.value.message


@pytest.mark.parametrize("kind", MODELS, ids=lambda kind: kind.name)
def test_the_example_of_a_model_is_one(kind):
    pairs = [pair.split(": ") for pair in kind.example.strip("{}").split(", ")]
    numbers = {key: float(value) if value[0].isdigit() else value for key, value in pairs}
    entry = {
        key: int(value) if isinstance(value, float) and value.is_integer() else value for key, value in numbers.items()
    }
    assert type(model_from_dict(entry)) is kind


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ({"model": "made-up stranger", "k": 5}, "model-unknown"),
        ({"model": "k-anonimity", "k": 5}, "model-unknown"),
        ({"model": None}, "model-unknown"),
        ({"k": 5}, "model-entry"),
        ("k-anonymity", "model-entry"),
        (None, "model-entry"),
        (["k-anonymity", 5], "model-entry"),
        ({"model": "k-anonymity", "k": 5, 7: 8}, "model-parameter-unknown"),
        ({"model": "k-map", "k": 5, "population": "a.csv", "folder": "/"}, "model-parameter-unknown"),
    ],
)
def test_a_stranger_is_refused(entry, code):
    with pytest.raises(InputError) as caught:
        model_from_dict(entry)
    assert caught.value.code == code


def test_a_misspelt_model_is_refused_with_the_nearest_name():
    with pytest.raises(InputError, match="did you mean 'k-anonymity'"):
        model_from_dict({"model": "k-anonimity", "k": 5})


PAGES = Path(__file__).parents[2] / "docs" / "models"


@pytest.mark.parametrize("kind", EXAMPLES, ids=lambda kind: kind.name)
def test_the_page_of_a_model_shows_a_plan_that_can_be_read_and_says_what_is_left_open(kind):
    page = (PAGES / f"{kind.name}.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    entries = strict_yaml.load(shown, source="page", code="plan-yaml")["models"]
    assert kind in {type(model_from_dict(entry)) for entry in entries}
    titles = re.findall(r"^\*\*([A-Z][a-z ]+?)\.?\*\*", page, re.MULTILINE)
    assert titles == ["Definition", "Protects against", "Leaves open", "Monotone", "Reached", "Source"]
    table = page.split("| parameter |")[1]
    assert [field.name for field in fields(kind) if field.compare and f"`{field.name}`" not in table] == []


def test_the_index_of_models_shows_code():
    index = (PAGES / "index.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[`(\S+)`\]\(\S+\) \| `(\w+\(.*?\))` \|.*\| ([a-z ]+) \|$", index, re.MULTILINE)
    shown = {name: (eval(code, vars(kohorte.models)), monotone) for name, code, monotone in rows}
    for kind in EXAMPLES:
        model, monotone = shown[kind.name]
        assert type(model) is kind
        assert ("with and" in monotone, "without" in monotone) == (model.monotone_under(1), model.monotone_under(0))


# Bad input

NO_NUMBERS = ["5", None, True, [], math.nan, math.inf, -math.inf]
NO_WHOLE_NUMBERS = [*NO_NUMBERS, 0, -1, 2.0, 1.5]
BAD = {
    KAnonymity: {"k": NO_WHOLE_NUMBERS},
    DistinctLDiversity: {"l": NO_WHOLE_NUMBERS},
    EntropyLDiversity: {"l": [*NO_NUMBERS, 1, 0.5, -2]},
    RecursiveLDiversity: {"c": [*NO_NUMBERS, 0, -1], "l": NO_WHOLE_NUMBERS},
    EqualTCloseness: {"t": [*NO_NUMBERS, -0.1, 1.1]},
    OrderedTCloseness: {"t": [*NO_NUMBERS, -0.1, 1.1]},
    HierarchicalTCloseness: {"t": [*NO_NUMBERS, -0.1, 1.1]},
    DeltaPresence: {
        "minimum": [*NO_NUMBERS, -0.1, 1.1],
        "maximum": [*NO_NUMBERS, -0.1, 0.01, 1.1],
        "empty_classes": ["", "lenient", None, True, []],
        "population": ["", 5, True, [], "a\0b"],
    },
    KMap: {"k": NO_WHOLE_NUMBERS, "population": ["", 5, True, []]},
    AlphaKAnonymity: {"alpha": [*NO_NUMBERS, 0, -1, 1.1], "k": NO_WHOLE_NUMBERS},
    DeltaDisclosure: {"delta": [*NO_NUMBERS, 0, -1]},
    BasicBetaLikeness: {"beta": [*NO_NUMBERS, 0, -1]},
    EnhancedBetaLikeness: {"beta": [*NO_NUMBERS, 0, -1]},
    NTCloseness: {"n": NO_WHOLE_NUMBERS, "t": [*NO_NUMBERS, -0.1, 1.1]},
    AverageRisk: {"threshold": [*NO_NUMBERS, 0, -1, 1.1]},
    SafeHarborRule: {"allow": ["center", 5, None, True, {"center": 1}, [5], [""], ["center", "center"]]},
}
NO_COLUMNS = ["", 5, None, True, ["diagnosis"]]
bad_parameters = [
    (kind, name, value) for kind, parameters in BAD.items() for name, values in parameters.items() for value in values
] + [(kind, "attribute", value) for kind in BAD for value in NO_COLUMNS if "attribute" in vars(kind)["__match_args__"]]


@pytest.mark.parametrize(("kind", "name", "value"), bad_parameters)
def test_a_parameter_that_is_out_of_range_is_refused_by_name(kind, name, value):
    example = EXAMPLES[kind][0]
    with pytest.raises(InputError) as caught:
        replace(example, **{name: value})
    assert caught.value.code == "model-parameter"
    assert name in caught.value.message
    with pytest.raises(InputError):
        model_from_dict({**example.to_dict(), name: value})


def test_the_parameters_of_every_model_are_tested_for_being_refused():
    for kind, parameters in BAD.items():
        known = {field.name for field in fields(kind) if field.compare}
        assert known - {"attribute", "subset", "population"} <= set(parameters)


@pytest.mark.parametrize("kind", [DeltaPresence, KMap])
def test_a_population_is_a_file_or_a_column_and_not_both(kind):
    example = EXAMPLES[kind][0]
    for sources in ({"population": None}, {"subset": "flag"}, {"population": None, "subset": ""}):
        with pytest.raises(InputError, match="subset") as caught:
            replace(example, **sources)
        assert caught.value.code == "model-parameter"


@pytest.mark.parametrize(
    "model",
    [
        lambda huge: EntropyLDiversity(DIAGNOSIS, l=huge),
        lambda huge: RecursiveLDiversity(DIAGNOSIS, c=huge, l=2),
        lambda huge: DeltaDisclosure(DIAGNOSIS, delta=huge),
        lambda huge: BasicBetaLikeness(DIAGNOSIS, beta=huge),
    ],
)
def test_a_number_of_400_digits_is_refused_like_others(model):
    with pytest.raises(InputError) as caught:
        model(10**400)
    assert caught.value.code == "model-parameter"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "model",
    [
        KAnonymity(k=10**30),
        RecursiveLDiversity(DIAGNOSIS, c=1e308, l=2),
        RecursiveLDiversity(DIAGNOSIS, c=2, l=10**30),
        DeltaDisclosure(DIAGNOSIS, delta=5000),
        DeltaDisclosure(DIAGNOSIS, delta=1e-300),
        BasicBetaLikeness(DIAGNOSIS, beta=1e308),
        EnhancedBetaLikeness(DIAGNOSIS, beta=1e-300),
        AlphaKAnonymity(DIAGNOSIS, alpha=1e-320, k=2),
        NTCloseness(DIAGNOSIS, n=10**30, t=0),
        KMap(k=10**30, **FILE),
        EntropyLDiversity(DIAGNOSIS, l=1e308),
        EntropyLDiversity(DIAGNOSIS, l=1.0000000000000002),
    ],
    ids=repr,
)
def test_absurd_parameters_give_a_verdict(model):
    groups = one_class(30, 20, people=3)
    assert model.satisfied(groups).dtype == bool
    assert 0 <= model.gone(groups)[0] <= 50
    assert model.smallest_class >= 1


@pytest.mark.parametrize(
    "model",
    [
        DistinctLDiversity(DIAGNOSIS, l=3),
        EntropyLDiversity(DIAGNOSIS, l=2.5),
        RecursiveLDiversity(DIAGNOSIS, c=2, l=3),
        AlphaKAnonymity(DIAGNOSIS, alpha=0.4, k=1),
    ],
    ids=repr,
)
def test_a_table_with_too_few_different_values_is_refused(model):
    with pytest.raises(InputError, match="whole table has only 2") as caught:
        model.check(classes_table(("ab", "b")).encoded.domains)
    assert caught.value.code == "model-beyond-values"
    model.check(classes_table(("ab", "c")).encoded.domains)


@every_example
def test_models_have_no_objection_to_a_table_with_many_ordered_values(model):
    domain = Domain(np.full(10, 1000, dtype=np.int64), ordered=True)
    model.check(dict.fromkeys(model.sensitive, domain))


@pytest.mark.parametrize(
    ("values", "ordered"),
    [
        (("9", "10", "100"), True),
        (("1.5", "-2", "0.25"), True),
        (("2024-01-31", "2023-12-01", "2024-01-02"), True),
        (("low", "high", "medium"), False),
        (("9", "10", None), False),
        (("9", "10", "unknown"), False),
        (("2024-01-31", "9", "10"), False),
    ],
)
def test_ordered_closeness_needs_values_with_an_order(values, ordered):
    table = classes_table(("123",))
    secret = replace(table.secrets[0][1], values=values)
    domains = replace(table, secrets=((DIAGNOSIS, secret),)).encoded.domains
    model = OrderedTCloseness(DIAGNOSIS, t=0.2)
    if ordered:
        model.check(domains)
        return
    with pytest.raises(InputError, match="'diagnosis'") as caught:
        model.check(domains)
    assert caught.value.code == "model-no-order"


def test_a_given_order_is_the_order():
    order = ("low", "medium", "high")
    table = classes_table(("123",))
    secret = replace(table.secrets[0][1], values=("high", "low", "medium"), order=order)
    table = replace(table, rows=(("0.0",),) * 3, secrets=((DIAGNOSIS, secret),))
    OrderedTCloseness(DIAGNOSIS, t=0.2).check(table.encoded.domains)
    assert table.encoded.sensitive[0].codes.tolist() == [2, 0, 1]


# Single models


def test_k_anonymity_reaches_the_size_of_the_smallest_class():
    groups = classes_table(("aaaaa", "aaa"), ("aa",)).engine().groups((0,))
    assert KAnonymity(k=2).reached(groups) == 2
    assert sorted(KAnonymity(k=3).satisfied(groups).tolist()) == [False, True, True]


def test_hierarchical_distance_looks_at_categories_and_equal_distance_does_not():
    levels = tree_levels({"lung": ["a", "b"], "stomach": ["c", "d"]})
    groups = classes_table(("ac", "bd"), ("ab",), ("cd",), levels=levels).engine().groups((0,))
    assert EqualTCloseness(DIAGNOSIS, t=0.5).satisfied(groups).tolist() == [True] * 4
    assert HierarchicalTCloseness(DIAGNOSIS, t=0.25).satisfied(groups).tolist() == [True, True, False, False]
    assert HierarchicalTCloseness(DIAGNOSIS, t=0.5).satisfied(groups).all()
