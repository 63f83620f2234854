"""The plan editor: fields and text of a plan, previews that equal the release, and the project that follows."""

from __future__ import annotations

import html
import json
import re
import time
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
import yaml
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, expect

import kohorte as ko
from kohorte.service.context import Service
from kohorte.service.house_rules import HouseRules
from kohorte.service.permissions import Role
from kohorte.service.settings import Settings
from support.browser import look, opened, served
from support.browser import sign_in as sign_in_with
from support.projects import store_dataset, working
from support.screens import enter, sign_in, token_of, words
from support.service import client_of, new_service, new_user_with, on_sqlite

pytestmark = on_sqlite
PLAN = "/app/datasets/1/plan"


def cohort() -> pl.DataFrame:
    return ko.cohort(400, seed=3).select(pl.all().cast(pl.String))


def fields_of(page: str) -> dict[str, str]:
    """The fields of the plan form with their present values, as a browser would send them."""
    form = page[page.index('id="plan"') : page.index("</form>", page.index('id="plan"'))]
    found: dict[str, str] = {}
    for match in re.finditer(r"<(input|textarea|select)\b([^>]*)>(.*?)(?=<input|<textarea|<select|$)", form, re.DOTALL):
        kind, attributes, rest = match.groups()
        name = re.search(r'name="([^"]+)"', attributes)
        if name is None:
            continue
        if kind == "input":
            value = re.search(r'value="([^"]*)"', attributes)
            found[name[1]] = html.unescape(value[1]) if value else ""
        elif kind == "textarea":
            found[name[1]] = html.unescape(rest[: rest.index("</textarea>")])
        else:
            options = re.findall(r'<option value="([^"]*)"( selected)?', rest[: rest.index("</select>")])
            chosen = [value for value, selected in options if selected] or [options[0][0]]
            found[name[1]] = html.unescape(chosen[0])
    return found


@pytest.fixture
def editor(service: Service, client: TestClient) -> dict[str, str]:
    """The fields of the editor as they come with the proposal."""
    row = enter(service, client, Role.STEWARD)
    store_dataset(service, cohort(), row.id)
    answer = client.get(PLAN)
    assert answer.status_code == 200, answer.text
    return fields_of(answer.text)


def figure(page: str, name: str) -> str:
    found = re.search(rf'data-figure="{name}">(.*?)</dd>', page, re.DOTALL)
    assert found is not None
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", found[1])).split())


def test_the_preview_equals_the_release_of_the_exported_plan(client: TestClient, editor: dict[str, str]) -> None:
    for k in ("5", "10"):
        editor["k"] = k
        page = client.post(PLAN, data=editor).text
        exported = client.post(f"{PLAN}/yaml", data=editor)
        assert exported.headers["content-disposition"].endswith('.yaml"')
        plan = ko.Plan.from_dict(yaml.safe_load(exported.text))
        release = ko.anonymize(cohort(), plan)
        assert figure(page, "suppressed").startswith(f"{release.suppressed:,} of 400")
        assert figure(page, "cost").startswith(f"{100 * release.cost:,.1f} %")
        assert plan.fingerprint()[:16] in page


def test_a_second_preview_tells_what_has_changed(client: TestClient, editor: dict[str, str]) -> None:
    first = client.post(f"{PLAN}/panel", data=editor).text
    before = dict(re.findall(r'name="(before-\w+)" value="([^"]*)"', first))
    assert 'class="change"' not in first
    second = client.post(f"{PLAN}/panel", data={**editor, **before, "k": "20"}).text
    assert 'class="change"' in second


def test_a_change_of_the_metric_is_named_in_words_and_compares_no_costs_of_two_metrics(
    client: TestClient, editor: dict[str, str]
) -> None:
    first = client.post(f"{PLAN}/panel", data=editor).text
    before = dict(re.findall(r'name="(before-\w+)" value="([^"]*)"', first))
    other = {**editor, "metric": "precision_monotone"}
    second = client.post(f"{PLAN}/panel", data={**other, **before}).text
    assert "Cost (precision, as if nothing were suppressed)" in second
    assert "(" not in figure(second, "cost")
    before = dict(re.findall(r'name="(before-\w+)" value="([^"]*)"', second))
    assert "(" in figure(client.post(f"{PLAN}/panel", data={**other, **before, "k": "40"}).text, "cost")


def test_a_refused_preview_names_no_place_in_the_json_of_rest(client: TestClient, editor: dict[str, str]) -> None:
    headers = {"Accept-Language": "de"}
    told = words(client.post(f"{PLAN}/panel", data={**editor, "k": "0"}, headers=headers))
    assert "config" not in told
    assert "models: Eintrag 1: k muss eine ganze Zahl von mindestens 1 sein" in told


def test_what_the_form_does_not_show_stays_in_the_plan(client: TestClient, editor: dict[str, str]) -> None:
    plan = yaml.safe_load(editor["text"])
    plan["attributes"]["zip"]["weight"] = 0.5
    plan["models"].append({"model": "average-risk", "threshold": 0.2})
    plan["search"] = {"algorithm": "flash"}
    page = client.post(PLAN, data={**editor, "text": yaml.safe_dump(plan), "use": "text"}).text
    changed = fields_of(page)
    changed["k"] = "7"
    found = yaml.safe_load(client.post(f"{PLAN}/yaml", data=changed).text)
    assert found["attributes"]["zip"]["weight"] == 0.5
    assert found["search"]["algorithm"] == "flash"
    assert {"model": "average-risk", "threshold": 0.2} in found["models"]
    assert {"model": "k-anonymity", "k": 7} in found["models"]


def test_the_editor_protects_people_against_somebody_who_knows_all_their_rows(
    client: TestClient, editor: dict[str, str]
) -> None:
    plan = yaml.safe_load(editor["text"])
    plan["person"] = {"column": "ssn", "counted_because": "the numbers are those of the hospital"}
    page = client.post(PLAN, data={**editor, "text": yaml.safe_dump(plan), "use": "text"}).text
    chosen = fields_of(page)
    assert (chosen["person"], chosen["knows"]) == ("column:ssn", "one_row")
    found = yaml.safe_load(client.post(f"{PLAN}/yaml", data={**chosen, "knows": "all_rows"}).text)
    assert found["person"] == {**plan["person"], "attacker_knows": "all_rows"}
    plain = {**chosen, "base": json.dumps({**found, "person": "ssn"}), "knows": "one_row"}
    assert yaml.safe_load(client.post(f"{PLAN}/yaml", data=plain).text)["person"] == "ssn"
    nobody = client.post(f"{PLAN}/yaml", data={**chosen, "knows": "all_rows", "person": "none"})
    assert yaml.safe_load(nobody.text)["person"] == "none"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"k": "many"}, "k: is a number"),
        ({"limit": "x"}, "limit: is a number"),
        ({"hierarchy-2": "redaction: [unclosed"}, "zip"),
        ({"text": "[1, 2", "use": "text"}, "plan-yaml"),
        ({"base": "{{"}, "plan-form"),
    ],
)
def test_what_cannot_be_read_is_told_and_the_editor_stays(
    client: TestClient, editor: dict[str, str], changes: dict[str, str], told: str
) -> None:
    answer = client.post(PLAN, data={**editor, **changes})
    assert answer.status_code == 400
    assert told in words(answer)
    assert 'id="plan"' in answer.text


def test_a_rule_of_the_house_is_told_before_a_project_is_made(service_settings: Settings) -> None:
    strict = replace(service_settings, rules=HouseRules.from_dict({"least_k": 8}))
    with new_service(strict) as service, client_of(service) as client:
        row = enter(service, client, Role.STEWARD)
        store_dataset(service, cohort(), row.id)
        answer = client.post(PLAN, data={**fields_of(client.get(PLAN).text), "k": "5"})
        assert "least_k" in words(answer)


def test_a_project_is_made_from_the_editor(service: Service, client: TestClient, editor: dict[str, str]) -> None:
    nobody = client.post(f"{PLAN}/project", data=editor)
    assert "choose the researcher" in words(nobody)
    researcher = new_user_with(service, Role.RESEARCHER)
    with working(service):
        answer = client.post(f"{PLAN}/project", data={**editor, "researcher": str(researcher.id), "name": "Mine"})
        assert "The project has been created." in words(answer)
        until_done(client, answer.url.path)
    sign_in(client, researcher.email_address)
    assert "Mine" in words(client.get("/app/projects"))


def until_done(client: TestClient, path: str) -> None:
    for _ in range(300):
        state: dict[str, Any] = client.get(f"{path}/state").json()
        if state["ended"]:
            assert state["state"] == "done"
            return
        time.sleep(0.1)
    raise AssertionError("the job has not ended")


def test_researchers_and_officers_do_not_reach_the_editor(service: Service, client: TestClient) -> None:
    row = new_user_with(service, Role.STEWARD)
    store_dataset(service, cohort(), row.id)
    for role in (Role.RESEARCHER, Role.DATA_PROTECTION_OFFICER, Role.APPROVER):
        enter(service, client, role)
        assert client.get(PLAN).status_code == 403
        answer = client.post(f"{PLAN}/panel", data={"form_token": token_of(client)})
        assert answer.status_code == 403


def test_the_preview_follows_the_form_in_a_browser(service: Service, chromium: Browser) -> None:
    row = new_user_with(service, Role.STEWARD)
    store_dataset(service, cohort(), row.id)
    with served(service) as address, opened(chromium, address) as page:
        sign_in_with(page, row.email_address)
        page.goto(PLAN)
        suppressed = page.locator("[data-figure=suppressed]")
        expect(suppressed).to_be_visible(timeout=30_000)
        smallest = page.locator("[data-figure=smallest]")
        page.fill("#k", "40")
        expect(smallest).to_contain_text("(+", timeout=30_000)
        look(page)
        page.select_option("#role-5", "insensitive")
        page.wait_for_load_state()
        expect(page.locator("#role-5")).to_have_value("insensitive")


def test_help_with_choosing_shows_what_the_preview_shows_for_each_value(
    client: TestClient, editor: dict[str, str]
) -> None:
    typed = editor | {"k": "5", "comment": "<b>kept</b>"}
    at_once = client.post(f"{PLAN}/curves", data=typed).text
    assert 'data-figures="/app/datasets/1/plan/curves/figures"' in at_once
    assert 'id="values-k"' not in at_once
    page = client.post(f"{PLAN}/curves", data=typed | {"show": "yes"})
    assert page.status_code == 200
    alone = client.post(f"{PLAN}/curves/figures", data=typed).text
    assert alone[alone.index('id="values-k"') :].strip() in page.text
    table = page.text[page.text.index('id="values-k"') :]
    for k in ("5", "10"):
        row = re.search(rf'<th scope="row">{k}\b.*?</tr>', table, re.DOTALL)
        assert row is not None
        cells = [html.unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row[0], re.DOTALL)]
        preview = client.post(PLAN, data=editor | {"k": k}).text
        assert cells[0].replace("\u00a0", " ") == figure(preview, "cost").split(" (")[0].replace("\u00a0", " ")
        assert figure(preview, "suppressed").startswith(f"{cells[1]} of")
        assert cells[2] == figure(preview, "smallest").split(" (")[0]
    assert 'name="comment" value="&lt;b&gt;kept&lt;/b&gt;"' in page.text
    assert "style=" not in page.text


def test_help_with_choosing_is_for_those_who_may_see_values(service: Service, client: TestClient) -> None:
    row = new_user_with(service, Role.STEWARD)
    store_dataset(service, cohort(), row.id)
    enter(service, client, Role.APPROVER)
    assert client.post(f"{PLAN}/curves", data={"form_token": token_of(client)}).status_code == 403


def test_a_plan_with_percent_signs_comes_back_from_the_form_as_it_was(
    client: TestClient, editor: dict[str, str]
) -> None:
    editor["title"], editor["purpose"] = "Reduce 5 % of readmissions", "at most 10 % more"
    before = yaml.safe_load(client.post(f"{PLAN}/yaml", data=editor).text)
    again = fields_of(client.post(PLAN, data=editor).text)
    assert (again["title"], again["purpose"]) == (editor["title"], editor["purpose"])
    again["text"] = ""
    assert yaml.safe_load(client.post(f"{PLAN}/yaml", data=again).text) == before
