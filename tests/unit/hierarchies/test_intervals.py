from decimal import Decimal

import polars as pl
import pytest

from kohorte.errors import InputError
from kohorte.hierarchies import Bounds, Intervals
from kohorte.hierarchies.order import sort_keys
from kohorte.models import KAnonymity
from kohorte.plans.plan import Plan
from kohorte.release import anonymize

AGE = {"lower": 0, "upper": 100, "widths": [5, 10, 20]}


def build(values, **options):
    return Intervals(**options).build(values, attribute="age")


def labels(value, **options):
    hierarchy = build([value], **options)
    return [level[0] for level in hierarchy.labels] if hierarchy.values else None


def test_intervals_are_half_open():
    assert labels("39", **AGE) == ["39", "[35, 40)", "[30, 40)", "[20, 40)", "*"]
    assert labels("40", **AGE)[1] == "[40, 45)"
    assert labels("39.999", **AGE)[1] == "[35, 40)"


def test_whole_numbers_read_as_closed_ranges():
    assert labels("39", integer=True, **AGE) == ["39", "35-39", "30-39", "20-39", "*"]
    assert labels("7", lower=0, upper=10, widths=[1, 5], integer=True)[1] == "7"
    assert labels("-3", lower=-10, upper=10, widths=[5], integer=True)[1] == "-5 to -1"


def test_numbers_with_decimals_are_unknown_where_whole_numbers_are_asked_for():
    assert build(["39", "39.0", "39.5"], integer=True, **AGE).values == ("39", "39.0")


def test_the_upper_bound_is_outside():
    assert labels("99.9", **AGE)[1] == "[95, 100)"
    assert labels("100", **AGE) is None
    assert labels("-0.1", **AGE) is None
    assert labels("-0", **AGE)[1] == "[0, 5)"


def test_values_outside_can_form_groups_of_their_own():
    options = {**AGE, "below": "group", "above": "group"}
    assert labels("-1", **options) == ["-1", "<0", "<0", "<0", "*"]
    assert labels("100", **options) == ["100", ">=100", ">=100", ">=100", "*"]
    assert labels("9" * 40, **options)[1] == ">=100"
    assert labels("-" + "9" * 40, **options)[1] == "<0"
    assert labels("-1", **{**AGE, "above": "group"}) is None


def test_the_last_interval_is_cut_off_at_the_upper_bound():
    assert labels("101", lower=0, upper=102, widths=[5, 10])[1:3] == ["[100, 102)", "[100, 102)"]
    assert labels("101", lower=0, upper=102, widths=[5], integer=True)[1] == "100-101"
    assert labels("3", lower=0, upper=10, widths=[50])[1] == "[0, 10)"


def test_decimal_widths_are_exact():
    options = {"lower": 0, "upper": 1, "widths": [0.1, 0.2]}
    assert labels("0.3", **options)[1:3] == ["[0.3, 0.4)", "[0.2, 0.4)"]
    assert labels("0.7", **options)[1] == "[0.7, 0.8)"
    assert labels("0.29999999999999999999999", **options)[1] == "[0.2, 0.3)"


def test_the_decimal_comma_is_read_only_when_asked_for():
    assert labels("3,5", **AGE) is None
    assert labels("3,5", decimal=",", **AGE)[1] == "[0; 5)"
    assert labels("0,3", lower="0", upper="1", widths=["0.25"], decimal=",")[1] == "[0,25; 0,5)"
    assert labels("3.5", decimal=",", **AGE) is None


@pytest.mark.parametrize(
    "text", ["", "*", " 39", "39 ", "39\n", "3e1", "nan", "inf", "0x1F", "1_0", "٣", ".5", "5.", "--5"]
)
def test_texts_that_are_no_plain_numbers_are_unknown(text):
    assert labels(text, **AGE) is None


@pytest.mark.parametrize("text", ["39", "039", "+39", "39.0", "39.50"])
def test_plain_numbers_are_known_as_they_are_written(text):
    assert labels(text, **AGE)[:2] == [text, "[35, 40)"]


def test_explicit_bounds_carry_labels():
    levels = [
        {"bounds": [0, 18, 65, 120], "labels": ["child", "adult", "old"]},
        {"bounds": [0, 18, 120]},
    ]
    assert labels("17.9", levels=levels) == ["17.9", "child", "[0, 18)", "*"]
    assert labels("65", levels=levels) == ["65", "old", "[18, 120)", "*"]
    assert labels("120", levels=levels) is None
    assert labels("120", levels=levels, above="group") == ["120", ">=120", ">=120", "*"]


def test_shares_are_widths_over_the_range():
    hierarchy = build(["-1", "3", "101"], lower=0, upper=102, widths=[5, 50], below="group", above="refuse")
    assert hierarchy.labels[1] == ("<0", "[0, 5)", "[100, 102)")
    assert hierarchy.shares[0].tolist() == [0, 0, 0]
    assert hierarchy.shares[1].tolist() == pytest.approx([5 / 102, 5 / 102, 2 / 102])
    assert hierarchy.shares[3].tolist() == [1]


def test_equal_parameters_make_equal_builders():
    assert Intervals(**AGE) == Intervals(lower=0.0, upper="100", widths=(5, 10, Decimal(20)))
    assert hash(Intervals(**AGE)) == hash(Intervals(lower=0.0, upper="100", widths=(5, 10, 20)))
    assert eval(repr(Intervals(**AGE))) == Intervals(**AGE)
    levels = Intervals(levels=[Bounds([0, 0.5, 1])])
    assert eval(repr(levels)) == levels


@pytest.mark.parametrize(
    ("options", "code", "named"),
    [
        ({}, "hierarchy-option-missing", "widths"),
        ({"widths": [5]}, "hierarchy-option-missing", "lower"),
        ({**AGE, "levels": [{"bounds": [0, 1]}]}, "hierarchy-option-missing", "either"),
        ({**AGE, "lower": 100}, "hierarchy-option-invalid", "lower"),
        ({**AGE, "lower": "zero"}, "hierarchy-option-invalid", "lower"),
        ({**AGE, "lower": True}, "hierarchy-option-invalid", "lower"),
        ({**AGE, "upper": float("nan")}, "hierarchy-option-invalid", "upper"),
        ({**AGE, "upper": float("inf")}, "hierarchy-option-invalid", "upper"),
        ({**AGE, "upper": "1" * 40}, "hierarchy-option-invalid", "upper"),
        ({**AGE, "upper": 10**17}, "intervals-too-many-digits", "17 digits"),
        ({**AGE, "upper": "100.0000000000000001"}, "intervals-too-many-digits", "17 digits"),
        ({**AGE, "widths": []}, "hierarchy-option-invalid", "widths"),
        ({**AGE, "widths": 5}, "hierarchy-option-invalid", "widths"),
        ({**AGE, "widths": [0]}, "hierarchy-option-invalid", "widths"),
        ({**AGE, "widths": [5, 12]}, "intervals-not-nested", "width of level 2"),
        ({**AGE, "widths": [5, 5]}, "intervals-not-nested", "width of level 2"),
        ({**AGE, "widths": [10, 5]}, "intervals-not-nested", "width of level 2"),
        ({**AGE, "widths": [2.5], "integer": True}, "hierarchy-option-invalid", "integer"),
        ({**AGE, "below": "drop"}, "hierarchy-option-invalid", "below"),
        ({**AGE, "above": None}, "hierarchy-option-invalid", "above"),
        ({**AGE, "integer": "perhaps"}, "hierarchy-option-invalid", "integer"),
        ({**AGE, "decimal": ";"}, "hierarchy-option-invalid", "decimal"),
        ({"lower": 0, "levels": [{"bounds": [0, 1]}]}, "hierarchy-option-invalid", "lower"),
        ({"levels": []}, "hierarchy-option-invalid", "levels"),
        ({"levels": [[0, 1]]}, "hierarchy-option-invalid", "levels"),
        ({"levels": [{"labels": ["a"]}]}, "hierarchy-option-invalid", "levels"),
        (
            {"levels": [{"bounds": [0, 1], "label": ["a"]}]},
            "hierarchy-option-unknown",
            "did you mean 'labels'",
        ),
        ({"levels": [{"bounds": [1, 0]}]}, "hierarchy-option-invalid", "bounds"),
        ({"levels": [{"bounds": [1]}]}, "hierarchy-option-invalid", "bounds"),
        ({"levels": [{"bounds": [0, 1], "labels": ["a", "b"]}]}, "hierarchy-option-invalid", "labels"),
        ({"levels": [{"bounds": [0, 1, 2], "labels": ["a", "a"]}]}, "hierarchy-option-invalid", "labels"),
        ({"levels": [{"bounds": [0, 1], "labels": ["*"]}]}, "hierarchy-option-invalid", "labels"),
        ({"levels": [{"bounds": [0, 1], "labels": ["<0"]}]}, "hierarchy-option-invalid", "label"),
        ({"levels": [{"bounds": [0, 1, 3]}, {"bounds": [0, 2, 3]}]}, "intervals-not-nested", "level 2"),
        ({"levels": [{"bounds": [0, 1, 3]}, {"bounds": [0, 1]}]}, "intervals-not-nested", "level 2"),
    ],
)
def test_bad_options_are_refused_by_name(options, code, named):
    with pytest.raises(InputError, match=named) as caught:
        Intervals(**options)
    assert caught.value.code == code


GERMAN = {"lower": 0, "upper": 10_000, "widths": [500, 5_000], "decimal": ",", "thousands": "."}


@pytest.mark.parametrize("value", ["1.234,5", "1234,5", "+1.234,50"])
def test_thousands_are_read_where_the_plan_names_their_sign(value):
    assert labels(value, **GERMAN) == [value, "[1000; 1500)", "[0; 5000)", "*"]


@pytest.mark.parametrize("value", ["1.23", "12.34,5", "1.2345", "1.234.56", ".500", "1,234.5", "1 234", "1.234,"])
def test_digits_that_are_not_grouped_by_three_are_unknown(value):
    assert labels(value, **GERMAN) is None


@pytest.mark.parametrize("sign", ["'", "’", " ", "\u00a0", "\u202f", ","])
def test_every_usual_sign_can_separate_thousands(sign):
    options = GERMAN | {"decimal": ".", "thousands": sign}
    assert labels(f"1{sign}234.5", **options)[1] == "[1000, 1500)"
    assert labels("1.234", **options)[1] == "[0, 500)"


def test_without_the_option_a_thousands_separator_is_unknown():
    assert labels("1.234,5", **(GERMAN | {"thousands": ""})) is None


@pytest.mark.parametrize("sign", [",", "x", "..", None, 1])
def test_a_thousands_separator_that_is_the_decimal_sign_or_no_separator_is_refused(sign):
    with pytest.raises(InputError, match="thousands") as caught:
        Intervals(**(GERMAN | {"thousands": sign}))
    assert caught.value.code == "hierarchy-option-invalid"


def test_numbers_with_thousands_sort_by_size():
    values = pl.Series(["2", "1.000", "999,5", "10.000,25"])
    assert sort_keys(values, Intervals(**GERMAN)) == [Decimal(n) for n in ("2", "1000", "999.5", "10000.25")]
    starts, _ = Intervals(**GERMAN).ends(values, 1)
    assert starts.tolist() == [0, 1000, 500, 10_000]


def test_a_column_that_mixes_decimal_signs_is_refused_with_the_numbers_of_the_rows():
    table = pl.DataFrame({"weight": ["71,5", "80,0", "64.5", "90,1", "77.0"]})
    attributes = {"weight": {"role": "quasi-identifying", "hierarchy": {"intervals": GERMAN}}}
    plan = Plan(attributes=attributes, models=[KAnonymity(k=2)])
    with pytest.raises(InputError, match=r"does not know 2 of 5 distinct values, in 2 rows \(3, 5\)"):
        anonymize(table, plan)
