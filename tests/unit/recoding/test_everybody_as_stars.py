"""Releases that show nothing of anybody, by recoders and searches."""

import polars as pl
import pytest

import kohorte as ko
from kohorte.hierarchies import Tree
from kohorte.metrics import Classification
from support.recodings import QUASI, recode


@pytest.mark.parametrize("algorithm", ["k_optimize", "local_recoding", "optimal"])
def test_a_class_of_everybody_that_shows_nothing_costs_the_same_for_all_algorithms(algorithm):
    table = pl.DataFrame({"q": list("abc"), "y": ["u"] * 3})
    tree = ko.Attribute("quasi-identifying", Tree({"G": ["a", "b"], "H": ["c"]}))
    attributes = {"q": tree, "y": ko.Attribute("sensitive")}
    assert recode(table, attributes, algorithm, k=3, limit=1.0, metric=Classification("y")).cost == 0


@pytest.mark.parametrize("algorithm", ["local_recoding", "cell_suppression", "mu_argus_complete", "optimal"])
def test_everybody_as_stars_is_a_release_also_where_rows_lack_a_value(algorithm):
    table = pl.DataFrame({"q": ["1", None, "2", "2", "3", None, "4"]})
    release = recode(table, {"q": QUASI}, algorithm, k=2, limit=0.3, missing="suppress")
    assert release.data["q"].to_list() == ["*"] * 7
