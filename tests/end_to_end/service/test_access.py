"""Who may call what: every route has a rule, every rule a route, and the rules hold over HTTP."""

from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient

from kohorte.errors import AccessDenied
from kohorte.service.access import RULES, Actor, Who, permit
from kohorte.service.context import Service
from kohorte.service.web.app import create_app
from support.service import Person

FOR_ANYONE = {
    "create_first_steward", "login", "refresh", "show_health", "show_documentation", "show_documentation_asset",
    "show_openapi",
}  # fmt: skip
FOR_RESEARCHERS = {
    "logout", "show_me", "show_user", "change_user", "list_projects", "show_project", "download_csv", "preview_release",
    "show_certificate", "show_report", "analyze", "estimate", "download_dummy_data", "show_budget", "list_questions",
    "list_jobs", "show_job",
}  # fmt: skip


def operations(app: FastAPI) -> Iterator[tuple[str, str, str]]:
    """Return name, method and path of every route."""
    for route in iter_route_contexts(app.routes):
        for method in sorted((route.methods or {"?"}) - {"HEAD"}):
            yield str(route.name), method, str(route.path)


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_every_route_has_a_rule_and_every_rule_a_route(service: Service) -> None:
    names = [name for name, _, _ in operations(create_app(service))]
    assert set(names) == set(RULES)


def test_only_these_operations_are_for_others_than_stewards() -> None:
    assert {name for name, rule in RULES.items() if rule is Who.ANYONE} == FOR_ANYONE
    assert {name for name, rule in RULES.items() if rule is Who.SIGNED_IN} == FOR_RESEARCHERS


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_the_rules_hold_for_everybody_on_every_route(client: TestClient, steward: Person, researcher: Person) -> None:
    callers = {"anyone": {}, "researcher": researcher.headers, "steward": steward.headers}
    ends_session = "logout"
    found = sorted(operations(client.app), key=lambda operation: operation[0] == ends_session)  # type: ignore[arg-type]
    for name, method, path in found:
        for caller, headers in callers.items():
            url = path
            while "{" in url:
                url = url[: url.index("{")] + "999999" + url[url.index("}") + 1 :]
            answer = client.request(method, url, headers=headers)
            assert refused(answer.status_code, answer.text, name) == expected(RULES[name], caller), (name, caller)


def refused(status: int, text: str, name: str) -> str:
    """How the rules have answered; what comes after them (no body, no such thing) does not matter here."""
    if name != "refresh" and status == 401 and "not-signed-in" in text:
        return "sign in"
    return "not allowed" if status == 403 and "not-allowed" in text else "permitted"


def expected(rule: Who, caller: str) -> str:
    if rule is Who.ANYONE:
        return "permitted"
    if caller == "anyone":
        return "sign in"
    return "not allowed" if rule is Who.STEWARD and caller == "researcher" else "permitted"


def test_an_operation_without_a_rule_is_nobodys() -> None:
    for actor in (None, Actor(1, privileged=True, session_id="")):
        with pytest.raises(AccessDenied):
            permit("an operation that somebody forgot", actor)
