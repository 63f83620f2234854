"""Worst case, expectation and best case are in this order wherever they are shown together."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.survey.picture import risk_over_people
from kohorte.survey.words import estimate_in_words
from support.examples import examples
from support.surveys import of, solved_in_this_process, surveys


@examples(60)
@given(surveys(3, 4), st.integers(1, 60))
def test_the_worst_case_is_never_below_the_expectation_nor_the_best_case_above_it(
    survey: ko.Survey, people: int
) -> None:
    with solved_in_this_process():
        answer = ko.estimate_survey(survey, people, simulation=False).to_dict()
    worst, expected, best = (answer[name] for name in ("worst_case", "expected", "best_case"))
    assert worst["singles"] >= expected["singles"] >= best["singles"]
    assert worst["deanonymizable_percent"] >= expected["deanonymizable_percent"] >= best["deanonymizable_percent"]


@examples(40)
@given(surveys(3, 4), st.lists(st.integers(1, 300), min_size=2, max_size=5))
def test_the_curve_of_the_worst_case_is_never_below_that_of_the_expectation(
    survey: ko.Survey, people: list[int]
) -> None:
    percents = risk_over_people(survey, people).percents
    assert all(worst >= mean for worst, mean in zip(percents["worst"], percents["expected"], strict=True))


@examples(30)
@given(surveys(2, 4), st.integers(1, 40), st.sampled_from([1, 5, 20, 60]))
def test_a_plan_by_the_worst_case_also_reaches_the_percentage_by_the_expectation(
    survey: ko.Survey, people: int, percent: float
) -> None:
    for proposal in ko.plan_survey(survey, people=people, percent=percent, by="worst"):
        expected = proposal.figures["expected"]
        assert expected is not None
        assert expected.deanonymizable_percent <= proposal.deanonymizable_percent <= percent + 1e-6


def test_an_expectation_above_every_table_with_exact_frequencies_is_named_as_chance() -> None:
    found = ko.estimate_survey(of([0.7, 0.3], people=7), by="worst", simulation=False)
    text = estimate_in_words(found)
    assert found.worst_case.most == 0
    assert re.search(r"^at worst, by chance \(0 with exact frequencies\) +0\.251 +3\.58 %$", text, flags=re.M), text
    assert found.verdict == "Some people could be alone with their answers at worst: fewer than one of 7 on average."


def test_fewer_people_expected_than_in_every_table_with_exact_frequencies_are_named_as_chance() -> None:
    text = estimate_in_words(ko.estimate_survey(of(3, people=3), simulation=False))
    assert re.search(r"^at best, by chance \(3 with exact frequencies\) +1\.33 +44\.4 %$", text, flags=re.M), text
    assert re.search(r"^at worst, with exactly these frequencies +3 +100 %$", text, flags=re.M), text
