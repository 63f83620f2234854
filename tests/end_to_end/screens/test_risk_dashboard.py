"""The risk dashboard: the figures of `kohorte risk`, amber if something is open, and no values for reviewers."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, expect

from kohorte.cli.main import main
from kohorte.service.assessments import assessment
from kohorte.service.audit_reading import Wanted, listed
from kohorte.service.context import Service
from kohorte.service.projects.configuration import Dataset, read_plan
from support.browser import look, opened, served
from support.browser import sign_in as sign_in_with
from support.drafts import Desk
from support.projects import interactive, patients, release, store_dataset, working
from support.screens import send, sign_in, words
from support.service import on_sqlite

pytestmark = on_sqlite
LABELS = ("angina", "stroke", "young", "adult", "47*")
POSTCODE = re.compile(r"\b476\b")
NASTY = "<script>alert(1)</script>"


@pytest.fixture
def desk(service: Service, client: TestClient) -> Desk:
    return Desk.of(service, client)


def made(desk: Desk, **more: Any) -> int:
    """A project with a release, and its number."""
    body = {"description": "", "dataset_id": desk.dataset_id, **desk.content(**more)}
    body.pop("comment")
    with working(desk.service):
        answer = desk.client.post("/api/v1/projects", json=body, headers=desk.steward.headers)
    assert answer.status_code == 201, answer.text
    return int(answer.json()["project_id"])


def by_rest(desk: Desk, path: str, by: Any = None) -> dict[str, Any]:
    answer = desk.client.get(f"/api/v1{path}", headers=(by or desk.steward).headers)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def by_command(desk: Desk, folder: Path, released: bytes, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What `kohorte risk` prints about the table and its release."""
    plan = read_plan(release(5, person="none"), Dataset(patients().columns, {}))
    patients().write_csv(folder / "patients.csv")
    (folder / "release.csv").write_bytes(released)
    (folder / "plan.yaml").write_text(plan.to_yaml(), encoding="utf-8")
    policy = yaml.safe_dump(desk.service.settings.policy.to_dict())
    (folder / "policy.yaml").write_text(policy, encoding="utf-8")
    files = {name: str(folder / name) for name in ("patients.csv", "release.csv", "plan.yaml", "policy.yaml")}
    capsys.readouterr()
    compared = ["--compare", files["release.csv"], "--policy", files["policy.yaml"], "--json", "--quiet"]
    main(["risk", files["patients.csv"], "--plan", files["plan.yaml"], *compared])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_figures_equal_those_of_the_command(desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = made(desk)
    csv = desk.client.get(f"/api/v1/projects/{project}/csv", headers=desk.steward.headers).content
    found = by_rest(desk, f"/projects/{project}/risk")
    told = by_command(desk, tmp_path, csv, capsys)
    assert found["risk"] == told
    of_draft = by_rest(desk, f"/drafts/{desk.submitted()}/risk")["risk"]
    assert of_draft["measures"] == told["measures"]
    of_plan = desk.client.post(
        f"/api/v1/datasets/{desk.dataset_id}/assess", json=release(5, person="none"), headers=desk.steward.headers
    )
    assert of_plan.json()["risk"]["measures"] == told["measures"]


def test_the_page_shows_what_rest_answers(desk: Desk) -> None:
    project = made(desk)
    found = by_rest(desk, f"/projects/{project}/risk")
    sign_in(desk.client, desk.steward.email_address)
    assert "Risk before and after" in words(desk.client.get(f"/app/projects/{project}"))
    page = desk.client.get(f"/app/projects/{project}/risk?show=yes")
    told = words(page)
    assert f'data-standing="{found["verdict"]["standing"]}"' in page.text
    for reason in found["verdict"]["reasons"]:
        assert " ".join(reason.split()) in told
    after = found["risk"]["after"]["attackers"]["prosecutor"]
    assert f"{100 * after['highest_risk']:,.1f} %" in told
    assert [re.findall(r'data-(?:attack|skipped)="([^"]+)"', page.text)] == [
        [one["name"] for one in (*found["attacks"]["attacks"], *found["attacks"]["skipped"])]
    ]
    assert re.findall(r'data-question="([^"]+)"', page.text) == ["singling_out", "linkability", "inference"]
    for one in found["questions"]:
        assert " ".join(one["answer"].split()) in told
    assert f"{found['suppressed']['rows']} rows are suppressed" in told


def test_attackers_that_cannot_be_told_apart_without_a_population_are_one_row(desk: Desk) -> None:
    project = made(desk)
    sign_in(desk.client, desk.steward.email_address)
    page = desk.client.get(f"/app/projects/{project}/risk?show=yes")
    assert re.findall(r'data-attacker="([^"]+)"><th scope="row">([^<]+)<', page.text) == [
        ("prosecutor", "prosecutor, journalist or marketer")
    ]
    assert "so that the three cannot be told apart" in words(page)


def test_no_question_is_answered_with_no_as_long_as_only_rows_are_counted(desk: Desk) -> None:
    unstated = release(5)
    path = f"/api/v1/datasets/{desk.dataset_id}/assess"
    found = desk.client.post(path, json=unstated, headers=desk.steward.headers).json()
    assert found["verdict"]["standing"] == "amber"
    assert [one["open"] for one in found["questions"]] == [True] * 3
    assert all("rows were counted, not people" in one["answer"] for one in found["questions"])
    stated = desk.client.post(path, json=release(5, person="none"), headers=desk.steward.headers).json()
    assert not any("rows were counted, not people" in one["answer"] for one in stated["questions"])


def test_an_attack_that_harms_somebody_makes_it_amber(desk: Desk) -> None:
    weak = release(5, person="none")
    weak["privacy_models"] = weak["privacy_models"][:1]
    same = patients().with_columns(disease=patients()["gender"].replace_strict({"f": "flu", "m": "angina"}))
    number = store_dataset(desk.service, same, desk.steward.user_id)
    path = f"/api/v1/datasets/{number}/assess"
    found = desk.client.post(path, json=weak, headers=desk.steward.headers).json()
    harmed = next(one for one in found["attacks"]["attacks"] if one["name"] == "homogeneity")["rows_hurt"]
    assert harmed > 0
    assert found["verdict"]["standing"] == "amber"
    assert f"the attack by homogeneity harms {harmed} rows" in found["verdict"]["reasons"]
    assert [one["open"] for one in found["questions"] if one["name"] == "inference"] == [True]
    sign_in(desk.client, desk.steward.email_address)
    form = {"use": "base", "show": "yes", "base": json.dumps({"plan": 1})}
    assert "plan" in words(send(desk.client, f"/app/datasets/{number}/plan/risk", **form))


def test_reviewers_see_the_figures_and_no_value_of_the_table(desk: Desk) -> None:
    rare = patients(4).with_columns(gender=pl.lit("x"))
    number = store_dataset(desk.service, pl.concat([patients(), rare]), desk.steward.user_id)
    desk = replace(desk, dataset_id=number)
    draft, project = desk.submitted(), made(desk)
    for path in (f"/drafts/{draft}/risk", f"/projects/{project}/risk"):
        whole = by_rest(desk, path)
        assert whole["suppressed"]["rows"] == 4
        assert any(group["label"] for one in whole["suppressed"]["columns"] for group in one["groups"])
        for person in (desk.officer, desk.approver):
            seen = by_rest(desk, path, person)
            assert seen["risk"] == whole["risk"]
            assert all(one["groups"] is None for one in seen["suppressed"]["columns"])
            sign_in(desk.client, person.email_address)
            for page in (f"/app{path}/figures", f"/app{path}?show=yes"):
                text = desk.client.get(page).text
                assert "data-standing" in text
                assert [label for label in LABELS if label in html.unescape(text)] == []
                assert POSTCODE.search(text) is None
    sign_in(desk.client, desk.steward.email_address)
    assert "adult" in desk.client.get(f"/app/projects/{project}/risk/figures").text


def test_what_somebody_may_not_see_is_refused(desk: Desk) -> None:
    project, unsubmitted = made(desk), desk.save()
    for person in (desk.researcher,):
        for path in (f"/projects/{project}/risk", f"/drafts/{unsubmitted}/risk"):
            assert desk.client.get(f"/api/v1{path}", headers=person.headers).status_code == 403
    for person in (desk.officer, desk.approver):
        assert desk.client.get(f"/api/v1/drafts/{unsubmitted}/risk", headers=person.headers).status_code == 404
        body = release(5, person="none")
        refused = desk.client.post("/api/v1/datasets/1/assess", json=body, headers=person.headers)
        assert refused.status_code == 403
        sign_in(desk.client, person.email_address)
        assert desk.client.get(f"/app/drafts/{unsubmitted}/risk/figures").status_code == 404
        assert desk.client.get("/app/datasets/1/risk").status_code == 403


def test_what_cannot_be_measured_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    queries = made(desk, config={**interactive(), "person": "none"})
    sign_in(desk.client, desk.steward.email_address)
    assert "project-interactive" in words(desk.client.get(f"/app/projects/{queries}/risk/figures"))
    monkeypatch.setattr(assessment, "MOST_ROWS", 10)
    draft = desk.save()
    assert "assess-too-large" in words(desk.client.get(f"/app/drafts/{draft}/risk/figures"))


def test_the_page_comes_before_anything_is_measured_and_figures_are_measured_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[int] = []
    real = assessment.assess

    def counted(*args: Any, **options: Any) -> dict[str, object]:
        measured.append(1)
        return real(*args, **options)

    monkeypatch.setattr(assessment, "assess", counted)
    project = made(desk)
    sign_in(desk.client, desk.approver.email_address)
    page = desk.client.get(f"/app/projects/{project}/risk")
    assert f'data-figures="/app/projects/{project}/risk/figures"' in page.text
    assert not measured

    def logged() -> int:
        about = Wanted(action="assess-risk", about=f"project {project}")
        return listed(desk.service.database, limit=1, filters=about)[1]

    assert logged() == 0
    for number in (1, 2):
        assert desk.client.get(f"/app/projects/{project}/risk/figures").status_code == 200
        assert (len(measured), logged()) == (1, number)


def test_texts_that_look_like_scripts_stay_text(desk: Desk) -> None:
    table = patients().rename({"gender": NASTY})
    number = store_dataset(desk.service, table, desk.steward.user_id)
    config = json.loads(json.dumps(release(5, person="none")).replace('"gender"', json.dumps(NASTY)))
    ages = config["attributes"][1]["attribute_hierarchy"]
    config["attributes"][1]["attribute_hierarchy"] = [[age, f"<b>{label}", star] for age, label, star in ages]
    body = {**desk.content(), "name": NASTY, "config": config, "dataset_id": number}
    draft = desk.client.post("/api/v1/drafts", json=body, headers=desk.steward.headers).json()["draft_id"]
    sign_in(desk.client, desk.steward.email_address)
    page = desk.client.get(f"/app/drafts/{draft}/risk?show=yes")
    assert "data-standing" in page.text
    assert NASTY not in page.text
    assert "<b>" not in page.text
    assert html.escape(NASTY) in page.text


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark", "locale": "de-DE"}, {"java_script_enabled": False}])
def test_the_dashboard_is_accessible_and_works_without_scripts(
    desk: Desk, chromium: Browser, options: dict[str, Any]
) -> None:
    draft = desk.submitted()
    with served(desk.service) as address, opened(chromium, address, **options) as page:
        sign_in_with(page, desk.officer.email_address)
        page.goto(f"/app/drafts/{draft}")
        page.locator(f"a[href='/app/drafts/{draft}/risk']").click()
        if not options.get("java_script_enabled", True):
            page.get_by_role("link", name="Measure the risk").click()
        expect(page.locator("[data-standing]")).to_be_visible(timeout=60_000)
        expect(page.locator("[data-measure=highest_risk]")).to_be_visible()
        if options.get("java_script_enabled", True):
            look(page)


def test_the_risk_of_a_plan_is_shown_from_the_editor_and_leads_back(desk: Desk, chromium: Browser) -> None:
    with served(desk.service) as address, opened(chromium, address) as page:
        sign_in_with(page, desk.steward.email_address)
        page.goto("/app/datasets/1/plan")
        page.fill("#name", "Heart")
        page.get_by_role("button", name="Risk before and after").click()
        expect(page.locator("[data-standing]")).to_be_visible(timeout=60_000)
        look(page)
        page.get_by_role("button", name="Back to the plan, unchanged").click()
        expect(page.locator("#name")).to_have_value("Heart")
        page.goto("/app/datasets/1")
        page.get_by_role("link", name="Risk before and after").click()
        expect(page.locator("[data-standing]")).to_be_visible(timeout=60_000)
