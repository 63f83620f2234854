"""Proposals against all merges of small surveys."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.survey import JUDGES
from kohorte.survey.estimators.expectation import expected_singles
from kohorte.survey.estimators.published import ESTIMATORS
from kohorte.survey.estimators.worst_case import worst_case_bound
from kohorte.survey.planning.merging import partitions_of
from kohorte.survey.planning.more_people import least_people
from support.examples import examples
from support.surveys import of, partitions, skewed, surveys
from support.work import counted_calls

HUNDREDTH = 0.0100001


judges = {**ESTIMATORS, "expected": lambda survey, people: expected_singles(survey, people).singles}
judges["worst"] = lambda survey, people: max(worst_case_bound(survey, people), judges["expected"](survey, people))


def judged(survey: ko.Survey, people: int, by: str) -> float:
    singles = judges[by](survey, people)
    return min(singles / people, 1) * 100


def bits(probabilities: list[Fraction]) -> float:
    return sum(-float(p) * math.log2(p) for p in probabilities if p)


def least_losses(survey: ko.Survey, people: int, percent: float, by: str) -> dict[int, float]:
    """For each number of changes the least loss of all merges of neighbours that reach the percentage."""
    margins = [block.probabilities for block in survey.blocks]
    found: dict[int, float] = {}
    for choice in itertools.product(*(list(partitions(len(margin))) for margin in margins)):
        merged = [
            [sum((margin[place] for place in group), Fraction()) for group in groups]
            for margin, groups in zip(margins, choice, strict=True)
        ]
        kept = [block for block in merged if len(block) > 1] or [[Fraction(1)]]
        changes = sum(
            (len(groups[0]) > 1) if len(groups) == 1 else sum(len(group) > 1 for group in groups) for groups in choice
        )
        whole = [block for block, margin in zip(merged, margins, strict=True) if len(block) > 1 or len(margin) == 1]
        if judged(of(*(whole or kept)), people, by) <= percent + 1e-9:
            loss = sum(map(bits, map(list, margins))) - sum(map(bits, merged))
            found[changes] = min(loss, found.get(changes, math.inf))
    return found


@examples(40)
@given(surveys(3, 4), st.integers(5, 60), st.sampled_from([5, 20, 40]), st.sampled_from(JUDGES))
def test_proposals_lose_as_little_as_any_merge_of_neighbours(
    survey: ko.Survey, people: int, percent: float, by: str
) -> None:
    proposals = ko.plan_survey(survey, percent=percent, people=people, by=by, most=50)
    merged = [proposal for proposal in proposals if not proposal.more_people]
    wanted = least_losses(survey, people, percent, by)
    assert bool(merged) == bool(wanted)
    for proposal in merged:
        assert proposal.proven
        assert judged(proposal.survey, people, by) <= percent + 1e-9
        assert proposal.lost_bits >= min(wanted.values()) - 1e-9
    for changes, loss in wanted.items():
        assert any(p.changes <= changes and p.lost_bits <= loss + HUNDREDTH for p in merged)
    assert [round(p.lost_bits, 2) for p in merged] == sorted(round(p.lost_bits, 2) for p in merged)


@given(surveys(3, 4), st.integers(5, 60), st.sampled_from([5, 20]), st.sampled_from(JUDGES))
def test_no_proposal_is_dominated_by_another(survey: ko.Survey, people: int, percent: float, by: str) -> None:
    proposals = ko.plan_survey(survey, percent=percent, people=people, by=by)
    assert len(proposals) <= 6
    touched = [(p, {merge.question for merge in p.merges}) for p in proposals if p.merges]
    for (one, here), (other, there) in itertools.permutations(touched, 2):
        assert not (one.lost_bits < other.lost_bits - HUNDREDTH and one.changes <= other.changes and here <= there)


@examples(60)
@given(surveys(2, 3), st.integers(1, 30), st.sampled_from([10, 25, 60]), st.sampled_from(JUDGES))
def test_the_least_number_of_people_is_the_first_that_reaches_the_percentage(
    survey: ko.Survey, people: int, percent: float, by: str
) -> None:
    found = least_people(survey, percent, by, lambda count: judges[by](survey, count), people)
    if found is None:
        assert by == "expected"  # somebody without a frequency to hide in
        return
    assert judged(survey, found, by) <= percent + 1e-6
    assert by == "worst" or all(
        judged(survey, count, by) > percent for count in range(people, min(found, people + 400))
    )


def test_the_example_of_the_source_reaches_ten_percent() -> None:
    survey = of([0.8, 0.2], [0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1], people=100)
    larger, *merged = ko.plan_survey(survey, percent=10, by="OR")
    assert larger.people == 167
    assert larger.lost_bits == 0
    assert larger.in_words == "ask 167 people instead of 100"
    assert merged[0].in_words == "q1: merge c0 + c1"
    assert merged[0].survey.questions["q1"].categories == ("c0 or c1", "c2")
    assert merged[0].survey.questions["q1"].frequencies == (Fraction(4, 5), Fraction(1, 5))
    assert merged[0].figures["OR"] is not None
    assert ko.Survey.from_dict(merged[0].to_dict()["survey"]) == merged[0].survey


def test_a_survey_that_is_good_enough_is_left_alone() -> None:
    [only] = ko.plan_survey(of(2, people=1000), percent=5)
    assert only.in_words == "no change is needed"
    assert (only.changes, only.lost_bits, only.people) == (0, 0, 1000)


def test_categories_without_order_merge_in_any_pair() -> None:
    frequencies = [0.05, 0.45, 0.05, 0.45]
    neighbours = ko.plan_survey(of(frequencies, people=20), percent=13, by="OR")
    any_pair = ko.plan_survey(of(frequencies, people=20, ordered=False), percent=13, by="OR")
    assert any("c0 + c2" in proposal.in_words for proposal in any_pair)
    assert not any("c0 + c2" in proposal.in_words for proposal in neighbours)


def test_a_question_can_be_left_out() -> None:
    proposals = ko.plan_survey(of(2, 3, 4, people=100), percent=10, by="OR")
    assert "leave out q1" in [proposal.in_words for proposal in proposals]
    [out] = [proposal for proposal in proposals if proposal.in_words == "leave out q1"]
    assert list(out.survey.questions) == ["q0", "q2"]


def test_a_percentage_that_only_an_empty_survey_reaches_leaves_everything_out() -> None:
    proposals = ko.plan_survey(of(2, 2, people=20), percent=5, by="OR")
    assert proposals[-1].in_words == "leave out q0, q1"
    assert proposals[-1].survey.cells == 1


def test_what_nothing_reaches_has_no_proposal() -> None:
    assert ko.plan_survey(of(2, 2, people=20), percent=0, by="OR") == ()


def test_merges_in_a_joint_table_merge_its_cells() -> None:
    names = {"a": {"categories": ["x", "y", "z"]}, "b": {"categories": ["x", "y"]}, "c": {"categories": ["x", "y"]}}
    table = [[0.3, 0.1], [0.1, 0.2], [0.1, 0.2]]
    survey = ko.Survey(names, 40, [{"questions": ["a", "b"], "table": table}])
    merged = [p for p in ko.plan_survey(survey, percent=20, by="OR", most=20) if p.merges]
    both = next(p for p in merged if "a: merge y + z" in p.in_words and p.survey.joint)
    assert both.survey.joint[0].cells == (Fraction(3, 10), Fraction(1, 10), Fraction(2, 10), Fraction(4, 10))
    fewer = [p for p in ko.plan_survey(survey, percent=15, by="OR", most=20) if p.merges]
    alone = next(p for p in fewer if "leave out b" in p.in_words)
    assert alone.survey.joint == ()
    for proposal in merged:
        assert judged(proposal.survey, 40, "OR") <= 20 + 1e-9


def test_a_large_joint_table_gets_proposals() -> None:
    names = {name: {"categories": [str(number) for number in range(40)]} for name in ("a", "b")}
    cells = [[Fraction(1, 1600)] * 40] * 40
    survey = ko.Survey(names, 100, [{"questions": ["a", "b"], "table": cells}])
    merged = [proposal for proposal in ko.plan_survey(survey, percent=10, by="OR") if proposal.merges]
    assert merged
    for proposal in merged:
        assert not proposal.proven
        assert judged(proposal.survey, 100, "OR") <= 10 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("by", JUDGES)
def test_a_survey_of_twenty_questions_gets_proposals_that_are_not_said_to_be_proven(by: str) -> None:
    proposals, calls = counted_calls(lambda: ko.plan_survey(skewed(20), percent=5, people=500, by=by))
    assert calls < 10_000_000, calls
    assert proposals
    for proposal in proposals:
        assert judged(proposal.survey, proposal.people, by) <= 5 + 1e-9
        assert not (proposal.proven and proposal.merges)


@pytest.mark.slow
def test_long_and_many_questions_get_proposals_with_little_work() -> None:
    long = of(*[11] * 20)
    proposals, calls = counted_calls(lambda: ko.plan_survey(long, percent=1, people=500, by="FG"))
    assert proposals
    for survey in (long, of(1000, 10), of([Fraction(1, 4)] * 4, *[7] * 15, ordered=False)):
        proposals, more = counted_calls(lambda survey=survey: ko.plan_survey(survey, percent=5, people=500, by="OR"))
        assert proposals
        assert all(judged(p.survey, p.people, "OR") <= 5 + 1e-9 for p in proposals)
        calls += more
    assert calls < 20_000_000, calls


def test_a_question_with_many_categories_is_merged_where_that_loses_least() -> None:
    found, complete = partitions_of(of(30).questions["q0"], [1 / 30] * 30)
    assert not complete
    halves = next(groups for groups in found if len(groups) == 2 and len(groups[0]) == 15)
    assert halves == (tuple(range(15)), tuple(range(15, 30)))
    proposals = ko.plan_survey(of(30, people=30), percent=50, by="OR")
    assert any(len(proposal.survey.questions["q0"].categories) == 15 for proposal in proposals if proposal.merges)


@pytest.mark.parametrize("percent", [-1, 101, math.nan, "5", True, None])
def test_a_percentage_is_a_number_from_0_to_100(percent: object) -> None:
    with pytest.raises(ko.InputError) as caught:
        ko.plan_survey(of(2, people=5), percent=percent)  # type: ignore[arg-type]
    assert caught.value.code == "survey-percent"


def test_an_estimator_that_is_not_known_is_refused_with_the_nearest() -> None:
    with pytest.raises(ko.InputError, match="did you mean 'expected'") as caught:
        ko.plan_survey(of(2, people=5), percent=5, by="expect")
    assert caught.value.code == "survey-estimator"


@pytest.mark.slow
def test_a_plan_by_the_worst_case_holds_for_the_worst_table() -> None:
    survey = of([0.8, 0.2], [0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1], people=100)
    proposals = ko.plan_survey(survey, percent=8, by="worst")
    assert proposals[0].more_people
    for proposal in proposals:
        found = ko.estimate_survey(proposal.survey, simulation=False).worst_case
        assert found.singles <= proposal.singles <= 0.08 * proposal.people


@pytest.mark.parametrize(("people", "percent"), [(10**6, 1), (8 * 10**7, 0.01)])
def test_a_plan_for_many_people_does_not_count_them_one_by_one(people: int, percent: float) -> None:
    plan = partial(ko.plan_survey, skewed(10), percent=percent, people=people, by="expected")
    proposals, calls = counted_calls(plan)
    assert calls < 1_000_000, calls
    assert proposals
    assert all(proposal.deanonymizable_percent <= percent + 1e-6 for proposal in proposals)


def test_questions_that_are_left_out_are_listed_together() -> None:
    texts = [proposal.in_words for proposal in ko.plan_survey(of(2, 2, 2, 2, people=20), percent=20, by="OR")]
    assert any("leave out q0, q1" in text or "leave out q2, q3" in text for text in texts)
