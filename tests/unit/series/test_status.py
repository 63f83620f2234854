"""What the next release would gain and what is missing, in cases small enough to count."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.hierarchies import Tree
from kohorte.series.domain.axis import Axis
from kohorte.series.domain.categories import CategoryAxis
from kohorte.series.domain.measures import NumberAxis
from kohorte.series.domain.regions import Positions, Regions, Split
from kohorte.series.splitting.candidates import OpenRegions
from kohorte.series.splitting.group_check import GroupCheck
from kohorte.series.splitting.refine import Refined, refine
from kohorte.series.status.missing_rows import Demands, wanted_splits
from kohorte.series.status.status import SeriesStatus
from kohorte.series.target.target import Target
from kohorte.series.target.target_distance import TargetDistance
from support.examples import examples
from support.growing import SETTINGS, patients
from support.growing import plan as patients_plan

DOMAIN = {"x": {"lower": 0, "upper": 20}}


def plan(*more: object, k: int = 3) -> ko.Plan:
    return ko.Plan.from_dict(
        {
            "kohorte": 1,
            "attributes": {"x": {"role": "quasi-identifying"}, "s": {"role": "sensitive"}},
            "models": [{"model": "k-anonymity", "k": k}, *more],
            "missing": "suppress",
            "suppression_limit": 1.0,
        }
    )


def table(positions: list[int], values: str | None = None) -> pl.DataFrame:
    return pl.DataFrame({"x": [str(position) for position in positions], "s": list(values or "v" * len(positions))})


def started(folder: Path, *models: object, **changes: object) -> ko.Series:
    return ko.Series.start(folder / "series", plan(*models), {"regions": DOMAIN, **changes})


def status(folder: Path, positions: list[int], values: str | None = None, *models: object) -> SeriesStatus:
    return started(folder, *models).status(table(positions, values))


# What more rows would allow


def test_the_split_that_lacks_the_fewest_rows_is_named(tmp_path: Path) -> None:
    # 0 to 10 has three rows, 11 to 19 two of three; a cut at 5 lacks one row, too, but tells less
    found = status(tmp_path, [2, 4, 6, 15, 17])
    assert found.coming is not None
    [missing] = found.coming.missing
    assert (missing.attribute, missing.at, missing.rows) == ("x", "11", 1)
    assert [(part.label, part.rows) for part in missing.parts] == [("0-10", 0), ("11-19", 1)]
    # five cells leave everything open, 19 of 19 steps; then three leave 10 and two 8
    assert missing.gain == pytest.approx((5 * 19 - 3 * 10 - 2 * 8) / (5 * 19))
    assert missing.in_words() == ("everywhere: 1 more row (x 11-19) would allow a split of x at 11; loss 51.6 % less")


def test_both_parts_may_lack_rows(tmp_path: Path) -> None:
    found = status(tmp_path, [2, 4, 6, 15])
    assert found.coming is not None
    [missing] = found.coming.missing
    assert missing.at == "5"
    assert [(part.label, part.rows) for part in missing.parts] == [("0-4", 1), ("5-19", 1)]


def test_rows_at_one_place_can_be_told_from_rows_elsewhere(tmp_path: Path) -> None:
    found = status(tmp_path, [10] * 7)
    assert found.coming is not None
    [missing] = found.coming.missing
    assert missing.rows == 3
    assert "7" not in missing.in_words().split(";")[0]


def test_a_sensitive_value_that_is_missing_is_asked_for(tmp_path: Path) -> None:
    diverse = {"model": "l-diversity_distinct", "attribute": "s", "l": 2}
    found = status(tmp_path, [2, 4, 6, 15, 16, 17], "aaaabb", diverse)
    assert found.coming is not None
    [missing] = found.coming.missing
    assert missing.at == "11"
    assert [dict(part.values) for part in missing.parts] == [{"s": 1}, {}]
    assert "1 more row (x 0-10) with 1 more value of s would allow" in missing.in_words()


def test_a_model_that_asks_for_more_than_numbers_is_named(tmp_path: Path) -> None:
    close = {"model": "t-closeness_equal", "attribute": "s", "t": 0.1}
    found = status(tmp_path, [2, 4, 6, 15, 16, 17], "aaabbb", close)
    assert found.coming is not None
    [missing] = found.coming.missing
    assert missing.rows == 0
    assert len(missing.refused_by) == 1
    assert "t-closeness_equal" in missing.in_words()
    assert "has enough rows, but" in missing.in_words()


def test_rows_that_came_earlier_are_not_parted_where_arrivals_are_known(tmp_path: Path) -> None:
    series = started(tmp_path, arrivals="known")
    series.release(table([2, 4, 6, 15, 17]))
    found = series.status(table([2, 4, 6, 15, 17]))
    assert found.coming is not None
    [missing] = found.coming.missing
    assert (missing.at, [part.rows for part in missing.parts]) == ("18", [0, 3])
    assert "3 more rows that come together (x 18-19)" in missing.in_words()
    assert series.release(table([2, 4, 6, 15, 17, 18, 18, 19])).splits == 1


def test_no_more_regions_are_named_than_asked_for(tmp_path: Path) -> None:
    series = ko.Series.start(tmp_path / "series", patients_plan(), SETTINGS)
    few, many = (series.status(patients(500), top=top).coming for top in (3, 1000))
    assert few is not None
    assert many is not None
    assert len(few.missing) == 3
    assert many.missing[:3] == few.missing
    assert len(many.missing) <= many.figures.regions
    gains = [one.gain for one in many.missing]
    assert gains == sorted(gains, reverse=True)


# What the next release would gain


def test_the_gain_is_counted_over_the_same_rows(tmp_path: Path) -> None:
    series = started(tmp_path)
    series.release(table([2, 4, 6, 15, 17]))
    found = series.status(table([2, 4, 6, 15, 17, 19]))
    assert found.coming is not None
    assert (found.coming.regions_before, found.coming.figures.regions) == (1, 2)
    assert found.coming.figures.loss_before == 1
    assert found.coming.gain == pytest.approx(1 - found.coming.figures.loss)
    assert len(series.history) == 1


def test_a_status_tells_what_the_release_will_be(tmp_path: Path) -> None:
    series = ko.Series.start(tmp_path / "series", patients_plan(), SETTINGS)
    series.release(patients(300))
    status = series.status(patients(700))
    assert status.coming is not None
    assert status.verdict is not None
    made = series.release(patients(700)).to_dict()
    tried = status.coming.to_dict() | {"verdict": status.verdict.to_dict()}
    assert {key: value for key, value in tried.items() if key in made} == made


def test_without_a_table_there_is_the_history_alone(tmp_path: Path) -> None:
    series = started(tmp_path)
    series.release(table([2, 4, 6]))
    found = series.status()
    assert found.coming is None
    assert found.in_words() == []
    assert [entry.number for entry in found.releases] == [1]


def test_a_full_domain_series_has_a_status_too(tmp_path: Path) -> None:
    of_patients = patients_plan()
    plain = of_patients.to_dict()
    plain["attributes"]["zip"]["hierarchy"] = {"redaction": {"length": 3}}  # type: ignore[index]
    series = ko.Series.start(tmp_path / "series", ko.Plan.from_dict(plain), {"kind": "full-domain"})
    series.release(patients(200))
    found = series.status(patients(5000))
    assert found.coming is not None
    assert found.coming.figures.loss_before >= found.coming.figures.loss
    assert found.held == ()


# Rows that are held back


def test_where_rows_are_held_back_few_are_not_counted(tmp_path: Path) -> None:
    series = started(tmp_path, regions={"x": {"pieces": [[0, 10], [12, 20]]}})
    found = series.status(table([1, 2, 3, 11, 13]))
    [held] = found.held
    assert (held.rows, held.needed) == (None, 2)
    assert held.in_words() == "x 12-19: fewer than 3 rows; 2 more rows would let them be shown"
    assert found.outside is None
    assert "in a gap or without a value: fewer than 3 rows; no release will show them" in found.in_words()


def test_a_refused_release_says_what_is_missing(tmp_path: Path) -> None:
    series = started(tmp_path, regions={"x": {"pieces": [[0, 10], [10, 20]]}})
    found = series.status(table([1, 2, 11]))
    assert found.coming is None
    assert found.refused is not None
    assert found.refused.code == "series-nothing-shown"
    assert [(str(held.where), held.needed) for held in found.held] == [("x 0-9", 1), ("x 10-19", 2)]
    assert len(series.status(table([1, 2, 3, 11, 12, 13])).held) == 0


def test_newcomers_that_are_held_back_wait_for_others_who_come_with_them(tmp_path: Path) -> None:
    series = started(tmp_path, arrivals="known")
    series.release(table([1, 2, 3]))
    [held] = series.status(table([1, 2, 3, 15])).held
    assert held.needed == 2
    assert "2 more rows that come together" in held.in_words()
    assert series.release(table([1, 2, 3, 15, 4, 9])).shown == 6


def test_lines_about_small_groups_say_that_they_are_not_for_everybody(tmp_path: Path) -> None:
    assert status(tmp_path, [2, 4, 6, 15]).in_words()[-1].startswith("do not publish these lines")


# The target


def test_a_region_of_the_target_is_reached_when_it_is_told_from_all_others() -> None:
    target = Target(Regions.of([[(0, 4)], [(4, 8)], [(8, 16)]]), np.zeros(3), 10)
    first = TargetDistance.of(target.guide(Regions.of([[(0, 8)], [(8, 16)]])))
    assert (first.reached, first.deviation) == (pytest.approx(1 / 3), 0)
    finer = TargetDistance.of(target.guide(Regions.of([[(0, 4)], [(4, 8)], [(8, 12)], [(12, 16)]])))
    assert (finer.reached, finer.deviation) == (1, 0)
    across = TargetDistance.of(target.guide(Regions.of([[(0, 5)], [(5, 8)], [(8, 16)]])))
    assert (across.reached, across.deviation) == (pytest.approx(1 / 3), pytest.approx(1 / 16))


# Whatever the rows are: what is asked for is enough

X, Y = NumberAxis("x", False, ((0, 8),), 1), NumberAxis("y", False, ((0, 5),), 1)
WARDS = CategoryAxis("y", False, Tree(tree={"A": ["a1", "a2"], "B": ["b1", "b2", "b3"]}).build([], attribute="y"))
BOXES = Regions.of([[(0, 8), (0, 5)]]).divided([Split(0, 0, 3), Split(0, 1, 2), Split(1, 1, 3)])
TARGET = Target(BOXES, np.zeros(4), 10)
ROWS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 4), st.sampled_from("abc")), min_size=4, max_size=40)


@examples(150)
@given(rows=ROWS, k=st.integers(2, 4), distinct=st.integers(1, 2), steered=st.booleans(), which=st.integers(0, 100))
def test_the_rows_that_are_asked_for_bring_the_split_and_one_less_does_not(
    rows: list[tuple[int, int, str]], k: int, distinct: int, steered: bool, which: int
) -> None:
    axes: list[Axis] = [X, Y if distinct > 1 else WARDS]
    asked = plan({"model": "l-diversity_distinct", "attribute": "s", "l": distinct}, k=k)
    start = Regions.of([[(0, axis.length) for axis in axes]])
    target = TARGET if steered else None
    positions, values = np.array([row[:2] for row in rows], dtype=np.int64), [row[2] for row in rows]
    assume(len(rows) >= k and len(set(values)) >= distinct)

    def refined(regions: Regions, added: Positions) -> Refined:
        """The regions with some more rows, each with a value of its own."""
        told = values + [f"new {row}" for row in range(len(added))]
        check, grown = GroupCheck.of(pl.DataFrame({"s": told}), asked), np.concatenate([positions, added])
        return refine(regions, grown, check, axes=axes, weights=[1, 1], target=target)

    now = refined(start, positions[:0])
    chosen, local = np.unique(now.region_of, return_inverse=True)
    check = GroupCheck.of(pl.DataFrame({"s": values}), asked)
    around = OpenRegions(axes, [1, 1], now.regions, chosen, local, positions, check.least)
    guide = None if target is None else target.guide(now.regions)
    wanted = wanted_splits(around, Demands.of(check), guide=guide)
    assume(len(wanted.candidates) > 0)
    number = which % len(wanted.candidates)
    region, along, position = (
        int(column[number])
        for column in (chosen[wanted.candidates.region], wanted.candidates.axis, wanted.candidates.position)
    )
    lacking = [int(wanted.lower[number, 0]), int(wanted.upper[number, 0])]
    halves = now.regions.divided([Split(region, along, position)])
    added = np.repeat(halves.lows[[region, len(halves) - 1]], lacking, axis=0)
    assert len(added) > 0
    assert region in {split.region for split in refined(now.regions, added).splits}
    if distinct == 1:
        assert region not in {split.region for split in refined(now.regions, added[1:]).splits}
