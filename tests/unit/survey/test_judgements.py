"""Estimate and plan judge alike, no figure exceeds the people, and coefficients are called coefficients."""

from __future__ import annotations

import inspect
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.survey import JUDGES, Coefficient, Figure
from kohorte.survey.words import estimate_in_words, proposals_in_words
from support.examples import examples
from support.surveys import of, solved_in_this_process, surveys

COEFFICIENTS = ("OR", "FG", "RT", "RR")


def test_estimate_and_plan_judge_by_the_expected_number_unless_told_otherwise() -> None:
    defaults = {inspect.signature(call).parameters["by"].default for call in (ko.estimate_survey, ko.plan_survey)}
    assert defaults == {"expected"}
    survey = of(2, 3, 4, people=100)
    percent = ko.estimate_survey(survey, simulation=False).judged_percent
    assert ko.plan_survey(survey, percent=percent + 0.01)[0].in_words == "no change is needed"
    assert ko.plan_survey(survey, percent=percent - 0.01)[0].in_words != "no change is needed"


@pytest.mark.parametrize("by", JUDGES)
def test_every_judgement_gives_the_same_percentage_in_an_estimate_and_in_a_plan(by: str) -> None:
    survey = of(2, 3, [0.4, 0.3, 0.2, 0.1], people=24)
    with solved_in_this_process():
        found = ko.estimate_survey(survey, by=by, simulation=False)
        [proposal] = ko.plan_survey(survey, percent=100, by=by)
        if by == "worst":  # the plan uses the bound that is computed at once
            assert proposal.deanonymizable_percent >= found.judged_percent
        else:
            assert proposal.deanonymizable_percent == found.judged_percent
        assert found.to_dict()["by"] == proposal.by == by
        assert (f"({by})" in found.verdict) == (by in COEFFICIENTS)


def test_a_judgement_that_is_not_known_is_refused_by_an_estimate_too() -> None:
    with pytest.raises(ko.InputError, match="did you mean 'worst'") as caught:
        ko.estimate_survey(of(2, people=5), by="wurst")
    assert caught.value.code == "survey-estimator"


@examples(60)
@given(surveys(3, 4), st.integers(1, 40))
def test_no_figure_says_that_more_people_are_at_risk_than_take_part(survey: ko.Survey, people: int) -> None:
    with solved_in_this_process():
        found = ko.estimate_survey(survey, people)
        answer, text = found.to_dict(), estimate_in_words(found)
    for key, entry in answer.items():
        if isinstance(entry, dict) and "deanonymizable_percent" in entry:
            assert entry["deanonymizable_percent"] is None or 0 <= entry["deanonymizable_percent"] <= 100
            assert ("singles" in entry) != ("coefficient" in entry), key
            assert entry.get("singles", 0) <= people
    numbers = re.findall(r"^(?:expected|in |at ).*?([\d.,]+)  +[\w.,]+ ", text.split("published")[0], flags=re.M)
    assert numbers
    assert all(float(number.replace(",", "")) <= people for number in numbers)


def test_a_figure_never_exceeds_the_people_although_sums_are_rounded() -> None:
    assert Figure(10.000000001, 10).singles == 10


def test_a_published_coefficient_is_no_number_of_people() -> None:
    found = ko.estimate_survey(of(2, 3, 4), 10, simulation=False)
    assert isinstance(found.OR, Coefficient)
    assert found.OR.to_dict() == {"coefficient": 24.0, "deanonymizable_percent": 100.0}
    people, coefficients = estimate_in_words(found).split("published coefficients (combinations of answers)")
    assert not any(name in people for name in COEFFICIENTS)
    assert re.search(r"^OR, the ORWELL coefficient +24 +100 %$", coefficients, flags=re.M)
    assert "not people" in coefficients
    assert "not a probability" in coefficients


def test_a_proposal_by_a_coefficient_names_no_number_of_people() -> None:
    survey = of(2, 3, 4, people=10)
    proposals = ko.plan_survey(survey, percent=50, by="OR")
    assert proposals[0].singles is None
    assert json.loads(json.dumps(proposals[0].to_dict()))["singles"] is None
    text = proposals_in_words(proposals, percent=50, people=10, by="OR")
    assert text.startswith("DA by the ORWELL coefficient (OR), which is not a number of people, at most 50 %")
    assert "alone with their answers" not in text


def test_a_tiny_percentage_is_not_written_with_twenty_zeros() -> None:
    survey = of(2, 3, 4, people=3000)
    text = proposals_in_words(ko.plan_survey(survey, percent=1), percent=1, people=3000, by="expected")
    assert "below 0.0001 %" in text
    assert "0.00000" not in text
