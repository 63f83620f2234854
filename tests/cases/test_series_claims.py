"""Claims 1 to 9 of the European patent application EP 4 404 095 A1, "Anonymisieren von Daten" (2024), on real releases.

The claims are checked by the released cells where possible.
"""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.series.domain.regions import Regions

K = 4
GROWTH = (60, 200, 700)
Cell = tuple[int, int]


def cohort(rows: int, *, seed: int = 5) -> pl.DataFrame:
    """Ages from 0 to 119, most of them around 60, and codes from 00 to 99, most of them low."""
    random = np.random.default_rng(seed)
    ages = np.clip(random.normal(60, 15, 2_000).round(), 0, 119).astype(int)[:rows]
    codes = np.minimum(random.exponential(25, 2_000), 99).astype(int)[:rows]
    return pl.DataFrame(
        {
            "age": ages.astype(str),
            "code": [f"{code:02}" for code in codes],
            "diagnosis": random.choice(["flu", "tb", "cold"], 2_000)[:rows],
        }
    )


def plan(*names: str, k: int = K) -> ko.Plan:
    attributes: dict[str, object] = {name: {"role": "quasi-identifying"} for name in names}
    return ko.Plan.from_dict(
        {
            "kohorte": 1,
            "missing": "refuse",
            "attributes": attributes | {"diagnosis": {"role": "sensitive"}},
            "models": [
                {"model": "k-anonymity", "k": k},
                {"model": "l-diversity_distinct", "attribute": "diagnosis", "l": 2},
            ],
        }
    )


DOMAINS: dict[str, object] = {"age": {"lower": 0, "upper": 120}, "code": {"digits": 2}}


class Releases:
    """A series over these attributes, and all it released of the growing cohort."""

    def __init__(self, folder: Path, *names: str, target: object = None, growth: tuple[int, ...] = GROWTH) -> None:
        settings: dict[str, object] = {"regions": {name: DOMAINS[name] for name in names}}
        settings |= {} if target is None else {"target": target}
        self.names = names
        self.series = ko.Series.start(folder / "series", plan(*names), settings)
        self.tables = [cohort(rows).select(*names, "diagnosis") for rows in growth]
        self.data: list[pl.DataFrame] = [self.series.release(table).data for table in self.tables]

    def regions(self, number: int) -> Regions:
        """All regions of a release, those without rows, too."""
        return self.series.definition.regions(self.series.state, number)

    def cells(self, number: int) -> Counter[tuple[Cell, ...]]:
        """The regions that a release shows, as its cells write them, with how many rows each has."""
        return Counter(tuple(interval(text) for text in row) for row in self.data[number - 1].select(self.names).rows())


def interval(text: str) -> Cell:
    """What a cell says: both ends belong to it."""
    low, _, high = text.partition("-")
    return int(low), int(high or low)


def inside(fine: tuple[Cell, ...], coarse: tuple[Cell, ...]) -> bool:
    return all(low >= outer and high <= end for (low, high), (outer, end) in zip(fine, coarse, strict=True))


@pytest.fixture(scope="module")
def ages(tmp_path_factory: pytest.TempPathFactory) -> Releases:
    return Releases(tmp_path_factory.mktemp("ages"), "age")


@pytest.fixture(scope="module")
def boxes(tmp_path_factory: pytest.TempPathFactory) -> Releases:
    return Releases(tmp_path_factory.mktemp("boxes"), "age", "code")


def test_claim_1_the_second_release_satisfies_the_same_models_and_has_more_regions(ages: Releases) -> None:
    first, second = ages.tables[:2]
    assert second[: first.height].equals(first)  # the first rows are a subset of the second
    for data in ages.data[:2]:
        assert ko.verify(data, plan("age")).satisfied
        assert min(Counter(data["age"]).values()) >= K
    assert len(ages.regions(2)) > len(ages.regions(1)) > 1
    assert len(ages.cells(2)) > len(ages.cells(1))


def test_claim_2_every_value_lies_in_at_most_one_region_of_a_release(ages: Releases) -> None:
    for number in (1, 2):
        holding = Counter(age for [(low, high)] in ages.cells(number) for age in range(low, high + 1))
        assert set(holding.values()) == {1}
        assert ages.regions(number).disjoint()


def test_claim_2_holds_with_gaps_whose_values_lie_in_no_region(tmp_path: Path) -> None:
    limit = ko.Plan.from_dict(plan("age").to_dict() | {"suppression_limit": 1.0})
    pieces = {"regions": {"age": {"pieces": [[16, 50], [60, 80]]}}}
    table = cohort(300).select("age", "diagnosis").filter(pl.col("age").cast(pl.Int64).is_between(16, 79))
    shown = ko.Series.start(tmp_path / "series", limit, pieces).release(table).data
    between = table["age"].cast(pl.Int64).is_between(50, 59).sum()
    assert between > 0
    assert shown.height == table.height - between
    assert all(16 <= low <= high < 50 or 60 <= low <= high < 80 for low, high in map(interval, shown["age"]))


def test_claim_3_the_regions_of_all_releases_together_cover_the_same_values(ages: Releases, boxes: Releases) -> None:
    for releases, values in ((ages, 120), (boxes, 120 * 100)):
        for number in (1, 2, 3):
            regions = releases.regions(number)
            assert regions.volumes().sum() == values  # disjoint, within the domain, and as many values as it has
            assert (regions.lows >= 0).all()
            assert (regions.highs <= [120, 100][: regions.axes]).all()


def test_claim_4_every_region_of_the_second_release_lies_in_exactly_one_of_the_first(ages: Releases) -> None:
    coarse, fine = ages.regions(1).boxes, ages.regions(2).boxes
    for [(low, high)] in fine:
        assert sum(outer <= low and high <= end for [(outer, end)] in coarse) == 1
        assert sum(outer < high and low < end for [(outer, end)] in coarse) == 1  # and it touches no other


def test_claim_5_intervals_have_lengths_of_their_own_by_how_many_rows_there_are(ages: Releases) -> None:
    """Around 60, where most people are, an interval is shorter than at the ends."""
    widths: dict[int, int] = {}
    for [(low, high)] in ages.regions(1).boxes:
        widths |= dict.fromkeys(range(low, high), high - low)
    assert len(set(widths.values())) > 2
    assert max(widths[age] for age in range(55, 66)) < min(widths[0], widths[119])


def test_claim_6_every_further_release_goes_on_from_the_one_before(
    ages: Releases, boxes: Releases, tmp_path: Path
) -> None:
    for releases, (before, after) in itertools.product((ages, boxes), itertools.pairwise((1, 2, 3))):
        assert len(releases.regions(after)) > len(releases.regions(before))
        assert releases.regions(after).finer_than(releases.regions(before))
    alone = Releases(tmp_path, "age", "code", growth=GROWTH[-1:])
    assert not alone.regions(1).finer_than(boxes.regions(1)), "by itself a release is not finer: the series made it so"


def keeps_to(regions: Regions, target: Regions) -> bool:
    """Whether regions consist of whole boxes of the target, or lie inside one: nothing is cut across."""
    pairs = ((region, box) for region in regions.boxes for box in target.boxes)
    return all(
        inclusive(region, box) or inclusive(box, region)
        for region, box in pairs
        if all(low < end and first < high for (low, high), (first, end) in zip(region, box, strict=True))
    )


def inclusive(fine: list[Cell], coarse: list[Cell]) -> bool:
    return inside(tuple(fine), tuple(coarse))


def test_claim_7_a_target_from_a_distribution_steers_the_releases(ages: Releases, tmp_path: Path) -> None:
    """Half of 400 people are expected to be 40 to 42 years old, so the target has single years there."""
    marginals = {"age": {"0-39": 0.25, "40-42": 0.5, "43-119": 0.25}}
    led = Releases(tmp_path, "age", target={"expected_rows": 400, "marginals": marginals})
    goal = led.series.definition.target
    assert goal is not None
    assert {(41, 42), (42, 43)} <= {box for [box] in goal.regions.boxes}
    for number in (1, 2, 3):
        assert len(led.regions(number)) > 1
        assert keeps_to(led.regions(number), goal.regions)
        assert not keeps_to(ages.regions(number), goal.regions)
    assert led.series.verify(led.tables[-1]).satisfied


def test_claim_8_regions_are_boxes_over_two_attributes_and_no_mere_product_of_intervals(boxes: Releases) -> None:
    for number in (1, 2, 3):
        cells = boxes.cells(number)
        assert min(cells.values()) >= K
        assert {len(box) for box in cells} == {2}
        for one, other in itertools.combinations(cells, 2):
            assert not all(low <= end and first <= high for (low, high), (first, end) in zip(one, other, strict=True))
    fine, coarse = boxes.cells(2), boxes.cells(1)
    assert all(sum(inside(box, outer) for outer in coarse) == 1 for box in fine if box_has_old_rows(boxes, box))
    assert len(fine) > len(coarse)
    ages, codes = ({box[axis] for box in fine} for axis in (0, 1))
    assert len(fine) < len(ages) * len(codes)


def box_has_old_rows(boxes: Releases, box: tuple[Cell, ...]) -> bool:
    """Whether a row of the first table lies in it; a region that was empty then is not shown by the first release."""
    rows = boxes.tables[0].select(pl.col("age", "code").cast(pl.Int64)).rows()
    return any(all(low <= value <= high for value, (low, high) in zip(row, box, strict=True)) for row in rows)


def test_claim_9_a_target_over_two_attributes_from_another_data_set_steers_the_releases(
    boxes: Releases, tmp_path: Path
) -> None:
    cohort(700, seed=8).write_csv(tmp_path / "other.csv")
    target = {"expected_rows": 700, "data": "other.csv"}
    settings = ko.SeriesSettings(regions=DOMAINS, target=target, folder=tmp_path)
    series = ko.Series.start(tmp_path / "series", plan("age", "code"), settings)
    goal = series.definition.target
    assert goal is not None
    assert goal.regions.axes == 2
    for number, table in enumerate(boxes.tables, start=1):
        series.release(table)
        regions = series.definition.regions(series.state, number)
        assert len(regions) > 1
        assert keeps_to(regions, goal.regions)
        assert not keeps_to(boxes.regions(number), goal.regions)
    assert series.verify(boxes.tables[-1]).satisfied
