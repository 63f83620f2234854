"""The best case against all tables of tiny surveys."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.survey.estimators.best_case import _cells_in_use, best_case
from support.examples import examples
from support.surveys import of, solved_in_this_process, surveys

MARGINS = [((2, 2), (3, 1)), ((3, 2), (2, 2, 1)), ((1, 1, 1), (2, 1)), ((3, 3), (2, 2, 2)), ((3, 2), (4, 1), (3, 2))]


def fewest_singles(margins: tuple[tuple[int, ...], ...]) -> int:
    """The fewest of all ways to seat the people, one by one."""
    cells = list(itertools.product(*(range(len(block)) for block in margins)))
    best = sum(margins[0])
    for seats in itertools.combinations_with_replacement(range(len(cells)), sum(margins[0])):
        chosen = [cells[seat] for seat in seats]
        right = all(
            [sum(cell[axis] == place for cell in chosen) for place in range(len(block))] == list(block)
            for axis, block in enumerate(margins)
        )
        if right:
            best = min(best, sum(seats.count(seat) == 1 for seat in set(seats)))
    return best


def survey_with(margins: tuple[tuple[int, ...], ...]) -> ko.Survey:
    people = sum(margins[0])
    return of(*([f"{count}/{people}" for count in block] for block in margins), people=people)


@pytest.mark.parametrize("margins", MARGINS)
def test_the_best_case_is_the_best_of_all_tables(margins: tuple[tuple[int, ...], ...]) -> None:
    survey = survey_with(margins)
    found = best_case(survey, survey.asked())
    assert (found.singles, found.exact) == (fewest_singles(margins), True)


@examples(40)
@given(surveys(3, 4), st.integers(1, 40))
def test_the_best_case_is_no_worse_than_the_worst(survey: ko.Survey, people: int) -> None:
    with solved_in_this_process():
        found = ko.estimate_survey(survey, people, simulation=False)
        assert 0 <= found.best_case.singles <= found.best_case.at_most <= people
        assert found.best_case.singles <= found.worst_case.singles
        assert found.best_case.at_most <= found.worst_case.singles


@given(st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=4), min_size=1, max_size=3), st.integers(0, 9))
def test_a_table_with_few_cells_holds_everybody(weights: list[list[int]], seed: int) -> None:
    people = math.lcm(*(sum(block) for block in weights))
    margins = [[weight * people // sum(block) for weight in block] for block in weights]
    cells = _cells_in_use(margins, np.random.default_rng(seed))
    assert sum(cells) == people
    assert len(cells) <= sum(map(len, margins))


def test_people_who_are_the_only_ones_with_an_answer_are_alone_at_best() -> None:
    found = best_case(of([0.9, 0.05, 0.05], 2), 20)
    assert (found.singles, found.exact) == (2, True)
    assert found.to_dict() == {
        "singles": 2,
        "deanonymizable_percent": 10.0,
        "with_exact_frequencies": 2,
        "at_most": 2,
        "exact": True,
    }
