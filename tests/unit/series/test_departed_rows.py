"""Rows that were corrected or withdrawn: others of their region neither vanish nor come back as newcomers."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import kohorte as ko

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
