"""Refining ends only when nothing more is allowed: checked by trying every cut of every region."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.hierarchies import Tree
from kohorte.series.domain.categories import CategoryAxis
from kohorte.series.domain.measures import NumberAxis
from kohorte.series.domain.regions import Regions
from kohorte.series.splitting.group_check import GroupCheck
from kohorte.series.splitting.refine import Refined, refine

WARDS = CategoryAxis(
    "ward", False, Tree(tree={"X": {"x": ["1", "2"], "y": ["3"]}, "Z": ["4", "5"]}).build([], attribute="w")
)
AXES = (NumberAxis("age", False, ((0, 8),), 1), WARDS)
MODELS = [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity_distinct", "attribute": "s", "l": 2}]
PLAN = ko.Plan.from_dict(
    {
        "kohorte": 1,
        "attributes": {
            "age": {"role": "quasi-identifying"},
            "ward": {"role": "quasi-identifying"},
            "s": {"role": "sensitive"},
        },
        "models": MODELS,
    }
)
ROWS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 4), st.sampled_from("ab")), min_size=4, max_size=24)


def refined(rows: list[tuple[int, int, str]]) -> Refined:
    positions = np.array([row[:2] for row in rows], dtype=np.int64)
    check = GroupCheck.of(
        pl.DataFrame({"age": positions[:, 0], "ward": positions[:, 1], "s": [row[2] for row in rows]}), PLAN
    )
    start = Regions.of([[(0, axis.length) for axis in AXES]])
    return refine(start, positions, check, axes=AXES, weights=(1.0, 1.0))


def allowed(rows: list[tuple[int, int, str]]) -> bool:
    """Whether rows satisfy the models, in plain Python."""
    return len(rows) >= 2 and len({row[2] for row in rows}) >= 2


@given(ROWS)
def test_no_cut_of_any_region_is_allowed_in_the_end(rows: list[tuple[int, int, str]]) -> None:
    found = refined(rows)
    members: dict[int, list[tuple[int, int, str]]] = {}
    for row, region in zip(rows, found.region_of.tolist(), strict=True):
        members.setdefault(region, []).append(row)
    if allowed(rows):
        assert all(allowed(group) for group in members.values())
    for group in members.values():
        for axis in (0, 1):
            for position in range(1, AXES[axis].length):
                lower = [row for row in group if row[axis] < position]
                assert not (allowed(lower) and allowed([row for row in group if row[axis] >= position]))


def test_categories_are_cut_at_a_lower_level_where_the_higher_one_is_not_allowed() -> None:
    """Between X and Z one side has one value only; between 1 and 2, inside X, both sides have two."""
    rows = [(3, 0, "a"), (3, 0, "b"), (3, 1, "a"), (3, 1, "b"), (3, 3, "a"), (3, 3, "a")]
    found = refined(rows)
    assert [(split.axis, split.position) for split in found.splits] == [(1, 1)]
