"""What holds for every hierarchy that a builder makes, whatever the values and options."""

import re
import tempfile
from datetime import date
from fractions import Fraction
from pathlib import Path

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from kohorte.hierarchies import (
    Builder,
    CsvFile,
    Dates,
    Hierarchy,
    Intervals,
    Ordering,
    Redaction,
    Tree,
    check_hierarchy,
    to_csv,
)
from kohorte.hierarchies.labels import split_groups

TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6), st.text('ab 1*_–,{}";\n\r', max_size=5)
)
VALUES = st.lists(TEXTS, unique=True, max_size=15).map(sorted)
NUMBERS = st.decimals(-50, 150, places=2).map(str) | st.integers(-50, 150).map(str)
DATES = st.dates().map(date.isoformat)
NUMBER_TEXTS = st.lists(NUMBERS | TEXTS, unique=True, max_size=15).map(sorted)


@st.composite
def redactions(draw):
    return Redaction(
        order=draw(st.sampled_from(["right_to_left", "left_to_right"])),
        mask=draw(st.sampled_from("*# a")),
        padding=draw(st.sampled_from([None, "*", "#", " ", "a", "1"])),
        length=draw(st.none() | st.integers(1, 7)),
    )


@st.composite
def intervals(draw):
    factors = draw(st.lists(st.integers(2, 4), max_size=3))
    width = Fraction(draw(st.integers(1, 300)), draw(st.sampled_from([1, 10, 100])))
    widths = [width]
    for factor in factors:
        widths.append(widths[-1] * factor)
    integer = width.denominator == 1 and draw(st.booleans())
    lower = draw(st.integers(-40, 40))
    sides = st.sampled_from(["refuse", "group"])
    return Intervals(
        lower=lower,
        upper=lower + draw(st.integers(1, 120)),
        widths=[str(float(each)) for each in widths],
        below=draw(sides),
        above=draw(sides),
        integer=integer,
    )


@st.composite
def bounded_intervals(draw):
    bounds = sorted(draw(st.sets(st.integers(-50, 150), min_size=2, max_size=8)))
    levels = [{"bounds": bounds}]
    while len(bounds) > 2 and draw(st.booleans()):
        bounds = [bound for bound in bounds if bound != draw(st.sampled_from(bounds[1:-1]))]
        if len(bounds) < len(levels[-1]["bounds"]):
            levels.append({"bounds": bounds})
    return Intervals(levels=levels, above=draw(st.sampled_from(["refuse", "group"])))


@st.composite
def orderings(draw):
    return Ordering(
        by=draw(st.sampled_from([None, "text", "number"])),
        fanouts=draw(st.lists(st.integers(2, 4), min_size=1, max_size=3)),
        labels=draw(st.sampled_from(["first-last", "set"])),
    )


@st.composite
def date_levels(draw):
    names = ["day", "month", "quarter", "year", "five-years", "decade", "century"]
    chosen = draw(st.sets(st.sampled_from(names), min_size=1))
    return Dates(levels=draw(st.sampled_from([[n for n in names if n in chosen], ["week"], ["day", "week"]])))


CASES = st.one_of(
    st.tuples(redactions(), VALUES),
    st.tuples(intervals() | bounded_intervals(), NUMBER_TEXTS),
    st.tuples(orderings(), VALUES | NUMBER_TEXTS),
    st.tuples(date_levels(), st.lists(DATES | TEXTS, unique=True, max_size=15).map(sorted)),
)


def assert_sound(hierarchy: Hierarchy) -> None:
    assert not any(split_groups(hierarchy.groups))
    assert hierarchy.labels[-1] == ("*",)
    assert not any("*" in labels for labels in hierarchy.labels[:-1])
    assert hierarchy.encode(hierarchy.values).tolist() == list(range(len(hierarchy.values)))
    for groups, labels, shares in zip(hierarchy.groups, hierarchy.labels, hierarchy.shares, strict=True):
        assert len(labels) == len(set(labels)) == len(shares)
        assert set(groups.tolist()) == set(range(len(labels))) or not hierarchy.values
        assert ((shares >= 0) & (shares <= 1)).all()
    for level in range(1, hierarchy.top + 1):
        below = hierarchy.shares[level - 1][hierarchy.groups[level - 1]]
        assert (hierarchy.shares[level][hierarchy.groups[level]] >= below - 1e-12).all()


@given(CASES)
def test_every_builder_makes_a_sound_hierarchy_of_any_values(case: tuple[Builder, list[str]]):
    builder, values = case
    hierarchy = builder.build(values, attribute="a")
    assert_sound(hierarchy)
    assert set(hierarchy.values) <= set(values)


@given(CASES)
def test_a_hierarchy_survives_the_way_through_a_file(case: tuple[Builder, list[str]]):
    builder, values = case
    hierarchy = builder.build(values, attribute="a")
    if not hierarchy.values:
        return
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "h.csv").write_bytes(to_csv(hierarchy).encode())
        again = CsvFile("h.csv", folder=Path(folder)).build([], attribute="a")
    assert again.values == hierarchy.values
    assert again.labels == hierarchy.labels
    assert again.fingerprint() == hierarchy.fingerprint()


@given(CASES)
def test_the_check_agrees_with_what_was_built(case: tuple[Builder, list[str]]):
    builder, values = case
    found = check_hierarchy(builder, pl.Series([*values, *values], dtype=pl.String), attribute="a")
    hierarchy = builder.build(values, attribute="a")
    missed = {value for value in values if value} - set(hierarchy.values)
    assert found.missed_values == len(missed)
    assert found.missed_rows == 2 * len(missed)
    assert found.monotone
    assert found.values == len(hierarchy.values)


@given(intervals(), NUMBER_TEXTS)
def test_the_label_of_an_interval_contains_the_number(builder: Intervals, values: list[str]):
    hierarchy = builder.build(values, attribute="a")
    plain = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
    for level in range(1, hierarchy.top):
        for value, label in zip(hierarchy.values, hierarchy.column(level), strict=True):
            assert plain.fullmatch(value)
            assert holds(label, Fraction(value))


@given(intervals(), st.lists(NUMBERS, unique=True, min_size=1, max_size=8))
def test_the_label_of_an_interval_does_not_depend_on_the_other_numbers(builder: Intervals, values: list[str]):
    together = builder.build(sorted(values), attribute="a")
    for value in values:
        alone = builder.build([value], attribute="a")
        assert bool(alone.values) == (value in together.values)
        if alone.values:
            place = together.values.index(value)
            for level in range(alone.top):
                assert alone.labels[level][0] == together.column(level)[place]


@given(intervals(), NUMBERS)
def test_a_number_is_unknown_only_outside_the_range_or_as_a_fraction(builder: Intervals, value: str):
    known = bool(builder.build([value], attribute="a").values)
    number = Fraction(value)
    below = number < Fraction(str(builder.lower)) and builder.below == "refuse"
    above = number >= Fraction(str(builder.upper)) and builder.above == "refuse"
    fraction = builder.integer and number.denominator != 1
    assert known == (not (below or above or fraction))


def holds(label: str, number: Fraction) -> bool:
    if label.startswith("<"):
        return number < Fraction(label[1:])
    if label.startswith(">="):
        return number >= Fraction(label[2:])
    if label.startswith("["):
        start, end = label[1:-1].split(", ")
        return Fraction(start) <= number < Fraction(end)
    if " to " in label:
        start, end = label.split(" to ")
        return Fraction(start) <= number <= Fraction(end)
    start, end = re.fullmatch(r"(-?[0-9]+)(?:-([0-9]+))?", label).groups()
    return Fraction(start) <= number <= Fraction(end or start)


@given(VALUES, redactions())
def test_a_redacted_label_agrees_with_the_value_wherever_it_is_not_masked(values, builder):
    hierarchy = builder.build(values, attribute="a")
    padding = builder.padding or " "
    for level in range(1, hierarchy.top):
        for value, label in zip(hierarchy.values, hierarchy.column(level), strict=True):
            if builder.order == "right_to_left":
                padded = value.ljust(hierarchy.top, padding)
                assert label == padded[: hierarchy.top - level] + builder.mask * level
            else:
                padded = value.rjust(hierarchy.top, padding)
                assert label == builder.mask * level + padded[level:]


NAMES = st.text("abcdefg", min_size=1, max_size=3)
TREES = st.recursive(
    st.lists(NAMES, min_size=1, max_size=3),
    lambda below: st.dictionaries(NAMES, below, max_size=3),
    max_leaves=8,
)


def numbered(node, counter):
    """The same tree with a different number behind every name, so that no name stands twice."""
    if isinstance(node, dict):
        return {f"{name}{next(counter)}": numbered(below, counter) for name, below in node.items()}
    return [f"{name}{next(counter)}" for name in node]


@given(TREES.filter(bool))
def test_every_tree_without_repeated_names_is_monotone(tree):
    hierarchy = Tree(numbered(tree, iter(range(10_000)))).build([], attribute="a")
    assert_sound(hierarchy)
    assert check_hierarchy(hierarchy, pl.Series(hierarchy.values), attribute="a").ok


@given(st.text('ab;;\n\r"*', max_size=20))
def test_the_fast_way_of_reading_a_file_gives_what_the_careful_way_gives(text):
    from kohorte.hierarchies.builders.csv_file import _simple_table

    fast = _simple_table(text, ";")
    if fast is not None:
        careful = CsvFile("h.csv")._table(text, attribute="a")
        assert fast.rows() == careful.rows()
