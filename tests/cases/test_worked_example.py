"""The worked example of the dissertation, figure 2.4 (spec 1.2)."""

import polars as pl
import pytest

from kohorte.engines import LocalEngine, Missing, encode
from kohorte.hierarchy import Bounds, Intervals, Redaction, Tree
from kohorte.models import KAnonymity
from kohorte.search import SEARCHES
from support.problems import evaluator_of, problem_of

FRAME = pl.DataFrame(
    {
        "age": [34, 45, 66, 70, 35, 21, 18, 19],
        "sex": ["m", "f", "m", "m", "f", "m", "f", "f"],
        "zip": ["82667", "81775", "81925", "81931", "81951", "82451", "82931", "82004"],
    }
)
HIERARCHIES = {
    "age": Intervals(levels=[Bounds([0, 20, 61, 130], labels=["<=19", "20-60", ">=61"])], integer=True),
    "sex": Tree(["m", "f"]),
    "zip": Redaction(length=5),
}
TWO_ANONYMITY = [KAnonymity(k=2)]


@pytest.fixture(scope="module")
def table():
    return encode(FRAME, HIERARCHIES, missing=Missing.REFUSE)


def test_the_lattice_is_that_of_figure_2_12(table):
    assert table.shape == (3, 2, 6)


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: search.name)
def test_every_search_finds_1_0_3_for_2_anonymity_and_non_uniform_entropy(table, search):
    result = search().run(problem_of(table, "non_uniform_entropy", TWO_ANONYMITY, limit=0))
    assert result.best.node == (1, 0, 3)
    assert result.optimal
    # age <=19: 2 rows of 2 values, 2 * 1 bit; 20-60: 4 of 4, 4 * 2 bits; >=61: 2 of 2, 2 * 1 bit; together 12 bits.
    # sex: 0. zip 82***: 4 rows of 4 values, 4 * 2 bits; 81***: the same; together 16 bits.
    assert result.best.cost == pytest.approx(28.0)
    assert (result.best.suppressed, result.best.classes, result.best.smallest_class) == (0, 4, 2)


def test_the_optimum_shows_four_classes_of_two_rows(table):
    engine = LocalEngine(table)
    shown = engine.apply(FRAME, (1, 0, 3), kept=table.included)
    assert shown.rows() == [
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
