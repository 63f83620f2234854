"""Values on a line: missing ones, moments, and groups of a hierarchy."""

import polars as pl
import pytest

import kohorte as ko
from kohorte.hierarchies import CsvFile, Dates, Tree
from support.recodings import QUASI, recode


def test_missing_values_in_the_middle_of_a_line_are_named(tmp_path):
    """A hierarchy file with a line for missing values put the word None into cells."""
    (tmp_path / "h.csv").write_text("a;G1;*\nb;G2;*\n;G2;*\nc;G3;*\nd;G3;*\n", encoding="utf-8")
    table = pl.DataFrame({"q": ["a", "a", "a", "b", None, "c", "d", "d", "d"]})
    attributes = {"q": ko.Attribute("quasi-identifying", CsvFile("h.csv", folder=tmp_path))}
    release = recode(table, attributes, "k_optimize", k=2, metric="discernibility")
    assert not any("None" in str(cell) for cell in release.data["q"])
    assert sum("or missing" in str(cell) for cell in release.data["q"]) == 3


@pytest.mark.parametrize(
    "moments",
    [
        ["2020-01-01 10:00:00", "2020-01-01 11:00:00", "2020-01-01T09:00:00"],
        ["2020-01-01T09:30:00+00:00", "2020-01-01T10:00:00+02:00", "2020-01-01T11:00:00+05:00"],
    ],
)
def test_moments_that_do_not_sort_as_text_are_no_line(moments):
    table = pl.DataFrame({"q": moments})
    with pytest.raises(ko.InputError, match="neither an order nor a hierarchy"):
        recode(table, {"q": QUASI}, "mondrian", k=3)
    zone = ko.Attribute("quasi-identifying", Dates(format="%Y-%m-%dT%H:%M:%S%z", levels=["day"]))
    if "+" in moments[0]:
        shown = recode(table, {"q": zone}, "mondrian", k=3).data["q"].to_list()
        assert shown == ["2020-01-01"] * 3


def test_the_loss_of_intervals_of_groups_does_not_depend_on_which_values_the_data_have():
    groups = {f"{n}~{n + 1}": [str(n), str(n + 1)] for n in range(0, 14, 2)}
    attributes = {"q": ko.Attribute("quasi-identifying", Tree(groups), minimum_level=1)}
    for values in (["0", "5", "12", "12"], ["1", "4", "12", "12"]):
        release = recode(pl.DataFrame({"q": values}), attributes, "mondrian", k=2)
        assert release.data["q"].to_list() == ["[0~1-4~5]"] * 2 + ["12~13"] * 2
        assert release.cost == pytest.approx((2 * 5 / 13 + 2 * 1 / 13) / 4)
