"""Review and sign-off on pages: from the plan editor over a signature to the release, in the roles of a house."""

from __future__ import annotations

import html
import re

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, expect

from kohorte.data import strict_yaml
from kohorte.service.context import Service
from kohorte.service.permissions import Role
from support.browser import look, opened, served
from support.browser import sign_in as sign_in_with
from support.drafts import Desk
from support.screens import enter, send, sign_in, words
from support.service import on_sqlite

pytestmark = on_sqlite


def words_of(text: str) -> str:
    """The text of a piece of a page, without its marks."""
    return html.unescape(re.sub(r"<[^>]+>", " ", text)).strip()


@pytest.fixture
def desk(service: Service, client: TestClient) -> Desk:
    return Desk.of(service, client)


def fields(desk: Desk, draft: int) -> dict[str, str]:
    """The fields of the editor that a test needs, for the plan of a draft."""
    page = desk.client.get(f"/app/drafts/{draft}/plan").text
    found = {name: re.search(rf'name="{name}" value="([^"]*)"', page) for name in ("base", "draft", "revision")}
    text = re.search(r'<textarea name="text"[^>]*>(.*?)</textarea>', page, re.DOTALL)
    assert text is not None
    given = {name: html.unescape(one[1]) for name, one in found.items() if one is not None}
    more = {"use": "text", "researcher": str(desk.researcher.user_id), "name": "Heart"}
    return {**given, **more, "text": html.unescape(text[1])}


def test_a_draft_is_saved_in_the_editor_submitted_signed_and_released(desk: Desk) -> None:
    sign_in(desk.client, desk.steward.email_address)
    start = fields(desk, desk.save())
    saved = send(desk.client, "/app/datasets/1/plan/draft", **{**start, "draft": "", "comment": "for the ward"})
    assert "The draft has been saved." in words(saved)
    path = saved.url.path
    assert "for the ward" in words(saved)
    assert "been submitted" in words(send(desk.client, f"{path}/submit", revision="1"))
    sign_in(desk.client, desk.approver.email_address)
    assert "Heart" in words(desk.client.get("/app"))
    page = desk.client.get(path)
    assert "angina" not in page.text
    assert "You have signed this version." in words(send(desk.client, f"{path}/sign", revision="1", comment="fine"))
    sign_in(desk.client, desk.steward.email_address)
    assert "The project has been created." in words(send(desk.client, f"{path}/release", revision="1"))


def test_a_reviewer_reads_what_for_to_whom_and_which_protection_before_signing(desk: Desk) -> None:
    sign_in(desk.client, desk.steward.email_address)
    start = fields(desk, desk.save())
    asked = strict_yaml.load(start["text"], source="the plan", code="plan-yaml")
    assert isinstance(asked, dict)
    asked |= {"purpose": "a study of heart attacks", "recipient": "University of Ulm", "suppression_limit": 0.05}
    changed = {**start, "draft": "", "text": strict_yaml.dump(asked)}
    path = send(desk.client, "/app/datasets/1/plan/draft", **changed).url.path
    send(desk.client, f"{path}/submit", revision="1")
    sign_in(desk.client, desk.approver.email_address)
    page = desk.client.get(path).text
    shown = {name: words_of(text) for name, text in re.findall(r'data-asked="(\w+)">(.*?)</dd>', page, re.DOTALL)}
    assert shown["purpose"] == "a study of heart attacks"
    assert shown["recipient"] == "University of Ulm"
    assert "k-anonymity (k = " in shown["models"]
    assert shown["limit"] == "at most 5.0\N{NO-BREAK SPACE}% of all rows"
    assert shown["person"]


def test_a_reviewer_is_told_that_purpose_and_recipient_are_not_stated(desk: Desk) -> None:
    draft = desk.submitted()
    sign_in(desk.client, desk.approver.email_address)
    page = desk.client.get(f"/app/drafts/{draft}").text
    for name in ("purpose", "recipient"):
        assert re.search(rf'data-asked="{name}"><span class="help">not stated<', page)


def test_the_second_editor_is_told_and_loses_nothing(desk: Desk) -> None:
    draft = desk.save()
    sign_in(desk.client, desk.steward.email_address)
    mine = fields(desk, draft)
    assert desk.change(draft, 1, 9).status_code == 200
    late = send(desk.client, "/app/datasets/1/plan/draft", **{**mine, "comment": "my long thoughts"})
    assert "has saved version 2 of this draft" in words(late)
    assert "my long thoughts" in late.text
    assert "What your plan changes of the version that was saved meanwhile" in words(late)
    assert re.search(r"k-anonymity, k has changed: 9 → \d+", words(late))
    assert 'name="revision" value="2"' in late.text  # saving again replaces version 2, knowingly
    assert desk.shown(draft)["revision"] == 2
    again = send(desk.client, "/app/datasets/1/plan/draft", **{**mine, "revision": "2"})
    assert "The draft has been saved." in words(again)
    assert desk.shown(draft)["revision"] == 3


def test_pages_refuse_what_rest_refuses(desk: Desk) -> None:
    enter(desk.service, desk.client, Role.STEWARD, Role.APPROVER)
    draft = desk.submitted()
    assert desk.change(draft, 1, 6).status_code == 200
    assert desk.step(draft, "submit", desk.steward, 2).status_code == 200
    path = f"/app/drafts/{draft}"
    assert "draft-changed-conflict" in words(send(desk.client, f"{path}/sign", revision="1"))
    own = fields(desk, draft)
    send(desk.client, "/app/datasets/1/plan/draft", **own)
    send(desk.client, f"{path}/submit", revision="3")
    refused = send(desk.client, f"{path}/sign", revision="3", comment="mine")
    assert (refused.status_code, "draft-own" in words(refused)) == (403, True)
    sign_in(desk.client, desk.officer.email_address)
    refused = send(desk.client, f"{path}/return", revision="3")
    assert "draft-comment" in words(refused)
    returned = send(desk.client, f"{path}/return", revision="3", comment="<script>alert(1)</script>")
    assert "<script>alert" not in returned.text
    sign_in(desk.client, desk.researcher.email_address)
    assert desk.client.get(path).status_code == 403


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark", "locale": "de-DE"}])
def test_review_is_accessible_in_a_browser(desk: Desk, chromium: Browser, options: dict[str, str]) -> None:
    draft = desk.submitted()
    desk.step(draft, "return", desk.officer, comment="k is too small")
    desk.change(draft, 1, 8)
    desk.step(draft, "submit", desk.steward, 2)
    with served(desk.service) as address, opened(chromium, address, **options) as page:
        sign_in_with(page, desk.approver.email_address)
        look(page)
        for path in ("/app/drafts", f"/app/drafts/{draft}"):
            page.goto(path)
            look(page)
        page.fill("#comment", "good")
        page.locator("button[formaction$=sign]").click()
        expect(page.locator("[data-state=approved]")).to_be_visible()
        page.wait_for_load_state()
        look(page)
