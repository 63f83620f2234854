"""Attribute sets and minimal sample uniques against brute force."""

from collections import Counter
from itertools import combinations
from math import prod

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.models import KAnonymity
from support.examples import examples

NAMES = ("a", "b", "c", "d")
PLAN = ko.Plan(attributes={name: {"role": "quasi-identifying"} for name in NAMES}, models=[KAnonymity(2)])

values = st.sampled_from(["x", "y", "z", None])
tables = st.lists(st.tuples(values, values, values, values), min_size=2, max_size=14)


def profile(rows, largest=4):
    frame = pl.DataFrame(rows, schema=dict.fromkeys(NAMES, pl.String), orient="row")
    return ko.risk(frame, PLAN, largest_set=largest)


def shown(row, chosen):
    return tuple(row[number] for number in chosen)


def unique_by(rows, chosen):
    counts = Counter(shown(row, chosen) for row in rows)
    return {number for number, row in enumerate(rows) if counts[shown(row, chosen)] == 1}


def minimal(rows, largest):
    """All (row, set) such that the row is unique by the set and by no part of it, tried one by one."""
    sets = [chosen for size in range(1, largest + 1) for chosen in combinations(range(4), size)]
    unique = {chosen: unique_by(rows, chosen) for chosen in sets}
    return {
        (row, chosen)
        for chosen in sets
        for row in unique[chosen]
        if not any(row in unique[part] for size in range(1, len(chosen)) for part in combinations(chosen, size))
    }


@examples(40)
@given(tables, st.integers(1, 4))
def test_minimal_sample_uniques_are_those_of_brute_force(rows, largest):
    found = profile(rows, largest)
    expected = minimal(rows, largest)
    special = found.special_uniques
    assert special.count == len({row for row, _ in expected})
    assert special.of_size == {
        size: sum(len(chosen) == size for _, chosen in expected) for size in range(1, largest + 1)
    }
    weight = {size: prod(4 - step for step in range(size, largest)) for size in range(1, largest + 1)}
    scores = Counter()
    for row, chosen in expected:
        scores[row] += weight[len(chosen)]
    assert special.highest_score == max(scores.values(), default=0)
    total = sum(scores.values())
    for number, name in enumerate(NAMES):
        share = sum(weight[len(chosen)] for _, chosen in expected if number in chosen)
        assert special.contributions[name] == pytest.approx(share / total if total else 0)
    for risky in found.riskiest_rows(len(rows)):
        own = sorted(
            (chosen for row, chosen in expected if row == risky.row - 1), key=lambda chosen: (len(chosen), chosen)
        )
        assert risky.singled_out_by == tuple(tuple(NAMES[number] for number in chosen) for chosen in own[:5])
        assert risky.score == scores[risky.row - 1]


@examples(40)
@given(tables)
def test_distinction_and_separation_by_definition(rows):
    expected = minimal(rows, 4)
    sets = profile(rows).attribute_sets
    assert [len(found.attributes) for found in sets] == [1] * 4 + [2] * 6 + [3] * 4 + [4]
    pairs = list(combinations(rows, 2))
    for found in sets:
        chosen = tuple(NAMES.index(name) for name in found.attributes)
        assert found.distinction == pytest.approx(len({shown(row, chosen) for row in rows}) / len(rows))
        apart = sum(shown(one, chosen) != shown(other, chosen) for one, other in pairs)
        assert found.separation == pytest.approx(apart / len(pairs))
        assert found.uniques == len(unique_by(rows, chosen))
        assert found.singled_out == sum(own == chosen for _, own in expected)


def test_the_most_telling_sets_come_first():
    rows = [("x", "x", "x", str(number)) for number in range(5)]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(NAMES, pl.String), orient="row")
    assert ko.risk(frame, PLAN).telling_sets[0].attributes == ("d",)


def test_without_sets_there_are_no_special_uniques():
    found = profile([("x", "y", "z", None), ("y", "y", "y", "y")], 0)
    assert found.attribute_sets == ()
    assert found.special_uniques.count == 0
    assert found.uniqueness.sample_uniques == 2
