"""k-Optimize: missing values, single values and large lines."""

import polars as pl
import pytest

import kohorte as ko
from kohorte.hierarchies import Ordering
from support.recodings import QUASI, recode


def test_k_optimize_proves_nothing_false_where_values_are_missing():
    """Classes with missing values all showed *, and were suppressed after the search had counted them as kept."""
    table = pl.DataFrame({"q": ["1"] * 3 + ["2"] * 3 + [None] * 2})
    release = recode(table, {"q": QUASI}, "k_optimize", k=3, limit=0.7, metric="discernibility")
    assert (release.cost, release.result.lower_bound, release.optimal) == (34, 34, True)
    assert release.data["q"].to_list() == ["1"] * 3 + ["2 or missing"] * 5


def test_k_optimize_refuses_more_split_points_than_it_has_memory_for():
    table = pl.DataFrame({"q": [str(n) for n in range(5_000)]})
    with pytest.raises(ko.InputError, match="4,999 possible split points are too many") as caught:
        recode(table, {"q": QUASI}, "k_optimize", k=2, metric="discernibility")
    assert caught.value.code == "algorithm-unfit"


def test_a_star_that_stands_for_one_value_and_missing_ones_counts_as_a_star():
    table = pl.DataFrame({"q": ["x", "x", None]})
    attributes = {"q": ko.Attribute("quasi-identifying", Ordering(values=["x", "y"]))}
    release = recode(table, attributes, "k_optimize", k=3, metric="loss")
    assert (release.data["q"].to_list(), release.cost) == (["*"] * 3, 1.0)
