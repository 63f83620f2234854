"""A space that is counted bit by bit has the same figures as one that is counted at once."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.languages import ENGLISH, LANGUAGES
from kohorte.space import exploration, solution_space
from kohorte.space.exploration import Exploration
from kohorte.space.explored_map import explored_map
from kohorte.space.filters import Filter

ROWS = pl.DataFrame(
    {
        "zip": [f"8{number % 3}{number % 5}" for number in range(80)],
        "age": [str(20 + number * 7 % 40) for number in range(80)],
        "sex": ["fm"[number % 2] for number in range(80)],
    }
)


def plan(limit: float = 0.1, **search: object) -> ko.Plan:
    return ko.Plan(
        {
            "zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {}}, "minimum_level": 1},
            "age": {
                "role": "quasi-identifying",
                "hierarchy": {"intervals": {"lower": 0, "upper": 100, "widths": [10, 20]}},
            },
            "sex": {"role": "quasi-identifying"},
        },
        [{"model": "k-anonymity", "k": 5}],
        suppression_limit=limit,
        search=search or {"algorithm": "optimal"},
    )


def whole(**changes: object) -> Exploration:
    space = Exploration(ROWS, plan(**changes))
    while not space.complete:
        space.count(10)
    return space


@pytest.mark.parametrize("limit", [0.0, 0.1])
def test_every_combination_has_the_figures_of_the_solution_space(limit: float) -> None:
    space, known = whole(limit=limit), solution_space(ROWS, plan(limit))
    assert space.costs.tolist() == [node.cost for node in known.nodes]
    for node in known.nodes:
        found = space.at(node.node)
        assert (found.solution, found.suppressed) == (node.solution, node.suppressed)
        assert (found.classes, found.smallest_class) == (node.classes, node.smallest_class)
        assert tuple(space.levels(node.node).values()) == known.levels(node.node)
    assert known.best is not None
    assert space.best is not None
    assert space.best.node == known.best.node
    assert space.meanings(examples=False) == known.short_meanings


def test_the_optimum_and_its_neighbours_are_known_before_the_others() -> None:
    space = Exploration(ROWS, plan())
    assert space.best is None
    with space._lock:
        space._search(lambda: True)
    known = solution_space(ROWS, plan())
    assert known.best is not None
    assert space.middle.node == known.best.node
    assert space.proven
    assert int(space.counted.sum()) == 1
    assert space.beside(space.middle.node, 0, 9) is None
    for axis in range(3):
        for step in (-1, 1):
            found = space.beside(space.middle.node, axis, step)
            assert found is None or found.suppressed == known.at(found.node).suppressed


def test_a_step_of_no_time_searches_and_goes_on_later() -> None:
    space = Exploration(ROWS, plan())
    space.count(0)
    assert not space.complete
    space.count(10)
    assert space.complete


def test_what_the_plan_searches_does_not_matter() -> None:
    fixed = {"algorithm": "optimal", "levels": {"zip": 3, "age": 3, "sex": 1}}
    assert np.array_equal(whole(**fixed).costs, whole().costs)
    assert np.array_equal(whole(algorithm="mondrian").costs, whole().costs)


def test_a_plan_without_a_solution_looks_at_the_fewest_suppressed_rows() -> None:
    space = Exploration(ROWS, ko.Plan(plan().attributes, [{"model": "average-risk", "threshold": 0.001}]))
    space.count(10)
    assert space.complete
    assert space.best is None
    assert space.middle.suppressed == space.suppressed.min()


def test_levels_name_a_node_or_none() -> None:
    space = Exploration(ROWS, plan())
    assert space.node_of({"zip": 1, "age": 0, "sex": 0}) == (0, 0, 0)
    assert space.node_of({"zip": 0, "age": 0, "sex": 0}) is None
    assert space.node_of({"zip": 4, "age": 0, "sex": 0}) is None
    assert space.node_of({"zip": 1, "age": 0}) is None


def test_a_space_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exploration, "MOST_NODES", 10)
    with pytest.raises(ko.InputError) as refused:
        Exploration(ROWS, plan())
    assert refused.value.code == "lattice-too-large"
    monkeypatch.setattr(exploration, "MOST_NODES", 100)
    monkeypatch.setattr(exploration, "MOST_ROWS", 5)
    with pytest.raises(ko.InputError) as refused:
        Exploration(ROWS, plan())
    assert refused.value.code == "explore-too-large"


def test_filters_leave_out_what_is_too_coarse_or_loses_too_much() -> None:
    space = whole()
    every = Filter().fitting(space)
    assert every.all()
    solutions = Filter(solutions=True).fitting(space)
    assert solutions.tolist() == np.isfinite(space.costs).tolist()
    coarse = Filter(coarsest={"zip": 2, "sex": 0}).fitting(space)
    nodes = [space.levels(space.lattice.node(int(index))) for index in np.flatnonzero(coarse)]
    assert {(node["zip"], node["sex"]) for node in nodes} == {(1, 0), (2, 0)}
    few = Filter(suppressed=0.05).fitting(space)
    assert (space.suppressed[few] <= 4).all()
    assert 0 < few.sum() < len(few)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda one: one.code)
def test_the_picture_has_a_square_for_every_shown_combination_and_frames_the_chosen_one(language) -> None:  # type: ignore[no-untyped-def]
    space = whole()
    at = space.middle.node
    picture = explored_map(space, Filter().fitting(space), language, at)
    assert sorted(picture.cells["order"]) == list(range(space.lattice.size))  # type: ignore[call-overload]
    assert sum(count for _, _, count in picture.cells["bands"]) == space.lattice.size  # type: ignore[attr-defined]
    assert picture.body.count('class="ring"') == 1
    beside = len(space.lattice.successors(at)) + len(space.lattice.predecessors(at))
    assert picture.body.count('class="beside"') == beside
    assert ("Höhe" in picture.body) is (language.code == "de")


def test_combinations_that_have_not_been_counted_look_different() -> None:
    space = Exploration(ROWS, plan())
    space.at(space.lattice.top)
    picture = explored_map(space, Filter().fitting(space), ENGLISH, space.lattice.top)
    assert "open" in picture.kinds
    assert explored_map(whole(), Filter().fitting(space), ENGLISH, space.lattice.top).kinds[-1] == "off"
