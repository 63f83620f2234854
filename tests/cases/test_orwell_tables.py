"""The tables of M. Rauterberg, "Wie anonym sind anonymisierte Datensätze wirklich?", for all numbers of people.

RT and RR are counted here a second time, over all cells, with fractions. What the source prints otherwise is listed.
"""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

import kohorte as ko
from kohorte.survey import SurveyEstimate
from kohorte.survey.estimators.best_case import BestCase, best_case
from kohorte.survey.estimators.integer_program import singles_if_right, solve
from kohorte.survey.estimators.worst_case import WorstCase, margins_in_people, worst_case
from support.surveys import solved_in_this_process
from testbed.orwell import (
    FAVOURABLE,
    FG,
    OR,
    OTHERWISE_RR,
    OTHERWISE_RT,
    PEOPLE,
    PRINTED_OR,
    PRINTED_RR,
    PRINTED_RT,
    TABLES,
    UNFAVOURABLE,
    survey,
)

ROOT = Path(__file__).parents[2]
CASES = [(table, people) for table in TABLES for people in PEOPLE]
LONG_CASES = [
    case if place % 7 == 3 else pytest.param(*case, marks=pytest.mark.slow) for place, case in enumerate(CASES)
]
"""For searches of the worst table; all of them run in `make test-long`."""


@cache
def worst(table: int, people: int) -> WorstCase:
    with solved_in_this_process():
        return worst_case(survey(table), people)


@cache
def best(table: int, people: int) -> BestCase:
    with solved_in_this_process():
        return best_case(survey(table), people)


def expected_counts(table: int, people: int) -> list[Fraction]:
    margins = [[Fraction(str(frequency)) for frequency in frequencies] for frequencies in TABLES[table]]
    return [people * math.prod(cell) for cell in itertools.product(*margins)]


def estimate(table: int, people: int) -> SurveyEstimate:
    return ko.estimate_survey(survey(table), people, simulation=False)


@pytest.mark.parametrize(("table", "people"), CASES)
def test_degrees_of_freedom_and_the_orwell_coefficient_are_those_of_the_tables(table: int, people: int) -> None:
    found = estimate(table, people)
    assert found.FG.value == FG[table]
    assert found.OR.value == pytest.approx(OR[table], abs=5e-4)
    assert found.OR.deanonymizable_percent == pytest.approx(min(OR[table] / people, 1) * 100, abs=0.01)
    assert found.FG.deanonymizable_percent == min(FG[table] / people, 1) * 100


@pytest.mark.parametrize("table", TABLES)
def test_the_printed_orwell_coefficient_is_the_rounded_one_but_in_table_5(table: int) -> None:
    rounded = math.floor(estimate(table, 10).OR.value + 0.5)
    assert rounded == (17 if table == 5 else PRINTED_OR[table])


@pytest.mark.parametrize(("table", "people"), CASES)
def test_truncated_and_rounded_margins_are_those_of_a_count_over_all_cells(table: int, people: int) -> None:
    counts = expected_counts(table, people)
    found = estimate(table, people)
    assert found.RT is not None
    assert found.RR is not None
    assert found.RT.value == sum(math.floor(count) == 1 for count in counts)
    assert found.RR.value == sum(math.floor(count + Fraction(1, 2)) == 1 for count in counts)


@pytest.mark.parametrize(("table", "people"), CASES)
def test_truncated_and_rounded_margins_are_the_printed_ones_but_for_five(table: int, people: int) -> None:
    found, place = estimate(table, people), PEOPLE.index(people)
    assert found.RT is not None
    assert found.RR is not None
    assert found.RT.value == OTHERWISE_RT.get((table, people), PRINTED_RT[table][place])
    assert found.RR.value == OTHERWISE_RR.get((table, people), PRINTED_RR[table][place])


def test_the_source_counted_table_2_with_33_hundredths_for_a_third() -> None:
    third = Fraction("0.33")
    for place, people in enumerate(PEOPLE):
        counts = [
            people * p * third * q for p in [Fraction(1, 2)] * 2 for q in map(Fraction, ("0.4", "0.3", "0.2", "0.1"))
        ]
        assert 3 * sum(math.floor(count) == 1 for count in counts) == PRINTED_RT[2][place]
        assert 3 * sum(math.floor(count + Fraction(1, 2)) == 1 for count in counts) == PRINTED_RR[2][place]


@pytest.mark.parametrize(("table", "people"), CASES)
def test_the_expectation_is_that_of_all_cells(table: int, people: int) -> None:
    cells = [count / people for count in expected_counts(table, people)]
    wanted = people * sum(p * (1 - p) ** (people - 1) for p in cells)
    found = estimate(table, people).expected
    assert abs(found.singles - float(wanted)) <= found.error < 1e-8


@pytest.mark.parametrize(("table", "people"), LONG_CASES)
def test_the_worst_case_is_no_better_than_the_worst_table_of_the_source(table: int, people: int) -> None:
    found, by_hand = worst(table, people), UNFAVOURABLE[table][PEOPLE.index(people)]
    assert found.at_least <= found.singles
    if by_hand is not None:
        assert found.at_least >= by_hand


@pytest.mark.parametrize(("table", "people"), CASES)
def test_the_best_case_is_exact_and_no_worse_than_the_favourable_table_of_the_source(table: int, people: int) -> None:
    found, by_hand = best(table, people), FAVOURABLE[table][PEOPLE.index(people)]
    assert found.exact
    if by_hand is not None:
        assert found.singles <= by_hand


def test_the_favourable_column_is_the_best_case_but_for_nineteen_lines() -> None:
    """In those the source did not find the best table; in all 36 others both are the same."""
    printed = {
        (table, people): number
        for table, people in CASES
        if (number := FAVOURABLE[table][PEOPLE.index(people)]) is not None
    }
    same = {case for case, number in printed.items() if number == best(*case).singles}
    assert (len(printed), len(same)) == (55, 36)
    assert {case for case in printed if case[1] >= 100} <= same
    assert all(number > best(*case).singles for case, number in printed.items() if case not in same)


def test_the_page_about_the_estimators_has_the_figures_of_this_package() -> None:
    stored = json.loads((ROOT / "docs" / "benchmarks" / "survey.json").read_text(encoding="utf-8"))
    assert {(entry["table"], entry["people"]) for entry in stored} == set(CASES)
    for entry in stored:
        table, people = entry["table"], entry["people"]
        found = estimate(table, people)
        for name in ("FG", "RT", "RR", "OR"):
            assert entry[name] == pytest.approx(found.figures[name].value, rel=1e-12)  # type: ignore[union-attr]
        assert entry["expected"] == pytest.approx(found.expected.singles, rel=1e-9)
        assert (entry["worst"], entry["worst_exact"]) == (worst(table, people).singles, worst(table, people).exact)
        assert entry["best"] == best(table, people).singles


@pytest.mark.parametrize(("table", "people"), CASES)
@pytest.mark.parametrize("printed", [FAVOURABLE, UNFAVOURABLE], ids=["favourable", "unfavourable"])
def test_a_table_with_exactly_the_printed_number_of_single_cells_exists(
    printed: dict[int, tuple[int | None, ...]], table: int, people: int
) -> None:
    number = printed[table][PEOPLE.index(people)]
    if number is None:
        return
    margins = margins_in_people(survey(table), people)
    _, cells = solve(margins, between=(number, number))
    assert singles_if_right(margins, None if cells is None else cells.tolist()) == number


def test_the_worst_case_is_often_worse_than_the_orwell_coefficient() -> None:
    """The source says that OR fails its criterion of safety once, in table 6; it looked at too few tables."""
    above = {
        (table, people)
        for table, people in CASES
        if worst(table, people).at_least > min(people, estimate(table, people).OR.value)
    }
    assert {(5, 60), (6, 20), (6, 30), (6, 40), (6, 50), (6, 60), (6, 100), (6, 130), (8, 30)} <= above
    assert not any(table in (1, 2, 3, 9) for table, _ in above)


def test_degrees_of_freedom_are_not_those_of_three_margins() -> None:
    """A 2 x 3 x 4 table with given margins has 24 - 1 - 1 - 2 - 3 = 17 degrees of freedom; FG is 12."""
    assert worst(1, 130).at_least >= 17 > FG[1]
