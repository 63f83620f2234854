"""The worked example of the dissertation, figure 2.4 (spec 1.2)."""

import polars as pl
import pytest

from kohorte.engines import LocalEngine
from kohorte.hierarchies import Bounds, Intervals, Redaction, Tree
from kohorte.lattice import Lattice
from kohorte.models import (
    DistinctLDiversity,
    EqualTCloseness,
    HierarchicalTCloseness,
    KAnonymity,
    RecursiveLDiversity,
)
from kohorte.search import SEARCHES, Datafly
from kohorte.sources import FrameSource, Missing, encode_rows
from support.problems import evaluator_of, problem_of

FRAME = pl.DataFrame(
    {
        "age": [34, 45, 66, 70, 35, 21, 18, 19],
        "sex": ["m", "f", "m", "m", "f", "m", "f", "f"],
        "zip": ["82667", "81775", "81925", "81931", "81951", "82451", "82931", "82004"],
        "diagnosis": [*["pneumonia"] * 2, "gastritis", *["pneumonia"] * 2, "gastritis", "pneumonia", "gastritis"],
    }
)
HIERARCHIES = {
    "age": Intervals(levels=[Bounds([0, 20, 61, 130], labels=["<=19", "20-60", ">=61"])], integer=True),
    "sex": Tree(["m", "f"]),
    "zip": Redaction(length=5),
}
DIAGNOSES = Tree({"respiratory tract": ["pneumonia", "bronchitis"], "stomach": ["gastritis", "ulcer"]})
"""Figure 2.12: diagnoses by their place in the body."""
EXACT = [search for search in SEARCHES if search is not Datafly]
TWO_ANONYMITY = [KAnonymity(k=2)]
RECURSIVE_DIVERSITY = [RecursiveLDiversity("diagnosis", c=4, l=2)]


@pytest.fixture(scope="module")
def table():
    return encode_rows(FRAME, HIERARCHIES, missing=Missing.REFUSE)


def test_the_lattice_is_that_of_figure_2_12(table):
    assert table.shape == (3, 2, 6)


@pytest.mark.parametrize("search", EXACT, ids=lambda search: search.name)
def test_every_search_finds_1_0_3_for_2_anonymity_and_non_uniform_entropy(table, search):
    problem = problem_of(table, "non_uniform_entropy", TWO_ANONYMITY, limit=0)
    if search().refuse(problem) is not None:
        pytest.skip("this search is for another metric")
    result = search().run(problem)
    assert result.best.node == (1, 0, 3)
    assert result.optimal
    # age <=19: 2 rows of 2 values, 2 * 1 bit; 20-60: 4 of 4, 4 * 2 bits; >=61: 2 of 2, 2 * 1 bit; together 12 bits.
    # sex: 0. zip 82***: 4 rows of 4 values, 4 * 2 bits; 81***: the same; together 16 bits.
    assert result.best.cost == pytest.approx(28.0)
    assert (result.best.suppressed, result.best.classes, result.best.smallest_class) == (0, 4, 2)


def test_the_optimum_shows_four_classes_of_two_rows(table):
    source = FrameSource(FRAME, merged=False)
    tuples, shown = source.distinct(list(HIERARCHIES)), table.shown((1, 0, 3), table.included)
    released = source.released(tuples, shown, shuffled=False).in_memory("a test")
    assert released.select(list(HIERARCHIES)).rows() == [
        ("20-60", "m", "82***"),
        ("20-60", "f", "81***"),
        (">=61", "m", "81***"),
        (">=61", "m", "81***"),
        ("20-60", "f", "81***"),
        ("20-60", "m", "82***"),
        ("<=19", "f", "82***"),
        ("<=19", "f", "82***"),
    ]


def test_none_of_the_seven_nodes_below_the_optimum_is_2_anonymous(table):
    evaluate = evaluator_of(table, "non_uniform_entropy", TWO_ANONYMITY, limit=0)
    below = [(age, 0, digits) for age in (0, 1) for digits in (0, 1, 2, 3) if (age, digits) != (1, 3)]
    assert [evaluate(node).solution for node in below] == [False] * 7


# Models for the diagnosis


@pytest.fixture(scope="module")
def sensitive_table():
    return encode_rows(FRAME, HIERARCHIES, missing=Missing.REFUSE, sensitive={"diagnosis": DIAGNOSES})


@pytest.mark.parametrize(
    ("model", "reached"),
    [
        (DistinctLDiversity("diagnosis", l=2), 2),
        (RecursiveLDiversity("diagnosis", c=4, l=2), 3),
        (EqualTCloseness("diagnosis", t=0.2), 0.125),
        (HierarchicalTCloseness("diagnosis", t=0.2), 0.125),
    ],
    ids=repr,
)
def test_the_relation_of_figure_2_6_is_diverse_and_close(sensitive_table, model, reached):
    """3 and 1 of the four at 20-60, 1 and 1 of both others, 5 and 3 of all."""
    groups = LocalEngine(sensitive_table).groups((1, 1, 4))
    assert sorted(groups.sizes.tolist()) == [2, 2, 4]
    assert model.satisfied(groups).all()
    assert model.reached(groups) == reached
    assert evaluator_of(sensitive_table, "height", [model], limit=0)((1, 1, 4)).solution


@pytest.mark.parametrize("search", EXACT, ids=lambda search: search.name)
def test_every_search_for_it_finds_1_0_3_for_recursive_diversity_a_quarter_suppressed_and_aecs(sensitive_table, search):
    """Figure 3.10. The two women at 20-60 in 81*** both have pneumonia and are suppressed."""
    problem = problem_of(sensitive_table, "aecs", RECURSIVE_DIVERSITY, limit=2)
    if search().refuse(problem) is not None:
        pytest.skip("this search is for monotone models")
    result = search().run(problem)
    assert result.best.node == (1, 0, 3)
    assert result.optimal
    # three kept classes and one of the suppressed rows: 8 / (4 * 2)
    assert (result.best.cost, result.best.suppressed, result.best.classes) == (1.0, 2, 3)


def test_the_optimum_for_recursive_diversity_is_the_lowest_of_five(sensitive_table):
    """The dissertation names (1, 0, 3) alone; four of its generalizations cost the same."""
    evaluate = evaluator_of(sensitive_table, "aecs", RECURSIVE_DIVERSITY, limit=2)
    found = [evaluate(node) for node in Lattice(sensitive_table.shape).nodes()]
    best = min(evaluation.cost for evaluation in found)
    assert sorted(evaluation.node for evaluation in found if evaluation.cost == best) == [
        (1, 0, 3),
        (1, 0, 4),
        (1, 0, 5),
        (1, 1, 3),
        (2, 0, 3),
    ]
