"""Merges that a person tries: the same survey and loss as a proposal with them."""

from __future__ import annotations

import pytest

import kohorte as ko
from kohorte.errors import InputError
from kohorte.survey.estimators.standing import Standing, standing_of
from kohorte.survey.planning.trying import Merges, try_merges

SURVEY = ko.Survey.from_dict(
    {
        "people": 200,
        "questions": {
            "sex": {"categories": {"female": 0.51, "male": 0.49}, "merge": False},
            "age": {"categories": {"young": 0.3, "middle": 0.4, "old": 0.3}},
            "region": {"categories": {"north": 0.5, "south": 0.3, "east": 0.2}, "ordered": False},
        },
    }
)


def test_the_merges_of_a_proposal_give_its_survey_and_its_loss() -> None:
    proposals = [one for one in ko.plan_survey(SURVEY, people=30, percent=2) if one.merges]
    assert proposals
    for proposal in proposals:
        merges = {merge.question: merge.groups for merge in proposal.merges}
        tried = try_merges(SURVEY, merges, 30)
        assert tried.survey == proposal.survey
        assert tried.lost_bits == pytest.approx(proposal.lost_bits)
        assert tried.lost_share == pytest.approx(proposal.lost_share)


def test_without_merges_nothing_changes() -> None:
    assert try_merges(SURVEY, {}, 200).survey is SURVEY
    assert try_merges(SURVEY, {"age": [["young"]]}, 200).lost_bits == 0


@pytest.mark.parametrize(
    ("merges", "told"),
    [
        ({"sex": [["female", "male"]]}, "forbids merging"),
        ({"age": [["young", "old"]]}, "only neighbours"),
        ({"region": [["north", "west"]]}, "no such answer"),
        ({"regoin": [["north", "south"]]}, "no question"),
        ({"region": [["north", "south"], ["south", "east"]]}, "two groups"),
    ],
)
def test_merges_that_do_not_fit_are_refused(merges: Merges, told: str) -> None:
    with pytest.raises(InputError, match=told) as caught:
        try_merges(SURVEY, merges, 200)
    assert caught.value.code == "survey-merge"


@pytest.mark.parametrize(
    ("percent", "worst", "standing"),
    [(0.5, 0.9, "few-at-worst"), (0.5, 3, "few"), (1.5, 9, "some"), (10, 90, "many")],
)
def test_the_verdict_in_a_word(percent: float, worst: float, standing: str) -> None:
    assert standing_of(percent, worst) == Standing(standing)
