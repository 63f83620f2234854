"""The survey planner: the figures of the command, merges that are tried and forbidden, files, and the slider."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
import yaml
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, expect

import kohorte as ko
from kohorte.cli.main import main
from kohorte.service.context import Service
from kohorte.service.permissions import Role
from support.browser import look, opened, served
from support.browser import sign_in as sign_in_with
from support.screens import enter, token_of, words
from support.service import new_user_with, on_sqlite

pytestmark = on_sqlite
PAGE = "/app/survey"
EVIL = '"><script>alert(1)</script>'
FIELDS = {
    "questions": "3",
    "people": "40",
    "percent": "2",
    "question-0": "sex",
    "answers-0": "2",
    "answer-0-0": "female",
    "share-0-0": "51 %",
    "answer-0-1": "male",
    "share-0-1": "0,49",
    "ordered-0": "yes",
    "merge-0": "yes",
    "question-1": "school",
    "answers-1": "3",
    "answer-1-0": "primary",
    "answer-1-1": "secondary",
    "answer-1-2": "tertiary",
    "ordered-1": "yes",
    "question-2": "region",
    "answers-2": "2",
    "answer-2-0": "north",
    "share-2-0": "1/2",
    "answer-2-1": "south",
    "share-2-1": "0.5",
    "merge-2": "yes",
}


@pytest.fixture
def fields(service: Service, client: TestClient) -> dict[str, str]:
    """The fields of a small questionnaire, for a researcher who is signed in."""
    enter(service, client, Role.RESEARCHER)
    return {**FIELDS, "form_token": token_of(client)}


def figure(page: str, name: str) -> str:
    found = re.search(rf'data-(?:figure|estimate)="{name}">(.*?)</(?:td|p)>', page, re.DOTALL)
    assert found is not None, name
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", found[1])).split())


def commanded(capsys: pytest.CaptureFixture[str], file: Path, *options: str) -> dict[str, object]:
    main(["survey", options[0], str(file), *options[1:], "--json"])
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_the_figures_are_those_of_the_command_for_the_saved_file(
    client: TestClient, fields: dict[str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "survey.yaml"
    file.write_text(client.post(f"{PAGE}/yaml", data=fields).text, encoding="utf-8")
    estimate = ko.estimate_survey(ko.Survey.from_yaml(file))
    quick = client.post(PAGE, data=fields).text
    assert figure(quick, "expected").startswith(f"{estimate.expected.singles:,.1f} (")
    assert figure(quick, "verdict") == estimate.verdict
    whole = client.post(f"{PAGE}/estimate", data=fields).text
    told = commanded(capsys, file, "estimate")
    for name, entry in (("expected", "expected"), ("worst", "worst_case"), ("best", "best_case")):
        rows = re.findall(rf'data-estimate="{name}">([^<]*)<', whole)
        assert rows == [f"{told[entry]['singles']:,.1f}"]  # type: ignore[index]
    for name in ("OR", "FG", "RT", "RR"):
        assert figure(whole, name) == f"{told[name]['coefficient']:,.1f}"  # type: ignore[index]


def test_the_proposals_are_those_of_the_command_and_can_be_tried(
    client: TestClient, fields: dict[str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "survey.json"
    file.write_text(client.post(f"{PAGE}/json", data=fields).text, encoding="utf-8")
    told = commanded(capsys, file, "plan", "--percent", "2")
    planned = client.post(f"{PAGE}/plan", data=fields)
    buttons = [json.loads(html.unescape(one)) for one in re.findall(r'name="apply" value="([^"]*)"', planned.text)]
    proposals: list[dict[str, object]] = told["proposals"]  # type: ignore[assignment]
    assert [people for _, people in buttons] == [one["people"] for one in proposals]
    expected = [{merge["question"]: merge["groups"] for merge in one["merges"]} for one in proposals]  # type: ignore[attr-defined]
    assert [merges for merges, _ in buttons] == expected
    tried = client.post(PAGE, data={**fields, "apply": json.dumps([{"region": [["north", "south"]]}, 40])}).text
    assert figure(tried, "lost") != "0.0 %"
    assert float(figure(tried, "expected-merged").split()[0]) < float(figure(tried, "expected").split()[0])
    kept = client.post(PAGE, data={**fields, "group-2-0": "A", "group-2-1": "A", "do": "keep"}).text
    assert "question-2" not in kept


def test_merges_that_a_question_forbids_are_told(client: TestClient, fields: dict[str, str]) -> None:
    answer = client.post(PAGE, data={**fields, "group-1-0": "A", "group-1-1": "A"})
    assert (answer.status_code, "forbids merging" in words(answer)) == (400, True)
    assert 'value="secondary"' in answer.text


def test_a_file_comes_in_and_goes_out_unchanged(client: TestClient, fields: dict[str, str]) -> None:
    survey = {
        "people": 30,
        "questions": {"a b %": {"categories": {"x": "1/3", "y": "2/3"}}, "c": {"categories": ["u", "v"]}},
        "joint": [{"questions": ["a b %", "c"], "table": [["1/6", "1/6"], ["1/3", "1/3"]]}],
    }
    upload = {"file": (f"{EVIL}.yaml", yaml.safe_dump(survey), "text/yaml")}
    page = client.post(f"{PAGE}/file", data={"form_token": fields["form_token"]}, files=upload)
    assert page.status_code == 200, words(page)
    assert "joint tables" in words(page)
    joint = re.search(r'name="joint" value="([^"]*)"', page.text)
    assert joint is not None
    sent = {"form_token": fields["form_token"], "questions": "2", "people": "30", "joint": html.unescape(joint[1])}
    sent |= {"question-0": "a b %", "answers-0": "2", "answer-0-0": "x", "share-0-0": "1/3", "answer-0-1": "y"}
    sent |= {"share-0-1": "2/3", "ordered-0": "1", "merge-0": "1", "ordered-1": "1", "merge-1": "1"}
    sent |= {"question-1": "c", "answers-1": "2", "answer-1-0": "u", "answer-1-1": "v"}
    out = yaml.safe_load(client.post(f"{PAGE}/yaml", data=sent).text)
    assert ko.Survey.from_dict(out) == ko.Survey.from_dict(survey)
    broken = client.post(f"{PAGE}/file", data={"form_token": fields["form_token"]}, files={"file": ("x", "[1")})
    assert (broken.status_code, "survey-yaml" in broken.text) == (400, True)


@pytest.mark.parametrize(
    "changes",
    [
        {"people": "many"},
        {"share-0-0": ""},
        {"answer-0-1": "female"},
        {"question-1": "sex"},
        {"joint": "{"},
        {"share-0-0": "x %"},
        {"questions": "9999"},
        {"percent": "x"},
        {"apply": "[1]"},
    ],
)
def test_what_cannot_be_read_is_told(client: TestClient, fields: dict[str, str], changes: dict[str, str]) -> None:
    answer = client.post(PAGE, data={**fields, **changes})
    assert (answer.status_code, "survey-form" in answer.text) == (400, True)


def test_questions_answers_and_files_are_no_markup(client: TestClient, fields: dict[str, str]) -> None:
    evil = {**fields, "question-0": EVIL, "answer-0-0": EVIL, "share-1-0": EVIL}
    for path in (PAGE, f"{PAGE}/panel", f"{PAGE}/plan", f"{PAGE}/estimate"):
        assert "<script>alert" not in client.post(path, data=evil).text
    harmless = {**evil, "share-1-0": ""}
    page = client.post(f"{PAGE}/plan", data=harmless)
    assert page.status_code == 200, words(page)
    assert "<script>alert" not in page.text
    assert "&lt;script&gt;" in page.text


def test_questions_are_added_and_removed(client: TestClient, fields: dict[str, str]) -> None:
    more = client.post(PAGE, data={**fields, "do": "question"}).text
    assert 'name="question-3"' in more
    fewer = client.post(PAGE, data={**fields, "drop": "1"}).text
    assert 'value="school"' not in fewer
    assert 'value="region"' in fewer


@pytest.mark.slow
def test_the_slider_changes_the_figures_in_a_browser(service: Service, chromium: Browser) -> None:
    new_user_with(service, Role.STEWARD)  # without one, the set-up page comes first
    row = new_user_with(service, Role.DATA_PROTECTION_OFFICER)
    with served(service) as address, opened(chromium, address) as page:
        sign_in_with(page, row.email_address)
        page.get_by_role("link", name="Survey").click()
        expected = page.locator("[data-figure=expected]")
        expect(expected).to_contain_text("33.6", timeout=30_000)
        page.locator("[data-slider]").fill("400")
        expect(page.locator("#people")).to_have_value("400")
        expect(expected).not_to_contain_text("33.6", timeout=30_000)
        page.get_by_label("Merge east with").select_option("A")
        page.get_by_label("Merge west with").select_option("A")
        expect(page.locator("[data-figure=lost]")).to_be_visible(timeout=30_000)
        look(page)
        smallest = page.evaluate(
            "Math.min(...[...document.querySelectorAll('figure svg text')].map(t => t.getBoundingClientRect().height))"
        )
        assert smallest >= 10
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.querySelector('figure svg').getBoundingClientRect().width") >= 690


@pytest.mark.slow
def test_the_planner_works_without_scripts(service: Service, chromium: Browser) -> None:
    row = new_user_with(service, Role.STEWARD)
    with served(service) as address, opened(chromium, address, java_script_enabled=False) as page:
        sign_in_with(page, row.email_address)
        page.goto(PAGE)
        expect(page.locator("[data-slider]")).to_be_hidden()
        page.fill("#people", "400")
        page.get_by_role("button", name="Show the risk").click()
        expect(page.locator("[data-figure=expected]")).to_be_visible(timeout=30_000)
