"""Surveys as YAML and dictionaries: nothing is lost, and what is wrong is refused with its place."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.data import strict_yaml
from kohorte.survey import JointTable, Question
from kohorte.survey.questionnaire.frequencies import whole_people
from support.surveys import of, surveys

TEXT = """\
people: 500
questions:
  sex: {categories: {female: 0.5, male: 0.5}}
  school: {categories: [primary, secondary, tertiary]}
  age: {categories: [young, old]}
  region: {categories: [north, south], ordered: false}
joint:
  - {questions: [school, age], table: [[0.1, 0.2], [0.2, 0.3], [0.15, 0.05]]}
"""


def loaded(text: str) -> ko.Survey:
    return ko.Survey.from_dict(strict_yaml.load(text, source="survey.yaml", code="survey-yaml"))


def test_a_survey_file_says_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "survey.yaml").write_text(TEXT)
    survey = ko.Survey.from_yaml(tmp_path / "survey.yaml")
    assert survey.people == 500
    assert survey.cells == 2 * 3 * 2 * 2
    assert survey.questions["sex"].frequencies == (Fraction(1, 2), Fraction(1, 2))
    assert survey.questions["school"].frequencies is None
    assert not survey.questions["region"].ordered
    assert [block.questions for block in survey.blocks] == [("sex",), ("school", "age"), ("region",)]


def test_a_uniform_question_has_exact_thirds() -> None:
    assert of(3).blocks[0].probabilities == (Fraction(1, 3),) * 3


def test_frequencies_are_the_decimals_that_are_written() -> None:
    assert of([0.1, 0.9]).blocks[0].probabilities == (Fraction(1, 10), Fraction(9, 10))
    assert loaded("questions: {q: {categories: {a: 1/3, b: 2/3}}}").blocks[0].probabilities[0] == Fraction(1, 3)


def test_frequencies_that_sum_to_one_but_for_rounding_are_divided_by_their_sum() -> None:
    assert of([0.3333333, 0.3333333, 0.3333333]).blocks[0].probabilities == (Fraction(1, 3),) * 3


@given(surveys(), st.none() | st.integers(1, 10**9))
def test_a_survey_comes_back_as_it_was(survey: ko.Survey, people: int | None) -> None:
    survey = ko.Survey(questions=survey.questions, people=people)
    assert loaded(survey.to_yaml()) == survey
    assert ko.Survey.from_dict(survey.to_dict()) == survey
    assert pickle.loads(pickle.dumps(survey)) == survey
    assert hash(copy.deepcopy(survey)) == hash(survey)
    assert eval(repr(survey), {"Survey": ko.Survey}) == survey


def test_a_survey_with_joint_tables_comes_back_as_it_was() -> None:
    survey = loaded(TEXT)
    assert loaded(survey.to_yaml()) == survey
    three = JointTable(("a", "b", "c"), (2, 1, 3), tuple(Fraction(1, 6) for _ in range(6)))
    questions = {"a": Question(("x", "y")), "b": Question(("x",)), "c": Question(("x", "y", "z"))}
    survey = ko.Survey(questions, 3, [three])
    assert ko.Survey.from_dict(survey.to_dict()) == survey


def test_a_joint_table_of_independent_questions_changes_nothing() -> None:
    apart = of([0.2, 0.8], [0.5, 0.3, 0.2], people=40)
    table = [[0.1, 0.06, 0.04], [0.4, 0.24, 0.16]]
    names = {"q0": {"categories": ["c0", "c1"]}, "q1": {"categories": ["c0", "c1", "c2"]}}
    together = ko.Survey(names, 40, [{"questions": ["q0", "q1"], "table": table}])
    one, other = (ko.estimate_survey(survey, simulation=False) for survey in (apart, together))
    for name in ("FG", "RT", "RR"):
        assert one.figures[name] == other.figures[name]
    assert one.OR.value == pytest.approx(other.OR.value)
    assert one.expected.singles == pytest.approx(other.expected.singles)


def test_questions_that_depend_on_each_other_are_used_less() -> None:
    names = {"q0": {"categories": ["a", "b"]}, "q1": {"categories": ["a", "b"]}}
    survey = ko.Survey(names, 40, [{"questions": ["q0", "q1"], "table": [[0.5, 0], [0, 0.5]]}])
    assert ko.estimate_survey(survey, simulation=False).OR.value == 2
    assert survey.cells == 4


WRONG = {
    "a sum that is not 1": ("sex: {categories: {f: 0.5, m: 0.4}}", "survey-sum", "sum to 0.9,"),
    "a sum above 1": ("sex: {categories: {f: 0.5, m: 0.50001}}", "survey-sum", "1.00001"),
    "a negative frequency": ("sex: {categories: {f: -0.5, m: 1.5}}", "survey-frequency", "'f'"),
    "a frequency above 1": ("sex: {categories: {m: 1.5}}", "survey-sum", "sum to 1.5"),
    "rounded thirds": ("sex: {categories: {a: .33, b: .33, c: .33}}", "survey-sum", "rounded, write normalize: true"),
    "percentages": ("sex: {categories: {f: 33.3, m: 66.6}}", "survey-sum", "sum to 99.9, not to 1; if they are perc"),
    "counts": ("sex: {categories: {f: 310, m: 290}}", "survey-sum", "counts, write normalize: true, or --normalize"),
    "a frequency in words": ("sex: {categories: {f: half, m: 0.5}}", "survey-frequency", "'f'"),
    "no frequency": ("sex: {categories: {f: , m: 0.5}}", "survey-frequency", "'f'"),
    "a truth": ("sex: {categories: {f: true, m: 0}}", "survey-frequency", "'f'"),
    "a division by zero": ("sex: {categories: {f: 1/0, m: 0}}", "survey-frequency", "'f'"),
    "no category": ("sex: {categories: []}", "survey-no-category", "'sex'"),
    "no categories at all": ("sex: {ordered: true}", "survey-no-category", "'sex'"),
    "a list within the list": ("sex: {categories: [[a]]}", "survey-no-category", "'sex'"),
    "a category twice": ("sex: {categories: [f, m, f]}", "survey-category-twice", "'f'"),
    "a key twice": ("sex: {categories: {f: 0.5, f: 0.5}}", "survey-yaml", "twice"),
    "an unknown key": ("sex: {categorys: [f, m]}", "survey-unknown-key", "'categories'"),
    "no mapping": ("sex: [f, m]", "survey-incomplete", "'sex'"),
    "an order that is no truth": ("sex: {categories: [f, m], ordered: no}", "survey-incomplete", "true or false"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_question_is_refused_with_its_place(what: str) -> None:
    entry, code, words = WRONG[what]
    with pytest.raises(ko.InputError) as caught:
        loaded(f"people: 5\nquestions:\n  {entry}\n")
    assert caught.value.code == code
    assert words in caught.value.message


TABLES = {
    "a question that is not there": ("{questions: [school, agee], table: [[0.5, 0.5]]}", "did you mean 'age'"),
    "one question": ("{questions: [school], table: [0.2, 0.3, 0.5]}", "two or more"),
    "the same question twice": ("{questions: [age, age], table: [[0.2, 0.3], [0.2, 0.3]]}", "two or more"),
    "the wrong shape": ("{questions: [school, age], table: [[0.5, 0.5]]}", "need 3 x 2"),
    "rows of different lengths": ("{questions: [school, age], table: [[0.5, 0.5], [0]]}", "same length"),
    "no lists": ("{questions: [school, age], table: 5}", "same length"),
    "no table": ("{questions: [school, age]}", "same length"),
    "no questions": ("{table: [[0.5, 0.5]]}", "names its questions"),
}


@pytest.mark.parametrize("what", TABLES)
def test_a_wrong_joint_table_is_refused(what: str) -> None:
    entry, words = TABLES[what]
    with pytest.raises(ko.InputError) as caught:
        loaded(TEXT.split("joint:")[0] + f"joint:\n  - {entry}\n")
    assert caught.value.code == "survey-joint"
    assert words in caught.value.message


def test_a_wrong_cell_of_a_joint_table_is_named_by_its_place() -> None:
    table = {"questions": ["a", "b"], "table": [[0.5, 0.25, 0], [0, -0.25, 0.5]]}
    with pytest.raises(ko.InputError, match=r"cell at \(2, 2\) of the table about a and b must be between 0 and 1"):
        ko.Survey({"a": {"categories": ["x", "y"]}, "b": {"categories": ["x", "y", "z"]}}, 9, [table])


def test_a_question_stands_in_one_joint_table_only() -> None:
    again = "  - {questions: [age, region], table: [[0.25, 0.25], [0.25, 0.25]]}\n"
    with pytest.raises(ko.InputError, match="'age' is in two") as caught:
        loaded(TEXT + again)
    assert caught.value.code == "survey-joint"


def test_frequencies_beside_a_joint_table_must_be_its_margins() -> None:
    assert loaded(TEXT.replace("[young, old]", "{young: 0.45, old: 0.55}")).cells == 24
    with pytest.raises(ko.InputError, match="'age'") as caught:
        loaded(TEXT.replace("[young, old]", "{young: 0.5, old: 0.5}"))
    assert caught.value.code == "survey-joint"


def test_a_joint_table_sums_to_one() -> None:
    with pytest.raises(ko.InputError, match=r"school and age sum to 0\.9") as caught:
        loaded(TEXT.replace("0.1, 0.2]", "0.0, 0.2]"))
    assert caught.value.code == "survey-sum"


@pytest.mark.parametrize("people", [0, -1, 2.5, "many", True])
def test_people_are_a_whole_number_of_at_least_one(people: object) -> None:
    with pytest.raises(ko.InputError) as caught:
        ko.Survey(questions={"q": Question(("a",))}, people=people)  # type: ignore[arg-type]
    assert caught.value.code == "survey-people"


def test_without_people_nothing_can_be_estimated() -> None:
    with pytest.raises(ko.InputError) as caught:
        ko.estimate_survey(of(2))
    assert caught.value.code == "survey-people"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ([], "survey-yaml"),
        ({}, "survey-incomplete"),
        ({"questions": {}}, "survey-incomplete"),
        ({"questions": {"q": {"categories": ["a"]}}, "peple": 5}, "survey-unknown-key"),
        ({"questions": {"q": {"categories": ["a"]}}, "joint": "all"}, "survey-joint"),
        ({"questions": {"q": {"categories": ["a"]}}, "joint": [5]}, "survey-incomplete"),
        ({"questions": {f"q{n}": {"categories": ["a", "b"]} for n in range(1001)}}, "survey-too-large"),
    ],
)
def test_a_survey_that_is_none_is_refused(data: object, code: str) -> None:
    with pytest.raises(ko.InputError) as caught:
        ko.Survey.from_dict(data)
    assert caught.value.code == code


def test_a_joint_table_that_is_too_large_is_refused() -> None:
    names = {name: {"categories": [str(number) for number in range(400)]} for name in ("a", "b")}
    row = [Fraction(1, 160_000)] * 400
    with pytest.raises(ko.InputError) as caught:
        ko.Survey(names, 5, [{"questions": ["a", "b"], "table": [row] * 400}])
    assert caught.value.code == "survey-too-large"


@given(st.integers(1, 200), st.lists(st.integers(0, 20), min_size=1, max_size=6).filter(any))
def test_largest_remainders_divide_all_people(people: int, weights: list[int]) -> None:
    shares = [Fraction(weight, sum(weights)) for weight in weights]
    counts = whole_people(people, shares)
    assert sum(counts) == people
    assert all(abs(count - people * share) < 1 for count, share in zip(counts, shares, strict=True))
    assert all(count == 0 for count, share in zip(counts, shares, strict=True) if not share)


@pytest.mark.parametrize("thing", [None, "survey.yaml", {"people": 5}])
def test_something_else_than_a_survey_is_refused(thing):
    for ask in (ko.estimate_survey, lambda given: ko.plan_survey(given, percent=5)):
        with pytest.raises(ko.InputError) as caught:
            ask(thing)
        assert caught.value.code == "survey-type"


def test_frequencies_are_divided_by_their_sum_where_that_is_wanted() -> None:
    text = (
        "people: 9\nnormalize: true\nquestions:\n  sex: {categories: {f: 33.3, m: 66.6}}\n  age: {categories: [a, b]}\n"
    )
    survey = loaded(text)
    assert survey.questions["sex"].frequencies == (Fraction(1, 3), Fraction(2, 3))
    assert survey.scaled == {"sex": 99.9}
    assert ko.estimate_survey(survey, simulation=False).to_dict()["scaled"] == {"sex": 99.9}
    assert ko.Survey.from_dict(survey.to_dict()) == survey


def test_joint_counts_are_divided_by_their_sum() -> None:
    names = {name: {"categories": ["x", "y"]} for name in ("a", "b")}
    data = {"people": 9, "questions": names, "joint": [{"questions": ["a", "b"], "table": [[10, 20], [30, 40]]}]}
    survey = ko.Survey.from_dict(data, normalize=True)
    assert survey.joint[0].cells == (Fraction(1, 10), Fraction(1, 5), Fraction(3, 10), Fraction(2, 5))
    assert survey.scaled == {"a and b": 100.0}


def test_frequencies_that_sum_to_1_are_not_said_to_be_scaled() -> None:
    assert ko.Survey.from_dict(loaded(TEXT).to_dict(), normalize=True).scaled == {}


@pytest.mark.parametrize(
    ("categories", "code"),
    [({"f": 0, "m": 0}, "survey-sum"), ({"f": -1, "m": 2}, "survey-frequency"), ({"f": "x"}, "survey-frequency")],
)
def test_what_cannot_be_scaled_is_refused(categories: dict[str, object], code: str) -> None:
    with pytest.raises(ko.InputError, match="'sex'") as caught:
        ko.Survey.from_dict({"people": 5, "questions": {"sex": {"categories": categories}}}, normalize=True)
    assert caught.value.code == code


def test_normalize_is_true_or_false() -> None:
    with pytest.raises(ko.InputError, match="normalize") as caught:
        ko.Survey.from_dict({"normalize": "yes", "questions": {"sex": {"categories": ["f"]}}})
    assert caught.value.code == "survey-incomplete"
