"""What every privacy model promises to the searches and to the verification."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kohorte.errors import InputError
from kohorte.groups import Groups
from kohorte.models import MODELS, KAnonymity, model_from_dict
from support.strategies import limits, tables

EXAMPLES = {KAnonymity: (KAnonymity(k=1), KAnonymity(k=2), KAnonymity(k=3), KAnonymity(k=7))}

every_example = pytest.mark.parametrize("model", [m for models in EXAMPLES.values() for m in models], ids=repr)


def groups_of(*sizes):
    return Groups((0,), np.array(sizes, dtype=np.int64), codes=lambda which: np.zeros((int(which.sum()), 1)))


def test_every_model_has_an_example():
    assert set(EXAMPLES) == set(MODELS)


def test_names_are_given_once():
    assert len({model.name for model in MODELS}) == len(MODELS)


def solutions(table, model, limit):
    """Tell of every node whether it is a solution: the rows of failing classes are within the limit."""
    engine = table.engine()
    verdicts = {}
    for node in table.lattice.nodes():
        groups = engine.groups(node)
        holds = model.satisfied(groups)
        assert holds.shape == groups.sizes.shape
        verdicts[node] = groups.excluded + int(groups.sizes[~holds].sum()) <= limit
    return verdicts


def refuted(table, verdicts):
    """Return a solution with a direct generalization that is none, if there is one."""
    lattice = table.lattice
    return next(
        ((node, up) for node in verdicts if verdicts[node] for up in lattice.successors(node) if not verdicts[up]),
        None,
    )


@every_example
@settings(max_examples=40)
@given(table=tables(weighted=False))
def test_a_monotone_model_holds_for_generalizations_of_solutions(model, table):
    if model.monotone:
        assert refuted(table, solutions(table, model, 0)) is None


@every_example
@settings(max_examples=40)
@given(data=st.data())
def test_a_model_that_is_monotone_with_suppression_holds_for_generalizations_of_solutions(model, data):
    table = data.draw(tables(weighted=False))
    if model.monotone_with_suppression:
        assert refuted(table, solutions(table, model, data.draw(limits(table)))) is None


@every_example
@settings(max_examples=40)
@given(table=tables(weighted=False))
def test_a_model_that_is_monotone_with_suppression_never_suppresses_a_row_that_a_finer_node_keeps(model, table):
    """The searches rest on this: what is suppressed at a node is suppressed at all finer nodes."""
    if not model.monotone_with_suppression:
        return
    engine = table.engine()
    kept = {}
    for node in table.lattice.nodes():
        classes, groups = engine.classes(node)
        kept[node] = model.satisfied(groups)[classes]
    for node, rows in kept.items():
        for up in table.lattice.successors(node):
            assert (kept[up] >= rows).all()


@every_example
@settings(max_examples=40)
@given(sizes=st.lists(st.integers(1, 20), max_size=12))
def test_no_class_below_the_smallest_class_satisfies_the_model(model, sizes):
    groups = groups_of(*sizes)
    assert (groups.sizes[model.satisfied(groups)] >= model.smallest_class).all()


@every_example
def test_a_class_of_the_smallest_size_can_satisfy_the_model(model):
    assert model.satisfied(groups_of(model.smallest_class)).tolist() == [True]
    if model.smallest_class > 1:
        assert model.satisfied(groups_of(model.smallest_class - 1)).tolist() == [False]


@every_example
def test_a_model_is_written_to_a_plan_and_read_back(model):
    entry = model.to_dict()
    assert entry["model"] == model.name
    assert model_from_dict(json.loads(json.dumps(entry))) == model


@every_example
def test_the_representation_of_a_model_is_code(model):
    assert eval(repr(model), {type(model).__name__: type(model)}) == model
    assert hash(model) == hash(model_from_dict(model.to_dict()))


@every_example
def test_an_unknown_parameter_is_refused_by_name(model):
    with pytest.raises(InputError, match="no parameter 'strength'") as caught:
        model_from_dict({**model.to_dict(), "strength": 3})
    assert caught.value.code == "model-parameter-unknown"


@every_example
def test_no_class_at_all_satisfies_nothing_and_reaches_nothing(model):
    assert model.satisfied(groups_of()).tolist() == []
    assert model.reached(groups_of()) is None


@every_example
def test_every_model_says_what_it_guarantees_and_what_it_leaves_open(model):
    assert all(word in type(model).__doc__ for word in ("Guarantee", "Leaves open", "Monotone", "Source"))


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
    ],
)
def test_a_stranger_is_refused(entry, code):
    with pytest.raises(InputError) as caught:
        model_from_dict(entry)
    assert caught.value.code == code


def test_a_misspelt_model_is_refused_with_the_nearest_name():
    with pytest.raises(InputError, match="did you mean 'k-anonymity'"):
        model_from_dict({"model": "k-anonimity", "k": 5})


@pytest.mark.parametrize("k", [0, -1, 2.0, "5", None, True])
def test_k_must_be_a_whole_number_of_at_least_1(k):
    with pytest.raises(InputError) as caught:
        KAnonymity(k=k)
    assert caught.value.code == "model-parameter"
    with pytest.raises(InputError):
        model_from_dict({"model": "k-anonymity", "k": k})


def test_k_anonymity_without_k_is_refused():
    with pytest.raises(InputError, match="needs k"):
        model_from_dict({"model": "k-anonymity"})


def test_k_anonymity_reaches_the_size_of_the_smallest_class():
    assert KAnonymity(k=2).reached(groups_of(5, 3, 9)) == 3
    assert KAnonymity(k=3).satisfied(groups_of(5, 3, 2)).tolist() == [True, True, False]
