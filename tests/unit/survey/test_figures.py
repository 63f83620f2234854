"""Estimators, expectation and simulation against definitions that list all cells."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.survey.estimators.expectation import expected_singles
from kohorte.survey.estimators.logarithms import LARGEST_CURVATURE, LogarithmGrid
from kohorte.survey.estimators.published import (
    categories_used,
    degrees_of_freedom,
    orwell_coefficient,
    rounded_margins,
    truncated_margins,
)
from kohorte.survey.estimators.simulation import _interval, _student, simulate
from support.examples import examples
from support.surveys import cells, frequencies, of, skewed, surveys
from support.work import counted_calls

HALF = Fraction(1, 2)


@given(surveys(), st.integers(1, 3000))
def test_truncated_and_rounded_margins_are_counted_exactly(survey: ko.Survey, people: int) -> None:
    counts = [people * cell for cell in cells(survey)]
    assert truncated_margins(survey, people) == sum(math.floor(count) == 1 for count in counts)
    assert rounded_margins(survey, people) == sum(math.floor(count + HALF) == 1 for count in counts)


@given(st.lists(frequencies(3), min_size=1, max_size=3), st.integers(2, 4), st.integers(1, 2000))
def test_questions_that_are_repeated_are_counted_exactly(asked: list[object], times: int, people: int) -> None:
    survey = of(*(asked * times)[:6])
    counts = [people * cell for cell in cells(survey)]
    assert truncated_margins(survey, people) == sum(math.floor(count) == 1 for count in counts)
    assert rounded_margins(survey, people) == sum(math.floor(count + HALF) == 1 for count in counts)


def test_borders_do_not_depend_on_floating_point() -> None:
    assert truncated_margins(of(*[10] * 5), 100_000) == 100_000
    assert truncated_margins(of(*[10] * 5), 99_999) == 0
    assert rounded_margins(of(3, 7, 11), 346) == 231  # 346.5 people would be one and a half for each cell
    assert rounded_margins(of(3, 7, 11), 347) == 0
    assert rounded_margins(of(3, 7, 22), 231) == 462  # exactly a half for each: rounded up
    assert rounded_margins(of(3, 7, 22), 693) == 0  # exactly one and a half: rounded up to two


@pytest.mark.parametrize(("shape", "wanted"), [((2, 3, 4), 12), ((4, 2, 3), 12), ((5,), 4), ((1,), 0), ((1, 3), 0)])
def test_the_two_questions_with_the_most_categories_lose_one(shape: tuple[int, ...], wanted: int) -> None:
    assert degrees_of_freedom(of(*shape), 10) == wanted


@given(st.lists(frequencies(), min_size=1, max_size=4), st.integers(1, 100))
def test_anchoring_a_survey_that_asks_nothing_leaves_one_in_n(asked: list[object], people: int) -> None:
    survey = of(*([1] * len(asked)))
    assert orwell_coefficient(survey, people) == 1
    assert ko.estimate_survey(survey, people, simulation=False).OR.deanonymizable_percent == pytest.approx(100 / people)


@given(surveys(), st.integers(1, 100))
def test_natural_behaviour_the_percentage_falls_with_the_number_of_people(survey: ko.Survey, people: int) -> None:
    for estimator in (degrees_of_freedom, orwell_coefficient):
        singles = estimator(survey, people)
        assert estimator(survey, people + 1) == singles
        assert min(singles / (people + 1), 1) <= min(singles / people, 1)


@given(frequencies(8))
def test_the_categories_really_used_lie_between_one_and_all_of_them(frequency: list[Fraction]) -> None:
    [block] = of(frequency).blocks
    used = categories_used(block)
    assert 1 <= used <= len(frequency)
    assert (used == len(frequency)) == (len(set(frequency)) == 1)
    assert used == pytest.approx(math.prod(float(p) ** -float(p) for p in frequency if p))


@given(surveys(), st.data())
def test_merging_categories_never_raises_the_orwell_coefficient(survey: ko.Survey, data: st.DataObject) -> None:
    blocks = [list(block.probabilities) for block in survey.blocks]
    wide = [number for number, block in enumerate(blocks) if len(block) > 1]
    if not wide:
        return
    number = data.draw(st.sampled_from(wide))
    place = data.draw(st.integers(0, len(blocks[number]) - 2))
    merged = blocks[number]
    merged[place : place + 2] = [merged[place] + merged[place + 1]]
    assert orwell_coefficient(of(*blocks), 5) <= orwell_coefficient(survey, 5) * (1 + 1e-12)


@given(surveys(), st.integers(1, 500))
def test_the_expectation_is_below_the_people_and_the_cells(survey: ko.Survey, people: int) -> None:
    found = expected_singles(survey, people)
    assert -found.error <= found.singles <= min(people, sum(cell > 0 for cell in cells(survey))) + found.error
    assert expected_singles(survey, people + 1).singles / (people + 1) <= found.singles / people + 1e-9


def exact_expectation(survey: ko.Survey, people: int) -> Fraction:
    return people * sum(p * (1 - p) ** (people - 1) for p in cells(survey))


@given(surveys(3, 4), st.sampled_from([1, 2, 3, 7, 36, 100, 500]))
def test_the_expectation_is_within_its_error_of_the_true_one(survey: ko.Survey, people: int) -> None:
    wanted = exact_expectation(survey, people)
    found = expected_singles(survey, people)
    assert abs(Fraction(found.singles) - wanted) <= Fraction(found.error)
    assert found.error <= people * 2e-12


@examples(40)
@given(surveys(3, 4), st.sampled_from([1001, 1500, 20_000, 10**8]), st.sampled_from([2**9, 2**12, 2**16]))
def test_a_grid_of_logarithms_is_within_its_error_of_the_true_probability(
    survey: ko.Survey, people: int, points: int
) -> None:
    wanted = math.fsum(float(p) * math.exp((people - 1) * math.log1p(-p)) for p in cells(survey) if 0 < p < 1)
    found, error = LogarithmGrid(survey.blocks, points).alone(survey.blocks, people)
    assert abs(found - wanted) <= error


def test_the_curvature_in_the_proof_is_as_large_as_is_said() -> None:
    u = np.linspace(0, 60, 600_001)
    for others in (1000, 10**4, 10**9):
        assert (u * np.abs(u - 1) * np.exp(-u * (1 - 2 / others))).max() < LARGEST_CURVATURE


def test_many_people_are_expected_by_logarithms_within_the_stated_error() -> None:
    listed = expected_singles(skewed(9), 10**6)
    found = expected_singles(skewed(9), 10**6, most_followed=100)
    assert listed.error < found.error < 0.01
    assert abs(found.singles - listed.singles) <= listed.error + found.error


@pytest.mark.parametrize("people", [50, 5_000, 500_000])
def test_the_expectation_of_many_cells_is_that_of_a_sum_over_all_of_them(people: int) -> None:
    survey = skewed(9)
    product = np.ones(1)
    for block in survey.blocks:
        product = np.outer(product, [float(p) for p in block.probabilities]).ravel()
    wanted = people * float(np.sum(product * np.exp((people - 1) * np.log1p(-product))))
    assert expected_singles(survey, people).singles == pytest.approx(wanted, rel=1e-11)


def test_the_published_estimators_bound_nothing() -> None:
    """Each is above the expectation in one survey and below it in another, so none of them is safe."""
    estimators = {"FG": degrees_of_freedom, "RT": truncated_margins, "RR": rounded_margins, "OR": orwell_coefficient}
    rare = [0.97, 0.01, 0.01, 0.01]
    examples = [(of(2, 3, 4), 30), (of(2, 3, 4), 10), (of(2, 2), 2), (of(rare, rare), 100)]
    for name, estimator in estimators.items():
        signs = {estimator(survey, people) > expected_singles(survey, people).singles for survey, people in examples}
        assert signs == {True, False}, name


@pytest.mark.parametrize("survey", [of(2, 3, 4), of([0.8, 0.2], [0.6, 0.3, 0.1], [0.6, 0.3, 0.1]), skewed(12)])
@pytest.mark.parametrize("people", [1, 2, 30, 400])
def test_the_simulation_agrees_with_the_expectation(survey: ko.Survey, people: int) -> None:
    found = simulate(survey, people, seed=7)
    assert found is not None
    wanted = expected_singles(survey, people).singles
    low, high = found.interval
    middle = (low + high) / 2
    assert middle + 2 * (low - middle) - 3 / found.runs <= wanted <= middle + 2 * (high - middle) + 3 / found.runs
    assert simulate(survey, people, seed=7) == found


def test_nineteen_of_twenty_intervals_contain_the_expectation() -> None:
    survey = of([0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1])
    wanted = expected_singles(survey, 40).singles
    intervals = [found.interval for seed in range(100) if (found := simulate(survey, 40, seed=seed))]
    assert 88 <= sum(low <= wanted <= high for low, high in intervals) <= 100


def test_an_interval_is_no_point_where_all_simulated_surveys_are_the_same() -> None:
    low, high = _interval([0] * 2000, 100)
    assert (low, high) == (0, pytest.approx(100 * (1 - 0.025 ** (1 / 2000))))
    low, high = _interval([100] * 2000, 100)
    assert (low, high) == (pytest.approx(100 * 0.025 ** (1 / 2000)), 100)
    found = simulate(of(2), 1000)
    assert found is not None
    assert found.interval[0] == found.singles == 0 < found.interval[1]


@pytest.mark.parametrize("difference", [1, 2])
@pytest.mark.parametrize("chance", [1e-4, 1e-3, 3e-3, 0.01, 0.02, 0.03, 0.05, 0.08, 0.2])
def test_intervals_of_rare_results_contain_the_mean_nineteen_times_of_twenty(chance: float, difference: int) -> None:
    drawn = Counter(np.random.default_rng(5).binomial(1000, chance, 4000).tolist())
    inside = 0
    for events, times in drawn.items():
        low, high = _interval([difference] * events + [0] * (1000 - events), 50)
        inside += times * (low <= difference * chance <= high)
    assert inside >= 0.94 * 4000


def test_a_simulation_with_more_cells_than_numbers_counts_right() -> None:
    survey = of(*[1000] * 30)
    found = simulate(survey, 50)
    assert found is not None
    assert found.singles == 50


def test_joint_tables_are_simulated_together() -> None:
    names = {"a": {"categories": ["x", "y"]}, "b": {"categories": ["x", "y"]}}
    survey = ko.Survey(names, 2, [{"questions": ["a", "b"], "table": [[0.5, 0], [0, 0.5]]}])
    found = simulate(survey, 2)
    assert found is not None
    assert found.singles == pytest.approx(1, abs=0.1)  # both in the same cell, or each in its own


@pytest.mark.parametrize(("degrees", "wanted"), [(9, 2.2622), (19, 2.0930), (99, 1.9842), (1999, 1.9612)])
def test_students_distribution_is_the_tabulated_one(degrees: int, wanted: float) -> None:
    assert _student(degrees) == pytest.approx(wanted, abs=1e-3)


def test_too_many_people_are_not_simulated() -> None:
    assert simulate(of(2), 10**7) is None


@pytest.mark.parametrize("people", [500, 10_000, 100_000])
def test_a_survey_of_twenty_questions_is_estimated_without_listing_its_cells(people: int) -> None:
    survey = skewed(20)
    assert survey.cells > 10**12
    found, calls = counted_calls(lambda: ko.estimate_survey(survey, people, simulation=False))
    simulation, more = counted_calls(lambda: simulate(survey, people))
    assert simulation is not None
    low, high = simulation.interval
    assert low - (high - low) <= found.expected.singles <= high + (high - low)
    assert calls < 50_000, calls
    assert more < 1_000_000, more


@pytest.mark.slow
@pytest.mark.parametrize("people", [10**6, 8 * 10**7])
def test_cells_that_are_too_many_are_said_to_be(people: int) -> None:
    found = ko.estimate_survey(skewed(20), people, simulation=False)
    assert found.expected.error < people * 1e-3
    if found.RR is None:
        assert found.to_dict()["RR"] == {"coefficient": None, "deanonymizable_percent": None}
        with pytest.raises(ko.InputError) as caught:
            rounded_margins(skewed(20), people)
        assert caught.value.code == "survey-too-large"
