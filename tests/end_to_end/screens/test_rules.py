"""Every screen, walked with every role: it shows nothing that the REST interface would refuse."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute, iter_route_contexts
from fastapi.testclient import TestClient

from kohorte.service.context import Service
from kohorte.service.permissions import ROLES_WITH, RULES, Permission, Role
from kohorte.service.trust.folders import make_folders
from kohorte.service.web.app import create_app
from kohorte.service.web.screens.navigation import PLACES
from support.projects import patients, store_dataset
from support.screens import enter, token_of
from support.service import on_sqlite

pytestmark = on_sqlite
OPEN = {"screen_root", "screen_static"}
"""Screens without a visitor: the way to the interface, and its style and script."""
ENDS_SESSION = "screen_sign_out"
READS_FILES = {"screen_uploading", "screen_import_hierarchy", "screen_survey_file"}
"""Screens that read their fields while they arrive; what cannot be read, or is not there, is told before."""


def screens(app: FastAPI) -> Iterator[tuple[str, str, str, str]]:
    """Name, method, path and operation of every screen."""
    for context in iter_route_contexts(app.routes):
        if str(context.name).startswith("screen_") and context.name not in OPEN:
            for method in sorted((context.methods or {"?"}) - {"HEAD"}):
                yield str(context.name), method, str(context.path), operation_of(context.route)


def operation_of(route: object) -> str:
    """The operation whose permission a screen needs; there is exactly one."""
    assert isinstance(route, APIRoute)
    [found] = [one.call.operation for one in route.dependant.dependencies if hasattr(one.call, "operation")]
    return str(found)


def test_every_screen_needs_the_permission_of_an_operation(service: Service) -> None:
    found = list(screens(create_app(service)))
    assert found
    assert {operation for *_, operation in found} <= set(RULES)


def test_every_place_of_the_menu_is_a_screen_with_the_same_permission(service: Service) -> None:
    pages = {path: operation for _, method, path, operation in screens(create_app(service)) if method == "GET"}
    for place in PLACES:
        assert RULES[pages[place.path]] is RULES[place.operation], place


@pytest.mark.parametrize("role", list(Role))
def test_a_role_opens_the_screens_that_its_permissions_allow_and_no_others(
    service: Service, client: TestClient, role: Role
) -> None:
    make_folders(service.settings)
    enter(service, client, role)
    token = token_of(client)
    found = sorted(screens(client.app), key=lambda screen: screen[0] == ENDS_SESSION)  # type: ignore[arg-type]
    for name, method, path, operation in found:
        url = path
        while "{" in url:
            url = url[: url.index("{")] + "999999" + url[url.index("}") + 1 :]
        data = {"form_token": token} if method == "POST" else None
        answer = client.request(method, url, data=data, follow_redirects=False)
        refused = answer.status_code == 403 and "not-allowed" in answer.text
        rule = RULES[operation]
        allowed = rule is Permission.ANYONE or role in ROLES_WITH[rule]
        assert refused is not allowed, (name, role, answer.status_code)
        assert answer.status_code < 500, (name, role)
        assert "application/json" not in answer.headers.get("content-type", ""), name


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain"])
def test_no_form_is_taken_without_the_token_of_its_session(service: Service, client: TestClient, kind: str) -> None:
    make_folders(service.settings)
    enter(service, client, *Role)
    parts = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na;b\r\n--x--\r\n'
    for name, method, path, operation in screens(client.app):  # type: ignore[arg-type]
        if method != "POST" or RULES[operation] is Permission.ANYONE:
            continue
        url = re.sub(r"\{[^}]+\}", "1", path)
        content = parts if kind.startswith("multipart") else b"a=b"
        answer = client.post(url, content=content, headers={"Content-Type": kind}, follow_redirects=False)
        refused = answer.status_code == 403 and "form-foreign" in answer.text
        assert refused or (name in READS_FILES and answer.status_code in (400, 404)), (name, answer.status_code)


def test_nobody_sees_a_screen_before_signing_in(service: Service, client: TestClient) -> None:
    for name, method, path, operation in screens(client.app):  # type: ignore[arg-type]
        if RULES[operation] is Permission.ANYONE:
            continue
        answer = client.request(method, path.replace("{", "").replace("}", ""), follow_redirects=False)
        if method == "GET":
            assert (answer.status_code, answer.headers["location"].startswith("/app/sign-in")) == (303, True), name
        else:
            assert answer.status_code == 401, name


INLINE = re.compile(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+\s*=\s*[\"']|javascript:", re.IGNORECASE)
EVIL = '"><script>alert(1)</script>'


def test_every_answer_is_private_unframed_and_without_inline_script_or_style(
    service: Service, client: TestClient
) -> None:
    make_folders(service.settings)
    row = enter(service, client, *Role)
    store_dataset(service, patients().rename({"age": EVIL}), row.id)
    token = token_of(client)
    found = sorted(screens(client.app), key=lambda screen: screen[0] == ENDS_SESSION)  # type: ignore[arg-type]
    shown = 0
    for name, method, path, _ in found:
        data = {"form_token": token, **dict.fromkeys(TYPED, EVIL)} if method == "POST" else None
        for number in ("1", "999999"):
            url = re.sub(r"\{[^}]+\}", number, path) + ("" if method == "POST" else f"?said={EVIL}&next={EVIL}")
            answer = client.request(method, url, data=data, follow_redirects=False)
            policy = answer.headers["content-security-policy"]
            assert "unsafe" not in policy, name
            assert "frame-ancestors 'none'" in policy, name
            assert answer.headers["cache-control"] == "no-store", name
            assert answer.headers["x-content-type-options"] == "nosniff", name
            assert answer.status_code < 500, name
            assert answer.headers.get("location", "/app").startswith("/app"), name
            if answer.headers.get("content-type", "").startswith("text/html"):
                shown += answer.status_code == 200
                assert "<script>alert" not in answer.text, name
                assert INLINE.search(answer.text) is None, (name, INLINE.search(answer.text))
    assert shown > 20


TYPED = ("name", "comment", "description", "text", "base", "purpose", "query", "next", "email_address", "researcher")
"""Fields of forms that take a text."""
