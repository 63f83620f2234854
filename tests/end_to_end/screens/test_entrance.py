"""Signing in and out with a browser, and what other sites and other people can do with it."""

from __future__ import annotations

import html
import re
from datetime import timedelta

import pytest
from fastapi.testclient import TestClient

from kohorte.service.accounts import browsers, tokens
from kohorte.service.accounts.setup import fresh_token
from kohorte.service.context import Service
from kohorte.service.permissions import Role
from kohorte.service.settings import Settings
from support.projects import patients, store_dataset
from support.screens import enter, send, sign_in, token_of, words
from support.service import PASSWORD, new_service, new_user_with, on_sqlite, signed_in

pytestmark = on_sqlite
ELSEWHERE = "https://attacker.example"


def test_the_first_page_leads_to_the_sign_in_page_and_back_to_the_page_that_was_wanted(
    service: Service, client: TestClient
) -> None:
    row = new_user_with(service, Role.STEWARD)
    answer = client.get("/app/accounts?page=1")
    assert answer.url.path == "/app/sign-in"
    wanted = re.findall(r'name="next" value="([^"]+)"', answer.text)[-1]
    data = {"email_address": row.email_address, "password": PASSWORD, "next": wanted}
    assert client.post("/app/sign-in", data=data).url.path == "/app/accounts"


def test_a_wrong_password_is_told_without_telling_whether_the_account_exists(
    service: Service, client: TestClient
) -> None:
    row = new_user_with(service, Role.STEWARD)
    told = []
    for address in (row.email_address, "nobody@example.org"):
        answer = client.post("/app/sign-in", data={"email_address": address, "password": "wrong"})
        assert answer.status_code == 403
        assert "kohorte" not in client.cookies
        told.append(answer.text.replace(address, "ADDRESS"))
    assert told[0] == told[1]


def test_the_cookie_cannot_be_read_by_scripts_or_sent_by_other_sites(service: Service, client: TestClient) -> None:
    row = new_user_with(service, Role.STEWARD)
    data = {"email_address": row.email_address, "password": PASSWORD}
    cookie = client.post("/app/sign-in", data=data, follow_redirects=False).headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    with TestClient(client.app, base_url="https://testserver") as encrypted:
        cookie = encrypted.post("/app/sign-in", data=data, follow_redirects=False).headers["set-cookie"]
    assert cookie.startswith("__Host-kohorte=")
    assert "Secure" in cookie


def test_signing_in_begins_a_new_session_even_with_a_cookie_of_an_old_one(service: Service, client: TestClient) -> None:
    row = enter(service, client, Role.RESEARCHER)
    before = client.cookies["kohorte"]
    client.post("/app/sign-in", data={"email_address": row.email_address, "password": PASSWORD})
    after = client.cookies["kohorte"]
    sessions = {browsers.visit_of(service, cookie).actor.session_id for cookie in (before, after)}
    assert len(sessions) == 2


def test_after_signing_out_neither_the_cookie_nor_a_stored_page_helps(service: Service, client: TestClient) -> None:
    enter(service, client, Role.STEWARD)
    cookie = client.cookies["kohorte"]
    assert client.get("/app/accounts").headers["cache-control"] == "no-store"
    answer = client.post("/app/sign-out", data={"form_token": token_of(client)}, follow_redirects=False)
    assert answer.headers["clear-site-data"] == '"cache", "storage"'
    client.cookies.set("kohorte", cookie)
    assert client.get("/app/accounts").url.path == "/app/sign-in"


@pytest.mark.parametrize(
    "headers",
    [{"Origin": ELSEWHERE}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site", "Origin": "null"}],
)
def test_a_form_from_another_site_is_refused(service: Service, client: TestClient, headers: dict[str, str]) -> None:
    enter(service, client, Role.STEWARD)
    token = token_of(client)
    answer = client.post("/app/sign-out", data={"form_token": token}, headers=headers)
    assert answer.status_code == 403
    assert "form-foreign" in answer.text
    assert client.get("/app").status_code == 200


@pytest.mark.parametrize("token", ["", "0" * 64, "ä"])
def test_a_form_without_the_token_of_its_session_is_refused(service: Service, client: TestClient, token: str) -> None:
    enter(service, client, Role.STEWARD)
    assert client.post("/app/sign-out", data={"form_token": token}).status_code == 403
    assert client.get("/app").url.path == "/app"


def test_the_token_of_another_session_is_refused(service: Service, client: TestClient) -> None:
    enter(service, client, Role.STEWARD)
    of_another = token_of(client)
    enter(service, client, Role.RESEARCHER)
    assert client.post("/app/sign-out", data={"form_token": of_another}).status_code == 403


@pytest.mark.parametrize(
    "wanted",
    [
        ELSEWHERE,
        "//attacker.example",
        "/app//attacker.example",
        "/app/\\attacker.example",
        "javascript:alert(1)",
        "/",
        "/app/../docs",
        "/app/%2E%2e/docs",
        "/app/projects/..",
    ],
)
def test_nobody_is_sent_to_another_site_after_signing_in(service: Service, client: TestClient, wanted: str) -> None:
    row = new_user_with(service, Role.STEWARD)
    data = {"email_address": row.email_address, "password": PASSWORD, "next": wanted}
    answer = client.post("/app/sign-in", data=data, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/app")


def test_a_session_ends_after_idle_time_and_nothing_that_was_typed_is_lost(
    service: Service, client: TestClient
) -> None:
    row = enter(service, client, Role.STEWARD)
    token = token_of(client)
    client.cookies.set("kohorte", "ended")
    typed = {"name": 'A "new" <person>', "email_address": "new@example.org", "roles": ["operator", "researcher"]}
    answer = client.post("/app/accounts/new", data={"form_token": token, **typed, "password": "for a start"})
    assert answer.status_code == 401
    kept = re.search(r'name="kept" value="([^"]+)"', answer.text)
    assert kept is not None
    assert "for a start" not in answer.text
    client.cookies.delete("kohorte")
    data = {"email_address": row.email_address, "password": PASSWORD, "next": "/app/accounts/new"}
    again = client.post("/app/sign-in", data={**data, "kept": html.unescape(kept[1])})
    fields = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', again.text)
    offered = [(name, html.unescape(value)) for name, value in fields]
    assert ("name", typed["name"]) in offered
    assert [value for name, value in offered if name == "roles"] == typed["roles"]
    form: dict[str, list[str]] = {"password": ["for a start"]}
    for name, value in offered:
        if name != "next":
            form.setdefault(name, []).append(value)
    assert client.post("/app/accounts/new", data=form).url.path == "/app/accounts"
    assert 'A "new" <person>' in words(client.get("/app/accounts"))


def test_only_people_keep_a_session_alive_and_a_cookie_ends_when_idle(
    service_settings: Settings, client: TestClient, service: Service
) -> None:
    enter(service, client, Role.STEWARD)
    first = client.cookies["kohorte"]
    client.get("/app")
    assert client.cookies["kohorte"] != first


def test_a_bearer_token_opens_no_page_and_a_cookie_no_route(service: Service, client: TestClient) -> None:
    row = new_user_with(service, Role.STEWARD)
    headers = signed_in(client, row.email_address)
    assert client.get("/app", headers=headers).url.path == "/app/sign-in"
    sign_in(client, row.email_address)
    assert client.get("/api/v1/users").status_code == 401
    cookie = client.cookies["kohorte"]
    assert client.get("/api/v1/users", headers={"Authorization": f"Bearer {cookie}"}).status_code == 401


def test_the_set_up_page_creates_the_first_steward_once(service: Service, client: TestClient) -> None:
    assert client.get("/app").url.path == "/app/setup"
    token = fresh_token(service)
    assert token is not None
    given = {"name": "Ada", "email_address": "ada@example.org", "institution": "", "token": token}
    wrong = client.post("/app/setup", data={**given, "password": "three sparrows", "repeated": "four sparrows"})
    assert wrong.status_code == 400
    assert "differ" in words(wrong)
    assert token not in wrong.text
    password = {"password": "three sparrows on a wire", "repeated": "three sparrows on a wire"}
    assert client.post("/app/setup", data={**given, **password}).url.path == "/app/sign-in"
    second = client.post("/app/setup", data={**given, **password, "email_address": "eve@example.org"})
    assert second.status_code == 400
    sign_in(client, "ada@example.org", "three sparrows on a wire")
    assert client.get("/app/setup").url.path == "/app"


def test_pages_are_in_german_for_those_who_want_it(service: Service, client: TestClient) -> None:
    enter(service, client, Role.STEWARD)
    assert "Abmelden" in client.get("/app", headers={"Accept-Language": "fr, de;q=0.8, en;q=0.5"}).text
    assert "Sign out" in client.get("/app", headers={"Accept-Language": "en-GB, de;q=0.8"}).text
    send(client, "/app/language", language="de")
    answer = client.get("/app", headers={"Accept-Language": "en"})
    assert '<html lang="de">' in answer.text
    assert "Abmelden" in answer.text


def test_a_service_behind_a_proxy_sets_secure_cookies(service_settings: Settings) -> None:
    from dataclasses import replace

    from support.service import client_of

    with new_service(replace(service_settings, behind_proxy=True)) as opened, client_of(opened) as client:
        row = new_user_with(opened, Role.STEWARD)
        data = {"email_address": row.email_address, "password": PASSWORD}
        answer = client.post("/app/sign-in", data=data, follow_redirects=False)
        assert answer.headers["set-cookie"].startswith("__Host-kohorte=")


@pytest.mark.parametrize("size", [200_000, 1_500_000])
def test_a_very_long_text_is_not_lost_when_the_session_ends_while_it_is_typed(
    service: Service, client: TestClient, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    row = enter(service, client, Role.STEWARD)
    store_dataset(service, patients(), row.id)
    token = token_of(client)
    text = ('# Größe "groß" <b> %\r\n' * size)[:size].strip()
    past = tokens.now() - timedelta(hours=2)
    old = tokens.issued(service, tokens.Type.BROWSER, tokens.Claims(row.id, "ended", tokens.new_id()), until=past)
    client.cookies.set("kohorte", old)
    answer = client.post("/app/datasets/1/plan", data={"form_token": token, "use": "text", "text": text})
    assert answer.status_code == 401
    assert "Nothing that you typed is lost" in words(answer)
    kept = re.search(r'name="kept" value="([^"]+)"', answer.text)
    assert kept is not None
    given = {"email_address": row.email_address, "password": PASSWORD, "next": "/app/datasets/1/plan"}
    client.cookies.set("kohorte", old)  # browsers send it until they are closed
    again = client.post("/app/sign-in", data={**given, "kept": html.unescape(kept[1])})
    offered = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', again.text))
    assert html.unescape(offered["text"]) == text
    stranger = TestClient(client.app).post("/app/datasets/1/plan", data={"text": text})
    assert "Nothing that you typed" not in words(stranger)


def test_a_form_with_thousands_of_fields_is_read(service: Service, client: TestClient) -> None:
    row = enter(service, client, Role.STEWARD)
    store_dataset(service, patients(), row.id)
    fields = {f"hierarchy-{number}": "" for number in range(5_000)}
    answer = send(client, "/app/datasets/1/plan", use="base", base="kohorte: 1", **fields)
    assert "Plan for patients" in words(answer)
