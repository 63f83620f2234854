"""Attacks that once worked, or would have: the order of rows, rows that depart, rows that come back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.hierarchy import Tree
from kohorte.series import series as series_module
from kohorte.series.domain.categories import Categories
from kohorte.series.memory.fingerprints import fingerprints, new_key, shuffled

AGE = {"role": "quasi-identifying", "hierarchy": {"intervals": {"lower": 0, "upper": 100, "widths": [10], "integer": True}}}  # fmt: skip  # noqa: E501


def plan(models: list[object], *, limit: float = 1.0) -> ko.Plan:
    attributes = {"id": {"role": "identifying"}, "age": AGE, "s": {"role": "sensitive"}}
    return ko.Plan.from_dict(
        {"kohorte": 1, "attributes": attributes, "models": models, "suppression_limit": limit, "missing": "suppress"}
    )


def people(*groups: tuple[int, int, str], first: int = 0) -> pl.DataFrame:
    """So many people of an age with a sensitive value, for each group."""
    rows = [(age, value) for count, age, value in groups for _ in range(count)]
    numbers = [str(first + number) for number in range(len(rows))]
    return pl.DataFrame({"id": numbers, "age": [str(age) for age, _ in rows], "s": [value for _, value in rows]})


def test_equal_rows_do_not_stand_side_by_side_in_a_release() -> None:
    frame = pl.DataFrame({"x": [str(number % 500) for number in range(1_000)]})
    key = new_key()
    prints = fingerprints(frame, ["x"], key=key, purpose=b"content")
    for number in (1, 2, 3):
        order = shuffled(prints, number, key=key)
        assert sorted(order.tolist()) == list(range(1_000))
        values = frame["x"].to_numpy()[order]
        assert int((values[1:] == values[:-1]).sum()) < 12  # about one of 999 pairs of neighbours by chance


def test_equal_rows_get_the_same_places_whatever_their_order_in_the_table() -> None:
    values = ["a", "b", "a", "c", "a", "b"]
    key = new_key()
    shown = []
    for table in (values, values[::-1], sorted(values)):
        frame = pl.DataFrame({"x": table})
        order = shuffled(fingerprints(frame, ["x"], key=key, purpose=b"content"), 1, key=key)
        shown.append(frame["x"].to_numpy()[order].tolist())
    assert shown[0] == shown[1] == shown[2]


def test_a_withdrawn_row_does_not_let_rows_of_other_regions_vanish(tmp_path: Path) -> None:
    """Newcomers elsewhere change the whole; rows that were shown are refused, not dropped, though one was withdrawn."""
    asked = plan([{"model": "k-anonymity", "k": 2}, {"model": "t-closeness_equal", "attribute": "s", "t": 0.3}])
    settings = {"kohorte": 1, "identified_by": "id", "withdrawn": "accept", "regions": {"age": {"pieces": [[0, 50], [50, 100]]}}}  # fmt: skip  # noqa: E501
    series = ko.Series.start(tmp_path / "series", asked, settings)
    before = people((10, 10, "x"), (10, 10, "y"), (10, 60, "x"), (10, 60, "y"))
    assert series.release(before).shown == 40
    newcomers = people((400, 60, "z"), first=1_000)
    with pytest.raises(ko.PrivacyViolation) as refused:
        series.release(pl.concat([before[1:], newcomers]))
    assert refused.value.code == "series-region-fails"


def test_rows_held_back_because_of_withdrawn_ones_do_not_come_back_as_newcomers(tmp_path: Path) -> None:
    """Four of five stay of the first arrival; with a newcomer they would be shown again, and told by their arrival."""
    settings = {"kohorte": 1, "identified_by": "id", "withdrawn": "accept", "arrivals": "known"}
    series = ko.Series.start(tmp_path / "series", plan([{"model": "k-anonymity", "k": 5}]), settings)
    first = pl.concat([people((5, 10, "x")), people((20, 90, "x"), first=100)])
    assert series.release(first).shown == 25
    lost = first[1:]
    after = series.release(lost)
    assert (after.shown, after.withheld) == (20, 4)
    more = pl.concat([lost, people((1, 10, "y"), first=500)])
    third = series.release(more)
    assert third.shown == 20
    fourth = series.release(pl.concat([more, people((5, 10, "y"), first=600)]))
    assert fourth.shown == 26
    assert fourth.data.filter(pl.col("s") == "x").height == 20
    assert series.verify(pl.concat([more, people((5, 10, "y"), first=600)])).satisfied


def test_verify_counts_the_figures_of_the_state_anew(tmp_path: Path) -> None:
    series = ko.Series.start(tmp_path / "series", plan([{"model": "k-anonymity", "k": 3}]))
    table = people((6, 10, "x"), (6, 80, "y"))
    series.release(table)
    state = series.state
    assert series.verify(table).satisfied
    for lie in ({"loss": 0.0}, {"regions": 99}, {"smallest_region": 12}, {"departed": 5}):
        told = replace(state, releases=(replace(state.releases[0], **lie),))
        found = series_module.verify_series(series._table(table, state)[0], told)
        assert not found.satisfied, lie


@pytest.mark.parametrize(
    "tree",
    [{"X": ["A", "B"], "Y": ["X", "C"]}, {"g": ["A", "A or missing"]}, {"g": ["A", "{A, B}", "B"]}],
)
def test_names_that_could_be_read_as_several_regions_are_refused(tree: dict[str, object]) -> None:
    with pytest.raises(ko.InputError, match="ambiguous") as refused:
        Categories("ward", True, Tree(tree=tree).build([], attribute="ward"))
    assert refused.value.code == "series-axis"


def test_all_values_are_not_called_the_same_with_and_without_missing_ones() -> None:
    axis = Categories("ward", True, Tree(tree={"g": ["A", "B"], "h": ["C"]}).build([], attribute="ward"))
    assert axis.label(0, 4) == "*"
    assert axis.label(0, 3) == "* (not missing)"
    assert axis.label(3, 4) is None
    assert axis.label(0, 2) == "g"


@pytest.mark.parametrize("value", ["+1", "1.", "a1", "1", "001", "-1"])
def test_codes_of_digits_are_digits(value: str) -> None:
    from kohorte.series.domain.measures import Numbers

    axis = Numbers("zip", False, ((0, 100),), 1, digits=2)
    assert axis.place(pl.Series(["07", "99"])).tolist() == [7, 99]
    with pytest.raises(ko.InputError, match="codes of 2 digits from 00 to 99"):
        axis.place(pl.Series([value]))
    assert np.array_equal(axis.place(pl.Series(["10"])), [10])
