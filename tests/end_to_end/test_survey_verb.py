"""`kohorte survey` as a user runs it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kohorte as ko

Run = Callable[..., Any]
COMMAND_LINE = Path(__file__).parents[2] / "docs" / "command-line.md"

SURVEY = """\
people: 100
questions:
  sex: {categories: {female: 0.5, male: 0.5}}
  school: {categories: [primary, secondary, tertiary]}
  age: {categories: {young: 0.4, middle: 0.3, older: 0.2, old: 0.1}}
"""


@pytest.fixture
def survey(folder: Path) -> Path:
    (folder / "survey.yaml").write_text(SURVEY)
    return folder / "survey.yaml"


def documented(title: str) -> set[str]:
    text = COMMAND_LINE.read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]
    return set(re.findall(r"`([^`]+)`", text))


def test_an_estimate_explains_itself(survey: Path, run: Run) -> None:
    ran = run("survey", "estimate", survey)
    assert ran.code == 0
    assert "100 people, 3 questions, 24 combinations of answers" in ran.out
    for words in ("OR, the ORWELL coefficient", "21.6", "can be recognized", "What to do", "at worst"):
        assert words in ran.out


def test_an_estimate_as_json_has_the_documented_keys(survey: Path, run: Run) -> None:
    answer = run("survey", "estimate", survey, "--json").json
    assert answer["cells"] == 24
    assert answer["people"] == 100
    assert answer["OR"]["coefficient"] == pytest.approx(21.577, abs=1e-3)
    assert answer["FG"] == {"coefficient": 12, "deanonymizable_percent": 12.0}
    assert answer["RT"]["coefficient"] == 6
    assert answer["RR"]["coefficient"] == 0
    assert answer["expected"]["singles"] == pytest.approx(2.821, abs=1e-3)
    low, high = answer["simulation"]["interval"]
    assert low < answer["simulation"]["singles"] < high
    assert answer["worst_case"]["exact"] is True
    assert answer["worst_case"]["singles"] == 18
    keys = {key for value in answer.values() if isinstance(value, dict) for key in value} | set(answer)
    assert keys <= documented("survey estimate")


def test_several_numbers_of_people_give_several_estimates(survey: Path, run: Run) -> None:
    answer = run("survey", "estimate", survey, "--people", "10,1000", "--json").json
    assert [estimate["people"] for estimate in answer["estimates"]] == [10, 1000]
    assert run("survey", "estimate", survey, "--people", "10,1000").out.count("24 combinations of answers") == 2


def test_a_plan_lists_what_can_be_done(survey: Path, run: Run) -> None:
    ran = run("survey", "plan", survey, "--percent", "10", "--by", "OR")
    assert ran.code == 0
    assert "1. ask 216 people instead of 100" in ran.out
    assert "bits)" in ran.out


def test_a_plan_as_json_has_the_documented_keys_and_surveys_that_can_be_read(survey: Path, run: Run) -> None:
    answer = run("survey", "plan", survey, "--percent", "10", "--people", "50", "--by", "expected", "--json").json
    assert (answer["people"], answer["percent"], answer["by"]) == (50, 10.0, "expected")
    assert answer["proposals"]
    keys = set(answer)
    for proposal in answer["proposals"]:
        again = ko.Survey.from_dict(proposal["survey"])
        assert ko.estimate_survey(again, simulation=False).expected.deanonymizable_percent <= 10 + 1e-6
        keys |= set(proposal) | {key for merge in proposal["merges"] for key in merge} | set(proposal["figures"])
    assert keys <= documented("survey plan")


def test_a_percentage_that_nothing_reaches_ends_with_1(survey: Path, run: Run) -> None:
    ran = run("survey", "plan", survey, "--percent", "0", "--by", "OR")
    assert ran.code == 1
    assert "neither merging categories nor any number of people" in ran.out


BAD = {
    "a sum": ("male: 0.5}", "male: 0.4}", "survey-sum"),
    "a negative frequency": ("female: 0.5", "female: -0.5", "survey-frequency"),
    "no people": ("people: 100\n", "", "survey-people"),
    "nobody": ("people: 100", "people: 0", "survey-people"),
    "a half person": ("people: 100", "people: 1.5", "survey-people"),
    "an unknown key": ("people: 100", "peopl: 100", "survey-unknown-key"),
    "no category": ("[primary, secondary, tertiary]", "[]", "survey-no-category"),
    "a category twice": ("[primary, secondary, tertiary]", "[primary, primary]", "survey-category-twice"),
    "no YAML": ("people: 100", "people: [", "survey-yaml"),
    "a joint table": ("people: 100", "joint: [{questions: [sex, agee], table: [[1]]}]\npeople: 100", "survey-joint"),
}


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("verb", [("estimate",), ("plan", "--percent", "5")])
def test_bad_surveys_are_refused_with_a_code(survey: Path, run: Run, what: str, verb: tuple[str, ...]) -> None:
    old, new, code = BAD[what]
    assert old in SURVEY
    survey.write_text(SURVEY.replace(old, new))
    action, *options = verb
    ran = run("survey", action, survey, *options, "--json")
    assert ran.code == 2
    assert ran.json["error"] == code
    assert f"[{code}]" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("people", ["0", "-5", "2.5", "many", "10,", "", "10,0"])
def test_a_number_of_people_that_is_none_is_refused(survey: Path, run: Run, people: str) -> None:
    ran = run("survey", "estimate", survey, f"--people={people}")
    assert (ran.code, ran.out) == (2, "")
    assert "[survey-people]" in ran.err


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--percent", "101"), "survey-percent"),
        (("--percent", "nan"), "survey-percent"),
        (("--percent", "5", "--by", "ORR"), "survey-estimator"),
        (("--percent", "5", "--people", "5,6"), "survey-people"),
    ],
)
def test_wrong_options_of_a_plan_are_refused(survey: Path, run: Run, options: tuple[str, ...], code: str) -> None:
    ran = run("survey", "plan", survey, *options)
    assert ran.code == 2
    assert f"[{code}]" in ran.err


def test_a_file_that_is_not_there_or_not_text_is_refused(folder: Path, run: Run) -> None:
    assert "[survey-unreadable]" in run("survey", "estimate", "none.yaml").err
    (folder / "binary.yaml").write_bytes(b"\xff\xfe\x00people")
    assert "[survey-unreadable]" in run("survey", "estimate", "binary.yaml").err


def test_rounded_frequencies_are_scaled_if_wanted_and_the_answer_says_so(survey: Path, run: Run) -> None:
    survey.write_text(SURVEY.replace("male: 0.5}", "male: 0.49}"))
    refused = run("survey", "estimate", survey)
    assert refused.code == 2
    assert "0.99" in refused.err
    assert "--normalize" in refused.err
    assert "divided by their sum: sex (sum 0.99)" in run("survey", "estimate", survey, "--normalize").out
    for verb in (("estimate",), ("plan", "--percent", "10")):
        ran = run("survey", verb[0], survey, *verb[1:], "--normalize", "--json")
        assert ran.json["scaled"] == {"sex": 0.99}
    assert "sex (sum 0.99)" in run("survey", "plan", survey, "--percent", "10", "--normalize").out


def test_a_missing_or_wrong_number_of_people_names_the_option(survey: Path, run: Run) -> None:
    survey.write_text(SURVEY.replace("people: 100\n", ""))
    assert "--people" in run("survey", "estimate", survey).err
    assert "--people" in run("survey", "plan", survey, "--percent", "5").err
    assert "--people" in run("survey", "estimate", survey, "--people", "0").err


def test_one_person_is_no_people(survey: Path, run: Run) -> None:
    ran = run("survey", "estimate", survey, "--people", "1")
    assert "1 person, 3 questions" in ran.out
    assert "the only person asked" in ran.out


@pytest.mark.parametrize("content", [b"", b"- a\n- b\n", b"text"])
def test_a_file_that_is_no_mapping_is_refused(survey: Path, run: Run, content: bytes) -> None:
    survey.write_bytes(content)
    assert "[survey-yaml]" in run("survey", "estimate", survey).err


def test_umlauts_a_byte_order_mark_and_windows_line_ends_are_read(survey: Path, run: Run) -> None:
    survey.write_bytes("\ufeffpeople: 30\r\nquestions:\r\n  größe: {categories: [klein, groß, außen]}\r\n".encode())
    ran = run("survey", "plan", survey, "--percent", "8", "--by", "OR", "--json")
    assert ran.json["proposals"][-1]["merges"][0]["question"] == "größe"


def test_a_plan_by_the_worst_case_is_made(survey: Path, run: Run) -> None:
    ran = run("survey", "plan", survey, "--percent", "10", "--by", "worst")
    assert ran.code == 0
    assert "judged by the worst case" in ran.out


def test_help_shows_examples(run: Run) -> None:
    for action in ("estimate", "plan"):
        ran = run("survey", action, "--help")
        assert ran.code == 0
        assert "examples:" in ran.out


def test_an_estimate_draws_the_risk_over_the_number_of_people(survey: Path, run: Run) -> None:
    ran = run("survey", "estimate", survey, "--plot", "risk.svg")
    assert ran.code == 0
    assert "plot: risk.svg" in ran.out
    assert "number of people" in (survey.parent / "risk.svg").read_text("utf-8")
    again = run("survey", "estimate", survey, "--plot", "risk.svg")
    assert (again.code, again.out) == (2, "")
    assert run("survey", "estimate", survey, "--plot", "risk.svg", "--force").code == 0


def test_a_plan_names_the_questions_that_forbid_merging(survey: Path, run: Run) -> None:
    survey.write_text(SURVEY.replace("}}", "}, merge: false}").replace("]}", "], merge: false}"))
    ran = run("survey", "plan", survey, "--percent", "0")
    assert ran.code == 1
    assert "merging is forbidden in sex, school and age" in ran.out
    answer = run("survey", "plan", survey, "--percent", "0", "--json").json
    assert answer["merging_forbidden_in"] == ["sex", "school", "age"]


def test_estimate_and_plan_judge_by_the_expected_number_by_default(survey: Path, run: Run) -> None:
    assert run("survey", "estimate", survey, "--json").json["by"] == "expected"
    assert run("survey", "plan", survey, "--percent", "5", "--json").json["by"] == "expected"
    assert "(OR)" in run("survey", "estimate", survey, "--by", "OR").out
