"""Targets: statistics in, synthetic rows, the regions to reach, and the same again from the state."""

import json
from datetime import date
from decimal import Decimal
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.hierarchies import Dates, Tree
from kohorte.models import KAnonymity
from kohorte.series.domain.categories import CategoryAxis
from kohorte.series.domain.measures import UNKNOWN, DateAxis, NumberAxis
from kohorte.series.domain.regions import OUTSIDE, Regions
from kohorte.series.statistics.frequencies import read_frequencies
from kohorte.series.statistics.label_spans import spans
from kohorte.series.statistics.make_target import make_target
from kohorte.series.statistics.synthetic import apportioned, synthetic_rows
from kohorte.series.target.target import Target
from support.growing import SETTINGS
from support.growing import plan as growing_plan

WARDS = Tree({"inside": ["heart", "stomach"], "senses": ["eye", "ear", "nose"]})
AGE = NumberAxis("age", False, spans=((0, 40), (50, 120)), step=5)
WARD = CategoryAxis("ward", True, hierarchy=WARDS.build((), attribute="ward"))
AXES = (AGE, WARD)
AGES = {"0-39": 0.2, "40-59": 0.3, "60-119": 0.5}
INITIAL = Regions.of(list(product(*(axis.pieces for axis in AXES))))
PLAN = ko.Plan(
    {
        "age": ko.Attribute("quasi-identifying"),
        "ward": ko.Attribute("quasi-identifying", hierarchy=WARDS),
        "diagnosis": ko.Attribute("sensitive"),
    },
    [KAnonymity(k=4), {"model": "l-diversity_distinct", "attribute": "diagnosis", "l": 3}],
)


def made(tmp_path, **entry):
    """A target from such an entry of the settings."""
    return make_target(
        {"expected_rows": 1000, **entry}, plan=PLAN, axes=AXES, initial=INITIAL, weights=[1.0, 1.0], folder=tmp_path
    )


def marginals(**changed):
    return {"age": AGES, "ward": {"inside": 0.5, "eye": 0.3, "ear": 0.1, "": 0.1}} | changed


class TestLabels:
    def test_ranges_of_whole_numbers_name_their_last_value(self):
        wanted = [(0, 8), (8, 10), (0, 22), (0, 1), (OUTSIDE, OUTSIDE)]
        assert spans(AGE, ["0-39", "[40, 60)", "0 to 119", "3", "41-49"]).tolist() == [list(one) for one in wanted]

    def test_both_ends_of_a_range_belong_to_it(self):
        axis = NumberAxis("age", False, spans=((0, 120),), step=1)
        assert spans(axis, ["0-39", "40-59", "60"]).tolist() == [[0, 40], [40, 60], [60, 61]]

    def test_what_reaches_beyond_the_domain_is_unknown(self):
        assert (spans(AGE, ["100-130", "old", "-5 to 3", "59-50", "[50, 50)"])[:, 0] == UNKNOWN).all()

    def test_decimals_are_written_as_intervals(self):
        axis = NumberAxis("bmi", False, spans=((10, 60),), step=Decimal("0.5"), decimal=",")
        assert spans(axis, ["[18,5; 25)", "18,7"]).tolist() == [[17, 30], [17, 18]]
        assert spans(axis, ["18-25"])[0, 0] == UNKNOWN

    def test_codes_keep_their_zeros(self):
        axis = NumberAxis("zip", False, spans=((0, 100_000),), step=1000, digits=5)
        assert spans(axis, ["01000-01999", "80331"]).tolist() == [[1, 2], [80, 81]]

    def test_dates_are_days_or_intervals_of_days(self):
        axis = DateAxis("admitted", False, ((date(2020, 1, 1), date(2022, 1, 1)),), step="month", builder=Dates())
        labels = ["[2020-01-01, 2021-01-01)", "2021-01-01 to 2021-03-31", "2020-02-17", "2020-02-30 to 2020-03-01"]
        assert spans(axis, labels).tolist()[:3] == [[0, 12], [12, 15], [1, 2]]
        assert spans(axis, labels)[3, 0] == UNKNOWN

    def test_categories_are_values_groups_or_missing(self):
        found = spans(WARD, ["eye", "senses", "inside", "*", "", None]).tolist()
        assert [high - low for low, high in found] == [1, 3, 2, 5, 1, 1]
        assert found[1][0] <= found[0][0] < found[1][1]
        assert found[4] == found[5] == [5, 6]
        assert spans(WARD, ["teeth"])[0, 0] == UNKNOWN


class TestFrequencies:
    def test_rows_have_the_marginals_up_to_rounding(self, tmp_path):
        rows = synthetic_rows(read_frequencies({"marginals": marginals()}, AXES, tmp_path), 1000, 1)
        assert np.histogram(rows[:, 0], [0, 8, 10, 22])[0].tolist() == [200, 300, 500]
        assert (rows[:, 1] == 5).sum() == 100

    def test_attributes_of_different_tables_are_independent(self, tmp_path):
        rows = synthetic_rows(read_frequencies({"marginals": marginals()}, AXES, tmp_path), 20_000, 1)
        young = rows[rows[:, 0] < 8]
        assert (young[:, 1] == 5).mean() == pytest.approx(0.1, abs=0.02)

    def test_places_within_a_range_are_equally_likely(self, tmp_path):
        rows = synthetic_rows(read_frequencies({"marginals": marginals()}, AXES, tmp_path), 24_000, 1)
        counts = np.bincount(rows[:, 0], minlength=22)
        assert counts[10:].mean() == 1000
        assert abs(counts[10:] - 1000).max() < 150

    def test_the_same_seed_draws_the_same_rows(self, tmp_path):
        tables = read_frequencies({"marginals": marginals()}, AXES, tmp_path)
        draws = [synthetic_rows(tables, 500, seed).tolist() for seed in (3, 3, 4)]
        assert draws[0] == draws[1] != draws[2]

    @pytest.mark.parametrize(("column", "numbers"), [("count", [10, 30, 60]), ("share", [0.1, 0.3, 0.6])])
    def test_a_joint_table_is_met_exactly(self, tmp_path, column, numbers):
        table = pl.DataFrame({"age": ["0-39", "55", "60-119"], "ward": ["eye", "senses", None], column: numbers})
        table.write_csv(tmp_path / "joint.csv")
        rows = synthetic_rows(read_frequencies({"joint": "joint.csv"}, AXES, tmp_path), 200, 1)
        young, middle, old = rows[rows[:, 0] < 8], rows[rows[:, 0] == 9], rows[rows[:, 0] >= 10]
        assert [len(young), len(middle), len(old)] == [20, 60, 120]
        assert len(set(young[:, 1])) == 1
        assert len(set(middle[:, 1])) == 3
        assert set(old[:, 1]) == {5}

    def test_a_joint_table_and_marginals_complete_each_other(self, tmp_path):
        pl.DataFrame({"age": ["0-39", "60-119"], "count": [1, 1]}).write_csv(tmp_path / "ages.csv")
        entry = {"joint": "ages.csv", "marginals": {"ward": {"*": 1.0}}}
        assert [table.axes for table in read_frequencies(entry, AXES, tmp_path)] == [(0,), (1,)]

    def test_shares_are_rounded_so_that_the_rows_add_up(self):
        assert apportioned(np.array([1 / 3, 1 / 3, 1 / 3]), 100).tolist() == [34, 33, 33]
        assert apportioned(np.array([0.5, 0.26, 0.24]), 10).tolist() == [5, 3, 2]


class TestMakeTarget:
    def test_every_region_has_enough_expected_rows(self, tmp_path):
        target = made(tmp_path, marginals=marginals(), slack=0.3)
        assert len(target.regions) > 20
        assert target.masses.sum() == 1000
        assert target.masses.min() >= 6  # 4 * 1.3, rounded up
        assert target.regions.finer_than(INITIAL)
        assert target.regions.disjoint()
        assert target.guide(INITIAL).deviation == 0

    def test_more_slack_makes_larger_regions(self, tmp_path):
        few, many = (made(tmp_path, marginals=marginals(), slack=slack) for slack in (3, 0))
        assert len(few.regions) < len(many.regions)

    def test_slack_is_counted_exactly(self, tmp_path):
        """0.1 + 1 as floats would ask for 12 of 10 rows."""
        plan = ko.Plan(PLAN.attributes, [KAnonymity(k=10)])
        entry = {"expected_rows": 22, "slack": 0.1, "marginals": {"age": {"0-4": 0.5, "5-9": 0.5}, "ward": {"eye": 1}}}
        target = make_target(entry, plan=plan, axes=AXES, initial=INITIAL, weights=[1, 1], folder=tmp_path)
        assert sorted(target.masses.tolist()) == [0, 11, 11]

    def test_where_nobody_is_expected_the_initial_region_stays(self, tmp_path):
        target = made(tmp_path, marginals=marginals(age={"60-119": 1.0}))
        young = target.regions.lows[:, 0] < 8
        assert young.sum() == 1
        assert target.masses[young].tolist() == [0]

    def test_another_data_set_stands_for_all_expected_rows(self, tmp_path):
        generator = np.random.default_rng(1)
        pl.DataFrame(
            {
                "age": generator.integers(50, 120, 400),
                "ward": generator.choice(["eye", "ear", "heart"], 400),
                "diagnosis": generator.choice(list("abcdefgh"), 400),
            }
        ).write_csv(tmp_path / "other.csv")
        target = made(tmp_path, data="other.csv", expected_rows=4000)
        assert target.masses.sum() == pytest.approx(4000)
        assert target.masses[target.masses > 0].min() >= 40  # at least k rows of the data set, each for ten

    def test_models_hold_for_the_target_where_the_data_set_knows_the_sensitive_attribute(self, tmp_path):
        ages = np.repeat([50, 60, 70, 80], 30)
        other = pl.DataFrame({"age": ages, "ward": ["eye"] * 120, "diagnosis": ["a", "b", "c"] * 20 + ["a"] * 60})
        other.write_csv(tmp_path / "known.csv")
        other.drop("diagnosis").write_csv(tmp_path / "unknown.csv")
        known, unknown = (made(tmp_path, data=f"{name}.csv", expected_rows=120) for name in ("known", "unknown"))
        assert len(known.regions) < len(unknown.regions)

    def test_no_region_tells_of_fewer_people_of_another_data_set_than_k(self, tmp_path):
        pl.DataFrame({"age": [3, *[60] * 50], "ward": ["eye"] * 51}).write_csv(tmp_path / "other.csv")
        target = made(tmp_path, data="other.csv", expected_rows=51)
        assert sorted(target.masses.tolist()) == [0, 50]

    def test_a_target_comes_back_from_the_state_as_it_was(self, tmp_path):
        target = made(tmp_path, marginals=marginals(), size="mass", tolerance=0.1, policy="nearest")
        again = Target.from_dict(json.loads(json.dumps(target.to_dict())))
        assert again.regions.boxes == target.regions.boxes
        assert again.to_dict() == target.to_dict()
        assert again.sizes.tolist() == target.masses.tolist()
        assert again.tolerated == pytest.approx(100)

    def test_more_rows_than_are_drawn_stand_for_each_other(self, tmp_path, monkeypatch):
        monkeypatch.setattr("kohorte.series.statistics.make_target.MOST_ROWS", 500)
        target = made(tmp_path, marginals=marginals(), expected_rows=1000, slack=3)
        assert target.masses.sum() == 1000
        assert 16 <= target.masses.min() < 32


class TestBadInput:
    @pytest.mark.parametrize(
        ("entry", "message"),
        [
            ({}, "target: give either data, or marginals"),
            ({"marginals": marginals(), "data": "x.csv"}, "target: give either data"),
            ({"marginals": marginals(), "expected_rows": 0}, "expected_rows must be a whole number"),
            ({"marginals": marginals(), "expected_rows": 1e5}, "expected_rows must be a whole number"),
            ({"marginals": marginals(), "expected_rows": True}, "expected_rows must be a whole number"),
            ({"marginals": marginals(), "slack": -1}, "slack must be a number of at least 0"),
            ({"marginals": marginals(), "tolerance": 2}, "tolerance must be a number from 0 to 1"),
            ({"marginals": marginals(), "size": "volumes"}, "size must be one of volume, mass .did you mean 'volume'"),
            ({"marginals": marginals(), "policy": 3}, "policy must be one of wait, nearest"),
            ({"marginals": marginals(), "seed": -1}, "seed must be a whole number"),
            ({"marginals": {"age": AGES}}, "'ward' are given nowhere"),
            ({"marginals": marginals(wards={})}, "'wards' is not a quasi-identifying .* 'ward'"),
            ({"marginals": [1]}, "marginals: must be written as"),
            ({"marginals": marginals(age={"0-39": 0.5, "50-59": 0.4})}, "age: the frequencies sum to 0.9, not to 1"),
            ({"marginals": marginals(age={"0-39": 1.5})}, "age: entry 1 is not a frequency"),
            ({"marginals": marginals(age={"0-39": "half"})}, "age: entry 1 is not a frequency"),
            ({"marginals": marginals(age={"0-39": 0.5, "30-59": 0.5})}, "age: entries 1 and 2 share values"),
            ({"marginals": marginals(ward={"senses": 0.5, "eye": 0.5})}, "ward: entries 1 and 2 share values"),
            (
                {"marginals": marginals(age={"0-39": 0.5, "50-150": 0.5})},
                "entry 2 is neither a value of 'age'.*from 0 to 119",
            ),
            ({"marginals": marginals(age={"40-49": 1.0})}, "no expected row lies in the domain"),
            ({"joint": "absent.csv"}, "there is no such file"),
        ],
    )
    def test_errors_name_the_key(self, tmp_path, entry, message):
        with pytest.raises(ko.InputError, match=message):
            made(tmp_path, **entry)

    @pytest.mark.parametrize(
        ("table", "message"),
        [
            ("age,ward\n55,eye\n", "joint.csv: needs a column `count` or a column `share`"),
            ("age,ward,count,share\n55,eye,1,1\n", "not both"),
            ("age,ward,share\n55,eye,0.5\n", "the shares sum to 0.5"),
            ("age,ward,count\n55,eye,1\n56,eye,-3\n", "'count': row 2 does not have a number"),
            ("age,ward,count\n55,eye,0\n", "all counts are 0"),
            ("age,ward,count\n55,eye,1\n55,eye,2\n55,CANARY,1\n", "row 3 is neither a value of 'ward'"),
            ("age,ward,town,count\n55,eye,x,1\n", "leave out 1 column: not quasi-identifying"),
            ("age,count\n55,1\n", "'ward' are given nowhere"),
        ],
    )
    def test_errors_of_a_joint_table_name_the_row_and_no_value(self, tmp_path, table, message):
        (tmp_path / "joint.csv").write_text(table)
        with pytest.raises(ko.InputError, match=message) as caught:
            made(tmp_path, joint="joint.csv")
        assert "CANARY" not in caught.value.message

    @pytest.mark.parametrize(
        ("table", "message"),
        [
            ("age\n55\n", "lacks the quasi-identifier 'ward'"),
            ("age,ward\n55,eye\n55,CANARY\n", "data: other.csv: column 'ward': 1 rows .* row 2"),
        ],
    )
    def test_errors_of_another_data_set_name_the_row_and_no_value(self, tmp_path, table, message):
        (tmp_path / "other.csv").write_text(table)
        with pytest.raises(ko.InputError, match=message) as caught:
            made(tmp_path, data="other.csv")
        assert "CANARY" not in caught.value.message


def test_a_target_that_expects_fewer_rows_than_a_region_needs_is_refused(tmp_path: Path) -> None:
    marginals = {"age": {"0-119": 1.0}, "zip": {"000-999": 1.0}, "ward": {"A1": 1.0}}
    with pytest.raises(ko.InputError, match="expected_rows must be at least 5") as refused:
        ko.Series.start(
            tmp_path / "s", growing_plan(), {**SETTINGS, "target": {"expected_rows": 4, "marginals": marginals}}
        )
    assert refused.value.code == "series-target"
    assert not (tmp_path / "s").exists()
