"""Mondrian, strict and relaxed: the published tables, the published bounds, and every kind of attribute."""

from collections import Counter
from fractions import Fraction
from typing import ClassVar

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.hierarchies import Dates, Intervals, Ordering, Redaction, Tree
from kohorte.models import KAnonymity
from support.examples import examples
from support.model_oracle import CONDITIONS, Seen
from support.shown_cells import NASTY, QUASIS

BOTH = pytest.mark.parametrize("algorithm", ["mondrian", "mondrian_relaxed"])


def plan_of(frame, algorithm="mondrian", *, k=2, models=(), hierarchies=None, minimum=None, weights=None, **options):
    """A plan in which `disease` is sensitive and every other column a quasi-identifier, in their order."""
    attributes = {
        name: ko.Attribute(
            "quasi-identifying",
            hierarchy=(hierarchies or {}).get(name),
            minimum_level=(minimum or {}).get(name, 0),
            weight=(weights or {}).get(name, 1.0),
        )
        for name in frame.columns
        if name != "disease"
    }
    if "disease" in frame.columns:
        attributes["disease"] = ko.Attribute("sensitive")
    return ko.Plan(attributes, [KAnonymity(k=k), *models], search=algorithm, order="input", **options)


def recode(frame, algorithm="mondrian", **options):
    return ko.anonymize(frame, plan_of(frame, algorithm, **options))


def shown(values, algorithm="mondrian", **options):
    """One column, recoded."""
    own = {name: {"q": setting} for name, setting in options.items() if name in ("hierarchies", "minimum")}
    frame = pl.DataFrame({"q": pl.Series(values, dtype=pl.String)})
    return recode(frame, algorithm, **(options | own)).data["q"].to_list()


def points(rows):
    return pl.DataFrame(rows, schema=[f"q{axis}" for axis in range(len(rows[0]))], orient="row")


def classes(release):
    return Counter(release.data.select(release.plan.quasi_identifiers).rows())


class TestPublishedTables:
    """Tables 10 to 13 of the source; sex needs no hierarchy, because two values have an order in any case."""

    patients = pl.DataFrame(
        {
            "sex": ["Male", "Female", "Male", "Male", "Female", "Male"],
            "age": [25, 25, 26, 27, 27, 28],
            "zip": [53711, 53712, 53711, 53710, 53712, 53711],
            "disease": ["Flu", "Hepatitis", "Bronchitis", "Broken Arm", "AIDS", "Hang Nail"],
        }
    )
    table_12: ClassVar = [
        ("Male", "[25-26]", "53711", "Flu"),
        ("Female", "[25-27]", "53712", "Hepatitis"),
        ("Male", "[25-26]", "53711", "Bronchitis"),
        ("Male", "[27-28]", "[53710-53711]", "Broken Arm"),
        ("Female", "[25-27]", "53712", "AIDS"),
        ("Male", "[27-28]", "[53710-53711]", "Hang Nail"),
    ]

    def test_two_anonymous_patients_are_those_of_table_12(self):
        """All three attributes span their whole range, and of equals the first of the plan is cut: sex."""
        release = recode(self.patients)
        assert release.data.rows() == self.table_12
        assert (release.classes, release.smallest_class, release.suppressed) == (3, 2, 0)

    def test_where_sex_is_not_the_first_of_the_plan_its_weight_decides(self):
        names = ["age", "zip", "sex", "disease"]
        other = recode(self.patients.select(names))
        assert Counter(other.data.group_by("age", "zip", "sex").len()["len"].to_list()) == {3: 2}  # age is cut first
        release = recode(self.patients.select(names), weights={"age": 0.9, "zip": 0.9})
        assert release.data.select(self.patients.columns).rows() == self.table_12

    def test_one_dimension_at_a_time_costs_more(self):
        """Table 11 by hand: all ages are one interval, two zip codes of three are, and sex stays."""
        table_11 = Fraction(6 * 1 + 4 * Fraction(1, 2), 18)
        table_12 = Fraction(4 * Fraction(1, 3) + 2 * Fraction(2, 3) + 2 * Fraction(1, 2), 18)
        assert recode(self.patients).cost == pytest.approx(float(table_12))
        assert table_12 < table_11
        discernibility = recode(self.patients, metric="discernibility").cost
        assert discernibility == 3 * 2**2 < 4**2 + 2**2
        assert discernibility < recode(self.patients, "k_optimize", metric="discernibility").cost

    def test_relaxed_regions_share_a_zip_code_as_in_table_13(self):
        """But for the second row of the source, whose 53712 is no part of [53710-53711]."""
        release = recode(self.patients.select("zip"), "mondrian_relaxed", k=3)
        assert classes(release) == {("[53710-53711]",): 3, ("[53711-53712]",): 3}
        for original, cell in zip(self.patients["zip"], release.data["zip"], strict=True):
            assert str(original) in cell or original == 53711

    def test_strict_regions_of_zip_codes_cannot_be_cut(self):
        release = recode(self.patients.select("zip"), k=3)
        assert classes(release) == {("[53710-53712]",): 6}
        assert release.recoding.facts["regions"] == 1


class TestBounds:
    @examples(40)
    @given(
        rows=st.integers(1, 3).flatmap(
            lambda d: st.lists(st.tuples(*[st.integers(0, 6)] * d), min_size=4, max_size=60)
        ),
        k=st.integers(1, 4),
    )
    def test_no_strict_region_is_larger_than_2d_k_minus_1_plus_m(self, rows, k):
        release = recode(points(rows), k=k)
        d, m = len(rows[0]), max(Counter(rows).values())
        assert max(classes(release).values()) <= 2 * d * (k - 1) + m
        assert release.recoding.facts["largest_region"] <= 2 * d * (k - 1) + m

    @examples(40)
    @given(
        rows=st.integers(1, 3).flatmap(
            lambda d: st.lists(st.tuples(*[st.integers(0, 5)] * d), min_size=4, max_size=60)
        ),
        k=st.integers(1, 4),
    )
    def test_no_relaxed_region_is_larger_than_2k_minus_1_even_of_equal_rows(self, rows, k):
        facts = recode(points(rows), "mondrian_relaxed", k=k).recoding.facts
        assert facts["largest_region"] <= 2 * k - 1
        assert facts["regions"] >= len(rows) / (2 * k - 1)
        assert facts["rows_per_region_and_k"] < 2

    @examples(30)
    @given(seed=st.integers(0, 10**6), rows=st.integers(4, 80), k=st.integers(1, 4), d=st.integers(1, 3))
    def test_continuous_data_have_relaxed_classes_of_2k_minus_1_rows_at_most(self, seed, rows, k, d):
        """No two rows agree in anything, so that regions are the classes of the release."""
        cells = [
            tuple((seed * (axis + 7) + row * 7919 * (axis + 1)) % 100_003 for axis in range(d)) for row in range(rows)
        ]
        release = recode(points(cells), "mondrian_relaxed", k=k, metric="aecs")
        assert max(classes(release).values()) <= 2 * k - 1
        assert release.classes == release.recoding.facts["regions"]
        assert release.cost <= 2

    def test_some_points_can_be_cut_only_after_one_is_added(self):
        """Figure 26, with k = 3: every line leaves two points on one side, until a third lies there."""
        cross = [(0, 0), (-1, 0), (-2, 0), (1, 0), (2, 0), (0, 1), (0, 2), (0, -1), (0, -2)]
        assert len(cross) == 2 * 2 * (3 - 1) + 1
        assert list(classes(recode(points(cross), k=3)).values()) == [9]
        assert sorted(classes(recode(points([*cross, (3, 0)]), k=3)).values()) == [3, 7]


SECRETS = st.sampled_from(
    [
        {"model": "l-diversity_distinct", "attribute": "disease", "l": 2},
        {"model": "l-diversity_recursive", "attribute": "disease", "c": 2.0, "l": 2},
        {"model": "l-diversity_entropy", "attribute": "disease", "l": 1.5},
        {"model": "t-closeness_equal", "attribute": "disease", "t": 0.3},
    ]
)


def holds(entries, secrets, table):
    seen = Seen(len(secrets), secrets, table, (), (), 0, [])
    return all(CONDITIONS[entry["model"]](seen, entry) for entry in entries)


@examples(60)
@given(st.data())
def test_a_strict_region_is_cut_as_long_as_both_parts_satisfy_the_models(data):
    """By brute force: no class that is left has any cut whose parts hold."""
    d = data.draw(st.integers(1, 2))
    rows = data.draw(st.lists(st.tuples(*[st.integers(0, 4)] * d), min_size=4, max_size=14))
    secrets = ["a", "b", *data.draw(st.lists(st.sampled_from("abc"), min_size=len(rows) - 2, max_size=len(rows) - 2))]
    k, entry = data.draw(st.integers(1, 3)), data.draw(SECRETS)
    frame = points(rows).with_columns(disease=pl.Series(secrets))
    entries = [{"model": "k-anonymity", "k": k}, entry]
    if not holds(entries, secrets, secrets):
        with pytest.raises(ko.NoSolution) as caught:
            recode(frame, k=k, models=[entry])
        assert caught.value.code == "recoding-no-solution"
        return
    release = recode(frame, k=k, models=[entry])
    found = {}
    for number, cells in enumerate(release.data.drop("disease").rows()):
        found.setdefault(cells, []).append(number)
    for members in found.values():
        assert holds(entries, [secrets[row] for row in members], secrets)
        for axis in range(d):
            for boundary in {rows[row][axis] for row in members}:
                parts = [[], []]
                for row in members:
                    parts[rows[row][axis] >= boundary].append(secrets[row])
                assert not all(part and holds(entries, part, secrets) for part in parts)


@examples(30)
@given(st.data())
def test_every_relaxed_class_satisfies_its_models(data):
    rows = data.draw(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=4, max_size=20))
    secrets = ["a", "b", *data.draw(st.lists(st.sampled_from("abc"), min_size=len(rows) - 2, max_size=len(rows) - 2))]
    entries = [{"model": "k-anonymity", "k": data.draw(st.integers(1, 3))}, data.draw(SECRETS)]
    if not holds(entries, secrets, secrets):
        return
    release = recode(
        points(rows).with_columns(disease=pl.Series(secrets)),
        "mondrian_relaxed",
        k=entries[0]["k"],
        models=entries[1:],
    )
    for group in release.data.partition_by("q0", "q1"):
        assert holds(entries, group["disease"].to_list(), secrets)


class TestAttributes:
    @BOTH
    def test_text_without_order_or_hierarchy_is_refused_by_its_name(self, algorithm):
        frame = pl.DataFrame({"age": ["1", "2", "3"], "colour of hair": ["red", "black", "grey"]})
        with pytest.raises(ko.InputError, match=r"'colour of hair' has neither an order nor a hierarchy") as caught:
            recode(frame, algorithm)
        assert caught.value.code == "algorithm-unfit"
        assert "local_recoding" in caught.value.message
        assert not any(value in caught.value.message for value in ("red", "black", "grey"))

    @BOTH
    def test_two_values_need_no_order(self, algorithm):
        assert shown(["m", "m", "f", "f"], algorithm) == ["m", "m", "f", "f"]
        assert shown(["m", "m", "m", "f"], algorithm, k=3) == ["*"] * 4
        assert shown(["m"] * 3, algorithm) == ["m"] * 3

    @BOTH
    def test_two_values_and_missing_ones(self, algorithm):
        assert shown(["m", "m", None, None, "f", "f"], algorithm) == ["m", "m", None, None, "f", "f"]
        assert shown(["f", "f", "m", None], algorithm) == ["f", "f", "m or missing", "m or missing"]

    def test_dates_are_cut_by_the_calendar_and_shown_as_they_are_written(self):
        assert shown(["2020-01-31", "2019-12-01", "2021-06-30", "2020-02-01"]) == [
            "[2019-12-01 – 2020-01-31]",
            "[2019-12-01 – 2020-01-31]",
            "[2020-02-01 – 2021-06-30]",
            "[2020-02-01 – 2021-06-30]",
        ]
        german = Dates(format="%d.%m.%Y", levels=["month", "year"])
        values = ["31.01.2020", "01.12.2019", "30.06.2021", "01.02.2020"]
        assert shown(values, hierarchies=german) == [
            "[01.12.2019-31.01.2020]",
            "[01.12.2019-31.01.2020]",
            "[01.02.2020-30.06.2021]",
            "[01.02.2020-30.06.2021]",
        ]

    def test_numbers_are_cut_by_size_and_shown_as_they_are_written(self):
        assert shown(["10", "9", "100", "99.5"]) == ["[9-10]", "[9-10]", "[99.5-100]", "[99.5-100]"]
        assert shown(["-10", "-9", "0", "+1"]) == ["[-10 – -9]", "[-10 – -9]", "[0-+1]", "[0-+1]"]
        assert shown(["0007", "7", "7.0", "8", "8", "9"], k=3) == ["[0007-7.0]"] * 3 + ["[8-9]"] * 3

    def test_a_decimal_comma_needs_a_hierarchy_that_says_so(self):
        values = ["1,5", "1,25", "10,5", "9,75"]
        with pytest.raises(ko.InputError, match="neither an order nor a hierarchy"):
            shown(values)
        intervals = Intervals(lower=0, upper=20, widths=[5], decimal=",")
        assert shown(values, hierarchies=intervals) == ["[1,25-1,5]", "[1,25-1,5]", "[9,75-10,5]", "[9,75-10,5]"]

    @BOTH
    def test_missing_numbers_come_last_and_a_cell_says_that_there_are_some(self, algorithm):
        assert shown(["1", "2", None, None], algorithm) == ["[1-2]", "[1-2]", None, None]
        assert shown(["1", "2", "3", None], algorithm) == ["[1-2]", "[1-2]", "3 or missing", "3 or missing"]
        assert shown([None] * 3, algorithm) == [None] * 3

    @BOTH
    def test_rows_that_lack_a_value_can_be_suppressed(self, algorithm):
        values = ["1", "2", None, "4", "5"]
        options = {"missing": "suppress", "suppression_limit": 0.2}
        assert shown(values, algorithm, **options) == ["[1-2]", "[1-2]", "*", "[4-5]", "[4-5]"]
        with pytest.raises(ko.NoSolution) as caught:
            shown(values, algorithm, missing="suppress")
        assert caught.value.code == "recoding-limit"

    def test_signs_of_the_labels_in_values_are_quoted(self):
        order = Ordering(values=list(NASTY))
        assert shown(NASTY, hierarchies=order) == [
            *["{a-b, c – d}"] * 2,
            *['{[e], "{f}"}'] * 2,
            *['{"g, h", "say ""i"""}'] * 2,
            *["{j, k}"] * 2,
        ]

    def test_a_hierarchy_is_cut_between_its_groups_highest_level_first(self):
        job = QUASIS["job"].builder
        assert shown(["x", "y", "u", "v"], hierarchies=job) == ["A1", "A1", "B1", "B1"]
        assert shown(["x", "z", "u", "s"], hierarchies=job) == ["A", "A", "B", "B"]
        assert shown(["x", "x", "x", "u", "s"], hierarchies=job, k=3) == ["*"] * 5

    def test_equal_widths_are_cut_in_the_order_of_the_plan_and_heavier_ones_first(self):
        rows = [(0, 0), (0, 1), (1, 0), (1, 1)]
        assert classes(recode(points(rows))) == {("0", "[0-1]"): 2, ("1", "[0-1]"): 2}
        assert classes(recode(points(rows), weights={"q0": 0.5})) == {("[0-1]", "0"): 2, ("[0-1]", "1"): 2}

    @BOTH
    def test_an_attribute_of_weight_0_is_cut_last(self, algorithm):
        rows = [(0, 0), (0, 1), (9, 0), (9, 1)]
        release = recode(points(rows), algorithm, weights={"q0": 0.0})
        assert classes(release) == {("[0-9]", "0"): 2, ("[0-9]", "1"): 2}


class TestMinimumLevel:
    ages = Intervals(lower=0, upper=100, widths=[10, 50], integer=True)
    values = ("20", "21", "22", "35", "36", "90")

    def test_intervals_name_groups_where_values_may_not_be_shown(self):
        assert shown(self.values, hierarchies=self.ages, minimum=1) == ["20-29"] * 3 + ["[30-39 – 90-99]"] * 3
        assert shown(self.values, "mondrian_relaxed", hierarchies=self.ages, minimum=1) == [
            *["20-29"] * 3,
            *["[30-39 – 90-99]"] * 3,
        ]

    def test_ends_that_have_brackets_are_quoted(self):
        halves = Intervals(lower=0, upper=100, widths=[10])
        assert shown(self.values, hierarchies=halves, minimum=1)[-1] == '["[30, 40)" – "[90, 100)"]'

    def test_at_the_top_everything_is_a_star(self):
        assert shown(self.values, hierarchies=self.ages, minimum=3) == ["*"] * 6

    def test_sets_name_groups_as_well(self):
        job = QUASIS["job"].builder
        assert shown(["x", "u", "s", "t"], hierarchies=job, minimum=1, k=4) == ["*"] * 4
        assert shown(["u", "v", "s", "t"], hierarchies=job, minimum=1) == ["B1", "B1", "B2", "B2"]
        assert shown(["u", "u", "u", "s"], hierarchies=job, minimum=1, k=3) == ["B"] * 4

    @BOTH
    @examples(25)
    @given(data=st.data())
    def test_no_cell_tells_apart_what_the_minimum_level_does_not(self, algorithm, data):
        name = data.draw(st.sampled_from(["age", "comma", "tag", "grade", "job"]))
        quasi = QUASIS[name]
        level = data.draw(st.integers(1, quasi.top))
        values = data.draw(st.lists(st.sampled_from(quasi.values), min_size=2, max_size=12))
        cells = shown(values, algorithm, hierarchies=quasi.builder, minimum=level)
        for value, cell in zip(values, cells, strict=True):
            (meaning, *_) = quasi.read(cell)
            assert value in meaning.covers
            alike = {other for other in quasi.values if quasi.level(level, other) == quasi.level(level, value)}
            assert alike <= meaning.covers


@BOTH
def test_a_table_of_one_row_is_its_own_class_where_k_is_1(algorithm):
    assert shown(["5"], algorithm, k=1) == ["5"]


@BOTH
def test_facts_say_whether_there_was_time_enough(algorithm):
    frame = points([(value,) for value in range(40)])
    assert recode(frame, algorithm).recoding.facts["complete"] is True
    plan = plan_of(frame)
    stopped = ko.Plan(plan.attributes, plan.models, search={"algorithm": algorithm, "time_limit": 1e-9}, order="input")
    release = ko.anonymize(frame, stopped)
    assert release.recoding.facts["complete"] is False
    assert classes(release) == {("[0-39]",): 40}
    assert not release.optimal


class TestWidestAttribute:
    """The first cut is along the attribute with the widest normalized range of values, whatever the hierarchy."""

    HIERARCHIES: ClassVar = {
        "none": None,
        "intervals": Intervals(lower=0, upper=300, widths=[50], integer=True),
        "ordering": Ordering(),
        "redaction": Redaction(length=3),
        "tree": Tree([str(number) for number in range(100, 201)]),
    }

    @pytest.mark.parametrize("hierarchy", HIERARCHIES.values(), ids=HIERARCHIES)
    def test_numbers_count_by_their_values_and_not_by_how_many_there_are(self, hierarchy):
        """Among the first six rows x has six values, 5 of 100 apart, and y two values, 60 of 60 apart."""
        x = ["100", "101", "102", "103", "104", "105", "196", "197", "198", "199", "200", "200"]
        y = ["0", "60", "0", "60", "0", "60", "0", "60", "0", "60", "0", "60"]
        release = recode(pl.DataFrame({"x": x, "y": y}), k=3, hierarchies={"x": hierarchy})
        assert set(release.data["y"]) == {"0", "60"}
        assert release.data["x"].n_unique() == 4

    @pytest.mark.parametrize("builder", [None, Dates(levels=["month", "year"])], ids=["none", "dates"])
    def test_dates_count_by_days(self, builder):
        """Among the first six rows `many` has six dates in one week, and `few` two dates, half a year apart."""
        many = ["2020-01-01", "2020-01-02", "2020-01-03", "2020-01-04", "2020-01-05", "2020-01-06", *["2021-01-01"] * 6]
        few = ["2020-01-01", "2020-06-30"] * 3 + ["2020-01-01", "2021-01-01"] * 3
        hierarchies = dict.fromkeys(("many", "few"), builder)
        cells = recode(pl.DataFrame({"many": many, "few": few}), k=3, hierarchies=hierarchies).data
        assert cells["few"].to_list()[:6] == ["2020-01-01", "2020-06-30"] * 3
        assert cells["many"].to_list()[:2] == ["[2020-01-01 – 2020-01-05]", "[2020-01-02 – 2020-01-06]"]

    def test_equally_wide_attributes_are_cut_in_the_order_of_the_plan_where_doubles_differ(self):
        """Both are a fifth wide; 0.3 - 0.1 is more than 0.2 - 0 in doubles, and 0.7 - 0.5 less."""
        for low, high in (("0.1", "0.3"), ("0.5", "0.7"), ("0.6", "0.8")):
            x = [low, low, high, high, "0", "1"]
            y = ["0", "0", "0.2", "0.2", "1", "1"]
            far = ["0", "0", "0", "0", "9", "9"]
            for first, second in (("x", "y"), ("y", "x")):
                columns = {"far": far, first: x if first == "x" else y, second: x if second == "x" else y}
                cells = recode(pl.DataFrame(columns), k=2).data
                assert cells[first].to_list()[0] != cells[first].to_list()[2]

    def test_weights_are_taken_as_they_are_written(self):
        """0.1 times three tenths of one attribute is as wide as 0.3 times one tenth of the other."""
        x, y = ["0", "0", "3", "3", "10", "10"], ["0", "0", "1", "1", "10", "10"]
        for names in (("x", "y"), ("y", "x")):
            columns = {"far": ["0"] * 4 + ["1"] * 2} | {name: {"x": x, "y": y}[name] for name in names}
            cells = recode(pl.DataFrame(columns), k=2, weights={"x": 0.1, "y": 0.3}).data
            assert cells[names[0]][0] != cells[names[0]][2]

    @examples(60)
    @given(st.data())
    def test_the_first_cut_is_that_of_the_published_rule(self, data):
        """An oracle in fractions: the widest normalized range among the attributes that can be cut at all."""
        rows = data.draw(st.lists(st.tuples(*[st.integers(0, 30)] * 3), min_size=6, max_size=12))
        k = len(rows) // 2
        widths = []
        for column in zip(*rows, strict=True):
            ordered = sorted(column)
            possible = any(ordered[at - 1] < ordered[at] for at in range(k, len(rows) - k + 1))
            widths.append(1 if possible else 0)  # the table itself spans the whole range of every attribute
        release = recode(points(rows), k=k)
        if not any(widths):
            assert release.classes == 1
            return
        widest = f"q{widths.index(1)}"
        ends = [tuple(int(end) for end in cell.strip("[]").split("-")) for cell in release.data[widest].unique()]
        low, high = sorted((ends_[0], ends_[-1]) for ends_ in ends)
        assert low[1] < high[0]
