"""The worst case against all tables of tiny surveys."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.errors import EngineError
from kohorte.survey.estimators.integer_program import singles_if_right, solve
from kohorte.survey.estimators.tables import singles_of_a_table, sparse_table
from kohorte.survey.estimators.worst_case import margins_in_people, upper_bound, worst_case
from support.examples import examples
from support.surveys import of, solved_in_this_process

Margins = tuple[tuple[int, ...], ...]


def most_singles(margins: Margins) -> int:
    """The most cells with one person, by trying all tables."""
    cells = list(itertools.product(*(range(len(block)) for block in margins)))

    @cache
    def best(number: int, left: Margins) -> float:
        if number == len(cells):
            return -math.inf if any(map(any, left)) else 0
        cell = cells[number]
        found = -math.inf
        for people in range(min(block[place] for block, place in zip(left, cell, strict=True)) + 1):
            after = tuple(
                tuple(count - (people if place == own else 0) for place, count in enumerate(block))
                for block, own in zip(left, cell, strict=True)
            )
            found = max(found, (people == 1) + best(number + 1, after))
        return found

    return int(best(0, margins))


@st.composite
def small_margins(draw: st.DrawFn) -> Margins:
    shape = draw(st.sampled_from([(2,), (4,), (2, 2), (2, 3), (3, 3), (4, 2), (2, 2, 2), (2, 2, 3)]))
    people = draw(st.integers(max(shape), 9 if len(shape) == 3 else 13))
    margins = []
    for length in shape:
        borders = sorted(draw(st.sets(st.integers(1, people - 1), min_size=length - 1, max_size=length - 1)))
        margins.append(tuple(end - start for start, end in itertools.pairwise([0, *borders, people])))
    return tuple(margins)


def survey_with(margins: Margins) -> ko.Survey:
    return of(*([Fraction(count, sum(block)) for count in block] for block in margins))


@examples(60)
@given(small_margins())
def test_the_worst_case_of_a_tiny_survey_is_that_of_all_tables(margins: Margins) -> None:
    wanted = most_singles(margins)
    assert upper_bound(margins) >= wanted >= singles_of_a_table(margins, enough=10**9)
    with solved_in_this_process():
        found = worst_case(survey_with(margins), sum(margins[0]))
    assert found.exact
    assert found.singles == found.at_least == wanted


@examples(60)
@given(small_margins())
def test_the_integer_program_finds_the_most_of_all_tables(margins: Margins) -> None:
    wanted = most_singles(margins)
    bound, table = solve(margins, between=(0, upper_bound(margins)))
    assert table is not None
    assert bound == wanted == singles_if_right(margins, table.tolist())


@pytest.mark.parametrize("nodes", [0, 1, 5])
def test_a_search_that_ends_early_has_true_bounds(nodes: int) -> None:
    margins = ((10, 16), (3, 23), (21, 5), (7, 5, 14))
    bound, table = solve(margins, between=(0, 14), nodes=nodes)
    assert 12 <= bound <= 14
    assert (singles_if_right(margins, None if table is None else table.tolist()) or 0) <= 12


def test_a_table_without_the_margins_does_not_count() -> None:
    assert singles_if_right(((2, 1), (2, 1)), [1, 1, 1, 0]) == 3
    assert singles_if_right(((2, 1), (2, 1)), [2, 0, 0, 1]) == 1
    assert singles_if_right(((2, 1), (2, 1)), [1, 1, 1, 1]) is None
    assert singles_if_right(((2, 1), (2, 1)), [3, -1, -1, 2]) is None
    assert singles_if_right(((2, 1), (2, 1)), [1, 1]) is None
    assert singles_if_right(((2, 1), (2, 1)), None) is None


def test_a_survey_that_bounds_alone_do_not_settle_is_exact() -> None:
    survey = of(
        [Fraction(6, 15), Fraction(9, 15)],
        [Fraction(1, 9), Fraction(8, 9)],
        [Fraction(4, 5), Fraction(1, 5)],
        [Fraction(3, 11), Fraction(2, 11), Fraction(6, 11)],
    )
    found = worst_case(survey, 26)
    assert (found.singles, found.at_least, found.exact) == (12, 12, True)


HARD = ((206, 89, 65), (173, 68, 119), (144, 131, 37, 48))
"""Margins of 36 cells that the solver does not settle within its number of nodes, let alone within 40."""


@pytest.mark.slow
def test_an_answer_that_is_not_exact_does_not_depend_on_the_speed_of_the_machine() -> None:
    most = upper_bound(HARD)
    quiet = solve(HARD, between=(0, most), nodes=40)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
    try:
        beside_others = solve(HARD, between=(0, most), nodes=40)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert quiet[1] is not None
    assert beside_others[1] is not None
    assert quiet[0] == beside_others[0] > singles_if_right(HARD, quiet[1].tolist()) > 0
    assert quiet[1].tolist() == beside_others[1].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_27_cells_with_10_people_each_are_exact(seed: int) -> None:
    generator = np.random.default_rng(seed)
    shares = [generator.multinomial(270, generator.dirichlet([1, 1, 1])) for _ in range(3)]
    margins = tuple(tuple(int(count) for count in block if count) for block in shares)
    with solved_in_this_process():
        assert worst_case(survey_with(margins), 270).exact


@pytest.mark.parametrize("executable", ["", "some-application"])
def test_an_application_without_an_interpreter_to_start_encloses_the_worst_case(
    executable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    found = worst_case(of([0.4, 0.3, 0.2, 0.1], [0.5, 0.2, 0.2, 0.1], 3), 60)
    assert 0 < found.at_least < found.singles


def test_a_solver_that_fails_is_an_error_and_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "python-that-is-not-there")
    with pytest.raises(EngineError) as caught:
        worst_case(of([0.4, 0.3, 0.2, 0.1], [0.5, 0.2, 0.2, 0.1], 3), 59)
    assert caught.value.code == "survey-solver"


@pytest.mark.slow
def test_the_solver_does_not_write_to_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    """It prints lines of its own for margins such as these, whatever it is told."""
    worst_case(of([0.41, 0.3, 0.19, 0.1], [0.53, 0.47], [0.37, 0.31, 0.32], [0.71, 0.29]), 480)
    assert capfd.readouterr().out == ""


@given(st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=4), min_size=1, max_size=4), st.integers(0, 40))
def test_a_table_that_is_made_has_its_margins(weights: list[list[int]], more: int) -> None:
    people = max(map(len, weights)) + more
    margins = margins_in_people(of(*([Fraction(w, sum(block)) for w in block] for block in weights)), people)
    check_table(margins)


def check_table(margins: Sequence[Sequence[int]]) -> None:
    table = sparse_table(margins)
    assert all(value >= -1 and value != 0 for value in table.values())
    cells = math.prod(map(len, margins))
    for axis, block in enumerate(margins):
        for place, count in enumerate(block):
            extra = sum(value for cell, value in table.items() if cell[axis] == place)
            assert cells // len(block) + extra == count


@pytest.mark.parametrize(("people", "wanted"), [(1, 1), (2, 2), (23, 23), (24, 24)])
def test_people_who_can_all_be_alone_are_in_the_worst_case(people: int, wanted: int) -> None:
    assert worst_case(of(2, 3, 4), people).singles == wanted


def test_all_but_one_cannot_be_alone() -> None:
    found = worst_case(of([Fraction(2, 3), Fraction(1, 3)]), 3)
    assert (found.singles, found.exact) == (1, True)
    assert worst_case(of(2), 3).singles == 1


def test_one_question_alone_shows_who_gives_a_rare_answer() -> None:
    found = worst_case(of([0.97, 0.01, 0.01, 0.01]), 100)
    assert (found.singles, found.exact) == (3, True)


def test_answers_that_nobody_gives_have_no_cells() -> None:
    assert margins_in_people(of([1, 0], 2), 10) == ((10,), (5, 5))


@pytest.mark.parametrize("people", [60, *(pytest.param(many, marks=pytest.mark.slow) for many in (500, 10_000))])
def test_a_larger_survey_has_a_bound_and_a_table(people: int) -> None:
    found = worst_case(of([0.4, 0.3, 0.2, 0.1], [0.5, 0.2, 0.2, 0.1], [0.3, 0.3, 0.2, 0.1, 0.1]), people)
    assert 0 < found.at_least <= found.singles <= min(people, 80)
    assert found.at_least >= 0.8 * found.singles


def test_joint_counts_are_margins() -> None:
    names = {"a": {"categories": ["x", "y"]}, "b": {"categories": ["x", "y"]}}
    survey = ko.Survey(names, 10, [{"questions": ["a", "b"], "table": [[0.8, 0], [0.1, 0.1]]}])
    found = worst_case(survey, 10)
    assert (found.singles, found.exact) == (2, True)
