"""The screens of accounts, and of requests that wait for a second person."""

from __future__ import annotations

import re

from fastapi.testclient import TestClient

from kohorte.service.accounts import users
from kohorte.service.context import Service
from kohorte.service.permissions import Role
from support.screens import enter, send, sign_in, words
from support.service import PASSWORD, new_user_with, on_sqlite

pytestmark = on_sqlite
NEW = {"name": "Grace", "email_address": "grace@example.org", "institution": "Ward 3", "password": "for a start"}


def test_a_steward_creates_changes_and_deletes_an_account(service: Service, client: TestClient) -> None:
    enter(service, client, Role.STEWARD)
    answer = send(client, "/app/accounts/new", **NEW, roles=["researcher"])
    assert answer.url.path == "/app/accounts"
    assert "The account has been created." in words(answer)
    rows, _ = users.listed(service, limit=50, page=1)
    user_id = rows[-1].id
    changed = {**NEW, "password": "", "name": "Grace H.", "roles": ["researcher", "operator"], "disabled": "yes"}
    assert "has been changed" in words(send(client, f"/app/accounts/{user_id}", **changed))
    rows, _ = users.listed(service, limit=50, page=1)
    shown = users.user_to_dict(rows[-1])
    assert (shown["name"], shown["roles"], shown["disabled"]) == ("Grace H.", ["researcher", "operator"], True)
    assert "Nothing has changed." in words(send(client, f"/app/accounts/{user_id}", **changed))
    assert "has been deleted" in words(send(client, f"/app/accounts/{user_id}/delete"))
    assert "Grace" not in words(client.get("/app/accounts"))


def test_a_refused_account_says_why_and_keeps_what_was_typed_but_the_password(
    service: Service, client: TestClient
) -> None:
    row = enter(service, client, Role.STEWARD)
    answer = send(client, "/app/accounts/new", **{**NEW, "email_address": row.email_address}, roles=["researcher"])
    assert answer.status_code == 400
    assert "another user has the same" in words(answer)
    assert 'value="Ward 3"' in answer.text
    assert "for a start" not in answer.text


def test_what_needs_two_people_waits_and_the_second_person_decides(service: Service, client: TestClient) -> None:
    first, second = (new_user_with(service, Role.STEWARD) for _ in range(2))
    sign_in(client, first.email_address)
    answer = send(client, "/app/accounts/new", **NEW, roles=["approver"])
    assert re.fullmatch(r"/app/approvals/\d+", answer.url.path)
    assert "waits for a second person" in words(answer)
    assert "Confirm and carry out" not in answer.text
    refused = send(client, f"{answer.url.path}/confirm")
    assert refused.status_code == 403
    sign_in(client, second.email_address)
    assert "Create an account" in words(client.get("/app"))
    done = send(client, f"{answer.url.path}/confirm")
    assert "has been carried out" in words(done)
    assert "Grace" in words(client.get("/app/accounts"))


def test_people_change_their_own_password(service: Service, client: TestClient) -> None:
    row = enter(service, client, Role.RESEARCHER)
    new = "three sparrows on a wire"
    wrong = send(client, "/app/me", current_password="wrong", password=new, repeated=new)
    assert wrong.status_code == 400
    differs = send(client, "/app/me", current_password=PASSWORD, password=new, repeated="another")
    assert differs.status_code == 400
    assert "has been changed" in words(send(client, "/app/me", current_password=PASSWORD, password=new, repeated=new))
    sign_in(client, row.email_address, new)


def test_names_are_shown_as_text_whatever_they_contain(service: Service, client: TestClient) -> None:
    enter(service, client, Role.STEWARD)
    evil = "<script>alert(1)</script>\"'{{7*7}}"
    send(client, "/app/accounts/new", **{**NEW, "name": evil, "institution": evil}, roles=["researcher"])
    page = client.get("/app/accounts").text
    assert "<script>alert" not in page
    assert "{{7*7}}" in page
    assert "&lt;script&gt;alert(1)" in page


def test_the_second_person_reads_what_would_change_in_words_and_no_password(
    service: Service, client: TestClient
) -> None:
    first, second = (new_user_with(service, Role.STEWARD) for _ in range(2))
    approver = new_user_with(service, Role.APPROVER)
    sign_in(client, first.email_address)
    changes = {"name": "Grace", "email_address": "g@example.org", "institution": "", "password": "hidden from all"}
    asked = send(client, f"/app/accounts/{approver.id}", **changes, roles=["approver", "steward"], disabled="yes")
    assert asked.url.path.startswith("/app/approvals/")
    sign_in(client, second.email_address)
    page = client.get(asked.url.path)
    told = words(page)
    for expected in ("What would change", "Roles data steward, approver", "A new password yes", "Disabled yes"):
        assert expected in told
    assert approver.name in told  # as it is called now
    for raw in ("email_address", "disabled_at", "password_hash", "hidden from all"):
        assert raw not in page.text
