"""A question with `merge: false` stays as it is, and a plan that fails because of it says so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.data import strict_yaml
from kohorte.survey import JUDGES, merging_forbidden_in
from kohorte.survey.words import proposals_in_words
from support.examples import examples

TEXT = """\
people: 40
questions:
  sex: {categories: {female: 0.5, male: 0.5}}
  age: {categories: {young: 0.4, middle: 0.3, older: 0.2, old: 0.1}, merge: false}
  school: {categories: [primary, secondary, tertiary]}
"""


def loaded(text: str) -> ko.Survey:
    return ko.Survey.from_dict(strict_yaml.load(text, source="survey.yaml", code="survey-yaml"))


def forbidding(survey: ko.Survey, *names: str) -> ko.Survey:
    questions = {name: question.to_dict() for name, question in survey.questions.items()}
    return ko.Survey({name: {**entry, "merge": name not in names} for name, entry in questions.items()}, survey.people)


@examples(30)
@given(st.sampled_from(JUDGES), st.sampled_from([0.5, 5, 20]), st.sets(st.sampled_from(["sex", "age", "school"])))
def test_no_proposal_changes_a_question_that_forbids_merging(by: str, percent: float, names: set[str]) -> None:
    survey = forbidding(loaded(TEXT), *names)
    for proposal in ko.plan_survey(survey, percent=percent, by=by, most=20):
        assert not names & {merge.question for merge in proposal.merges}
        for name in names:
            assert proposal.survey.questions[name] == survey.questions[name]


def test_the_best_merge_is_taken_elsewhere() -> None:
    free = ko.plan_survey(loaded(TEXT.replace(", merge: false", "")), percent=5, most=50)
    bound = ko.plan_survey(loaded(TEXT), percent=5, most=50)
    assert any(merge.question == "age" for proposal in free for merge in proposal.merges)
    assert {merge.question for proposal in bound for merge in proposal.merges} == {"sex", "school"}
    assert min(p.lost_bits for p in bound if p.merges) >= min(p.lost_bits for p in free if p.merges)


def test_a_question_of_a_joint_table_can_forbid_merging() -> None:
    questions = {"a": {"categories": ["x", "y", "z"], "merge": False}, "b": {"categories": ["x", "y"]}}
    joint = [{"questions": ["a", "b"], "table": [[0.3, 0.1], [0.1, 0.2], [0.1, 0.2]]}]
    proposals = ko.plan_survey(ko.Survey(questions, 8, joint), percent=10)
    assert {merge.question for proposal in proposals for merge in proposal.merges} == {"b"}
    assert all(len(proposal.survey.questions["a"].categories) == 3 for proposal in proposals)
    assert all(not proposal.survey.questions["a"].merge for proposal in proposals)


def test_a_plan_that_fails_because_merging_is_forbidden_says_so() -> None:
    survey = forbidding(loaded(TEXT), "sex", "age", "school")
    wanted = {"percent": 0, "people": 40, "by": "expected"}
    proposals = ko.plan_survey(survey, **wanted)
    names = merging_forbidden_in(survey, proposals, **wanted)
    assert (proposals, names) == ((), ("sex", "age", "school"))
    text = proposals_in_words(proposals, **wanted, forbidding=names)
    assert "No merge reaches that: merging is forbidden in sex, age and school." in text


def test_a_plan_that_only_asks_more_people_says_which_questions_forbid_the_rest() -> None:
    survey = forbidding(loaded(TEXT), "age", "school")
    wanted = {"percent": 0.1, "people": 40, "by": "expected"}
    proposals = ko.plan_survey(survey, **wanted)
    assert [proposal.more_people > 0 for proposal in proposals] == [True]
    assert merging_forbidden_in(survey, proposals, **wanted) == ("age", "school")


@pytest.mark.parametrize(("text", "percent"), [(TEXT, 60), (TEXT.replace(", merge: false", ""), 0), (TEXT, 100)])
def test_forbidden_merges_are_not_blamed_for_anything_else(text: str, percent: float) -> None:
    survey = loaded(text)
    wanted = {"percent": percent, "people": 40, "by": "OR"}
    assert merging_forbidden_in(survey, ko.plan_survey(survey, **wanted), **wanted) == ()


def test_a_question_that_forbids_merging_is_written_as_it_was_read() -> None:
    survey = loaded(TEXT)
    assert not survey.questions["age"].merge
    assert ko.Survey.from_dict(survey.to_dict()) == survey
    assert loaded(survey.to_yaml()) == survey


@pytest.mark.parametrize("word", ["no", "0", "[]"])
def test_merge_is_true_or_false(word: str) -> None:
    with pytest.raises(ko.InputError, match="merge is true or false") as caught:
        loaded(TEXT.replace("merge: false", f"merge: {word}"))
    assert caught.value.code == "survey-incomplete"
