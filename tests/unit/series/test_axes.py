"""Axes from a plan and settings: defaults from hierarchies, domains that are given, and what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

import kohorte as ko
from kohorte.hierarchies import Tree
from kohorte.series.domain.axes import initial_regions, make_axes
from kohorte.series.domain.axis import Axis
from kohorte.series.domain.categories import CategoryAxis
from kohorte.series.domain.measures import DateAxis, NumberAxis


def axis_of(
    attribute: Mapping[str, object], given: Mapping[str, object] | None = None, *, missing: str = "category"
) -> Axis:
    plan = ko.Plan.from_dict(
        {
            "kohorte": 1,
            "attributes": {"x": {"role": "quasi-identifying", **attribute}},
            "models": [{"model": "k-anonymity", "k": 2}],
            "missing": missing,
        }
    )
    settings = ko.SeriesSettings(regions={} if given is None else {"x": given})
    return make_axes(plan, settings)[0]


def refused(attribute: Mapping[str, object], given: Mapping[str, object] | None = None) -> str:
    with pytest.raises(ko.InputError) as error:
        axis_of(attribute, given)
    assert error.value.code in ("series-axis", "minimum-level-beyond")
    return error.value.message


INTERVALS = {"hierarchy": {"intervals": {"lower": 0, "upper": 100, "widths": [5, 10], "integer": True}}}
TREE = {"hierarchy": {"tree": {"A": ["A1", "A2"], "B": ["B1"]}}}


def test_whole_intervals_become_steps_of_one() -> None:
    axis = axis_of(INTERVALS)
    assert isinstance(axis, NumberAxis)
    assert (axis.known, axis.length) == (100, 101)
    assert axis.label(0, 10) == "0-9"


def test_other_intervals_become_steps_of_their_smallest_width() -> None:
    axis = axis_of({"hierarchy": {"intervals": {"lower": 0, "upper": 2, "widths": [0.5, 1]}}})
    assert axis.known == 4
    bounds = axis_of({"hierarchy": {"intervals": {"levels": [{"bounds": [0, 0.5, 2, 4]}, {"bounds": [0, 4]}]}}})
    assert (bounds.known, bounds.label(0, 1)) == (8, "[0, 0.5)")


def test_settings_overrule_what_a_hierarchy_tells() -> None:
    assert axis_of(INTERVALS, {"step": 5}).known == 20
    gapped = axis_of(INTERVALS, {"pieces": [[16, 22], [50, 80]]})
    assert gapped.known == 36
    assert list(gapped.pieces) == [(0, 6), (6, 37)]


def test_missing_values_have_a_place_only_where_they_are_a_category() -> None:
    assert axis_of(INTERVALS).missing
    assert not axis_of(INTERVALS, missing="suppress").missing
    assert not axis_of(INTERVALS, missing="refuse").missing


def test_codes_keep_their_digits() -> None:
    axis = axis_of({"hierarchy": {"redaction": {}}}, {"digits": 5})
    assert axis.label(0, 1000) == "00000-00999"
    assert axis_of({}, {"digits": 3, "step": 10}).known == 100


def test_dates_need_their_ends() -> None:
    dates = {"hierarchy": {"dates": {"format": "%d.%m.%Y"}}}
    axis = axis_of(dates, {"lower": "2020-01-01", "upper": "2021-01-01"})
    assert isinstance(axis, DateAxis)
    assert axis.known == 12
    assert axis.positions(pl.Series(["31.12.2020"])).tolist() == [11]
    assert "lower" in refused(dates)
    assert "dates such as" in refused(dates, {"lower": 5, "upper": 6})
    assert isinstance(axis_of({}, {"lower": "2020-01-01", "upper": "2021-01-01", "step": "day"}), DateAxis)


def test_categories_come_from_trees_files_orderings_and_lists(tmp_path: Path) -> None:
    assert isinstance(axis_of(TREE), CategoryAxis)
    assert axis_of({"hierarchy": {"ordering": {"values": ["I", "II", "III"]}}}).known == 3
    assert axis_of({}, {"values": ["f", "m"]}).known == 2
    assert axis_of({"hierarchy": {"redaction": {}}}, {"values": ["A01", "A02"]}).label(0, 2) == "A0*"
    file = tmp_path / "ward.csv"
    file.write_text("A1;A;*\nA2;A;*\n;none;*\n")
    assert axis_of({"hierarchy": {"csv": str(file)}}).known == 2  # the line for missing values is no category


def test_a_minimum_level_is_the_finest_of_categories_and_refused_for_numbers() -> None:
    axis = axis_of({**TREE, "minimum_level": 1})
    assert (axis.known, axis.label(0, 1)) == (2, "A")
    assert "step" in refused({**INTERVALS, "minimum_level": 1})
    assert "minimum_level is 9" in refused({**TREE, "minimum_level": 9})


@pytest.mark.parametrize(
    ("attribute", "given", "named"),
    [
        ({}, None, "lower and upper"),
        ({"hierarchy": {"redaction": {}}}, None, "digits"),
        ({"hierarchy": {"ordering": {}}}, None, "values"),
        ({}, {"lower": 0}, "lower and upper"),
        ({}, {"lower": 0, "upper": 10, "pieces": [[0, 1]]}, "either"),
        ({}, {"lower": 0, "upper": "ten"}, "number"),
        ({}, {"lower": 0, "upper": 10, "digits": 2}, "lower is not supported"),
        ({}, {"pieces": [[0, 1, 2]]}, "[[16, 22], [50, 80]]"),
        ({}, {"pieces": []}, "list"),
        ({}, {"digits": 99}, "digits"),
        ({}, {"digits": 0}, "digits"),
        ({}, {"values": ["a", "a"]}, "values"),
        ({}, {"values": ["a"], "step": 2}, "step is not supported"),
        (TREE, {"values": ["A1"]}, "leave values out"),
        ({"hierarchy": {"ordering": {"by": "number"}}}, {"values": ["1", "x"]}, "does not contain 1"),
    ],
)
def test_a_domain_that_is_not_known_or_does_not_fit_is_refused(
    attribute: Mapping[str, object], given: Mapping[str, object] | None, named: str
) -> None:
    message = refused(attribute, given)
    assert "x" in message
    assert named in message


def test_regions_for_a_column_that_is_no_quasi_identifier_are_refused() -> None:
    plan = ko.Plan.from_dict(
        {
            "kohorte": 1,
            "attributes": {"x": {"role": "quasi-identifying"}, "y": {"role": "sensitive"}},
            "models": [{"model": "k-anonymity", "k": 2}],
        }
    )
    with pytest.raises(ko.InputError, match="regions: 'y'"):
        make_axes(plan, ko.SeriesSettings(regions={"y": {"digits": 2}}))


def test_the_first_regions_are_all_combinations_of_pieces() -> None:
    one = NumberAxis("a", missing=False, spans=((0, 2), (5, 9)), step=1)
    other = NumberAxis("b", missing=True, spans=((0, 3),), step=1)
    assert initial_regions([one, other]).boxes == [[(0, 2), (0, 4)], [(2, 6), (0, 4)]]
    many = NumberAxis("c", missing=False, spans=tuple((3 * n, 3 * n + 1) for n in range(200)), step=1)
    with pytest.raises(ko.InputError, match="40,000 regions"):
        initial_regions([many, many])


@pytest.mark.parametrize(
    "tree",
    [{"X": ["A", "B"], "Y": ["X", "C"]}, {"g": ["A", "A or missing"]}, {"g": ["A", "{A, B}", "B"]}],
)
def test_names_that_could_be_read_as_several_regions_are_refused(tree: dict[str, object]) -> None:
    with pytest.raises(ko.InputError, match="ambiguous") as refused:
        CategoryAxis("ward", True, Tree(tree=tree).build([], attribute="ward"))
    assert refused.value.code == "series-axis"


def test_all_values_are_not_called_the_same_with_and_without_missing_ones() -> None:
    axis = CategoryAxis("ward", True, Tree(tree={"g": ["A", "B"], "h": ["C"]}).build([], attribute="ward"))
    assert axis.label(0, 4) == "*"
    assert axis.label(0, 3) == "* (not missing)"
    assert axis.label(3, 4) is None
    assert axis.label(0, 2) == "g"


@pytest.mark.parametrize("value", ["+1", "1.", "a1", "1", "001", "-1"])
def test_codes_of_digits_are_digits(value: str) -> None:
    axis = NumberAxis("zip", False, ((0, 100),), 1, digits=2)
    assert axis.positions(pl.Series(["07", "99"])).tolist() == [7, 99]
    with pytest.raises(ko.InputError, match="codes of 2 digits from 00 to 99"):
        axis.positions(pl.Series([value]))
    assert axis.positions(pl.Series(["10"])).tolist() == [10]
