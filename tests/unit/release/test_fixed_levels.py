"""A plan that fixes the levels: the release has them, or there is none."""

import polars as pl
import pytest

import kohorte as ko
from kohorte.models import KAnonymity
from kohorte.space import solution_space

ROWS = pl.DataFrame(
    {"zip": [f"8{number % 3}{number % 5}" for number in range(60)], "sex": ["fm"[number % 2] for number in range(60)]}
)
ATTRIBUTES = {
    "zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {}}},
    "sex": {"role": "quasi-identifying"},
}


def plan(limit: float = 0.1, attributes: dict | None = None, **search: object) -> ko.Plan:
    return ko.Plan(attributes or ATTRIBUTES, [KAnonymity(k=5)], suppression_limit=limit, search=search)


def test_every_solution_can_be_fixed_and_gives_the_figures_of_the_solution_space():
    space = solution_space(ROWS, plan())
    assert 1 < len(space.solutions()) < len(space.nodes)
    for node in space.solutions():
        levels = dict(zip(space.attributes, space.levels(node.node), strict=True))
        release = ko.anonymize(ROWS, plan(levels=levels))
        assert release.levels == levels
        assert (release.cost, release.suppressed) == (node.cost, node.suppressed)
        assert release.smallest_class == node.smallest_class
        assert release.checked == 1
        assert not release.optimal
        assert "the plan fixes" in release.verdict


def test_levels_that_do_not_satisfy_the_plan_are_refused_with_the_rows_that_fail():
    with pytest.raises(ko.NoSolution, match="60 rows would have to be suppressed, and the limit allows 6") as caught:
        ko.anonymize(ROWS, plan(levels={"zip": 0, "sex": 0}))
    assert caught.value.code == "levels-no-solution"


def test_a_level_above_the_hierarchy_is_refused_with_its_end():
    with pytest.raises(ko.InputError, match="zip: its hierarchy ends with level 3") as caught:
        ko.anonymize(ROWS, plan(levels={"zip": 4, "sex": 0}))
    assert caught.value.code == "plan-levels"


def test_fixed_levels_count_from_the_hierarchy_not_from_the_minimum_level():
    attributes = {**ATTRIBUTES, "zip": {**ATTRIBUTES["zip"], "minimum_level": 1}}
    release = ko.anonymize(ROWS, plan(attributes=attributes, levels={"zip": 2, "sex": 1}))
    assert release.levels == {"zip": 2, "sex": 1}


def test_the_solution_space_shows_all_combinations_whatever_the_plan_fixes():
    free, fixed = solution_space(ROWS, plan()), solution_space(ROWS, plan(levels={"zip": 3, "sex": 1}))
    assert free.nodes == fixed.nodes
    assert free.best == fixed.best
