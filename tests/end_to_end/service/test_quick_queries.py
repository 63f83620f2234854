"""The short way of queries with noise answers and refuses exactly what the route does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Table, func, select, update

from kohorte.service.accounts.tokens import Type, claims_of, issued
from kohorte.service.context import Service
from kohorte.service.house_rules import HouseRules
from kohorte.service.integrity import marks
from kohorte.service.permissions import Role
from kohorte.service.storage.schema import now, spent
from kohorte.service.web import quick_queries
from support.projects import interactive, patients, store_dataset
from support.service import Person, client_of, new_person, new_person_with

COUNT = "SELECT COUNT(*) FROM PRIORI"
SHORT, LONG = "application/json", "application/json; charset=utf-8"
"""The route is taken with any other content type of JSON."""


@pytest.fixture
def path(service: Service, client: TestClient, steward: Person, researcher: Person) -> str:
    """An interactive project."""
    return made(service, client, steward, researcher, interactive())


def made(service: Service, client: TestClient, steward: Person, researcher: Person, config: dict[str, Any]) -> str:
    dataset = store_dataset(service, patients(), steward.user_id)
    wanted = {"name": "p", "dataset_id": dataset, "researcher_id": researcher.user_id, "config": config}
    answer = client.post("/api/v1/projects", json=wanted, headers=steward.headers)
    assert answer.status_code == 201, answer.text
    return f"/api/v1/projects/{answer.json()['project_id']}"


def post(client: TestClient, path: str, headers: dict[str, str], body: str, kind: str) -> Any:
    return client.post(f"{path}/analyze", content=body, headers={**headers, "Content-Type": kind})


def both(client: TestClient, path: str, headers: dict[str, str], body: str) -> Any:
    """The answer of the short way, which is that of the route."""
    short, long = (post(client, path, headers, body, kind) for kind in (SHORT, LONG))
    assert (short.status_code, short.json()) == (long.status_code, long.json())
    assert set(short.headers) == set(long.headers)
    return short


def test_a_query_takes_the_short_way_and_gets_the_answer_of_the_route(
    client: TestClient, path: str, researcher: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[Any] = []
    found = quick_queries.question_in
    monkeypatch.setattr(quick_queries, "question_in", lambda message: taken.append(found(message)) or taken[-1])
    body = f'{{"query": "{COUNT}", "epsilon": 0.1, "delta": 0}}'
    short = post(client, path, researcher.headers, body, SHORT)
    assert [asked.sql for asked in taken] == [COUNT]
    long = post(client, path, researcher.headers, body, LONG)
    assert len(taken) == 1
    changed = {"from_record": True, "cost": {"epsilon": 0.0, "delta": 0.0}}
    assert short.json() | changed == long.json()
    assert list(short.json()) == list(long.json())
    assert short.headers["content-type"] == long.headers["content-type"]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "[]",
        "1",
        '{"query": 1}',
        '{"query": ""}',
        '{"epsilon": 0.1}',
        '{"query": "SELECT 1", "more": 1}',
        '{"query": "SELECT 1", "query": "SELECT 2"}',
        f'{{"query": "{COUNT}", "epsilon": "a"}}',
        f'{{"query": "{COUNT}", "epsilon": -1}}',
        f'{{"query": "{COUNT}", "epsilon": 0.0001}}',
        f'{{"query": "{COUNT}", "epsilon": 50}}',
        '{"query": "SELECT name FROM PRIORI"}',
        '{"query": "SELECT COUNT(*) FROM PRIORI WHERE nowhere = 1"}',
        "[" * 3000,
    ],
)
def test_a_wrong_body_is_refused_as_by_the_route(client: TestClient, path: str, researcher: Person, body: str) -> None:
    assert both(client, path, researcher.headers, body).status_code >= 400


def test_who_may_not_ask_is_refused_as_by_the_route(
    service: Service, client: TestClient, steward: Person, researcher: Person, path: str
) -> None:
    body, other = f'{{"query": "{COUNT}"}}', new_person(service, client, privileged=False)
    token = researcher.headers["Authorization"]
    found = [
        both(client, path, headers, body).status_code
        for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": f"{token}x"}, other.headers)
    ]
    assert found == [401, 401, 401, 404]
    assert both(client, path, new_person_with(service, client, Role.APPROVER).headers, body).status_code == 403
    for number in ("0", "99", "007", "-1", "x", "2147483648", "99999999999"):
        assert both(client, f"/api/v1/projects/{number}", researcher.headers, body).status_code in (400, 404)


def test_a_session_that_has_ended_and_a_disabled_account_ask_nothing_more(
    client: TestClient, path: str, steward: Person, researcher: Person
) -> None:
    body = f'{{"query": "{COUNT}", "epsilon": 0.1}}'
    assert post(client, path, researcher.headers, body, SHORT).status_code == 200
    assert client.post("/api/v1/logout", headers=researcher.headers).status_code == 204
    assert both(client, path, researcher.headers, body).status_code == 401


def test_requests_are_counted_and_named_as_those_of_the_route(service: Service, researcher: Person, path: str) -> None:
    limited = replace(service, settings=replace(service.settings, requests_per_minute=3))
    body = f'{{"query": "{COUNT}", "epsilon": 0.1}}'
    with client_of(limited) as client:
        found = [post(client, path, researcher.headers, body, kind) for kind in (SHORT, LONG, SHORT, SHORT, LONG)]
        assert [answer.status_code for answer in found] == [200, 200, 200, 429, 429]
        assert all(int(answer.headers["Retry-After"]) > 0 for answer in found[3:])
        metrics = client.app.state.metrics.text().decode()  # type: ignore[attr-defined]
    line = 'kohorte_requests_total{method="POST",route="/api/v1/projects/{project_id}/analyze",status="200"} 3.0'
    assert line in metrics


def stored(kind: marks.Marked, **values: Any) -> Callable[[Service, Person], None]:
    """A change that the service itself makes to the only row of a kind, or to the researcher."""

    def change(service: Service, researcher: Person) -> None:
        key = researcher.user_id if kind is marks.USER else 1
        with service.database.writing() as connection, service.guard.changing(connection, kind, key):
            connection.execute(update(kind.table).where(kind.table.c.id == key).values(**values))

    return change


def forged(table: Table, column: str) -> Callable[[Service, Person], None]:
    """A change outside the service."""

    def change(service: Service, researcher: Person) -> None:
        del researcher
        with service.database.writing() as connection:
            connection.execute(update(table).values({column: "0"}))

    return change


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (stored(marks.PROJECT, deleted_at=now()), "not-found"),
        (stored(marks.PROJECT, interactive=False), "project-not-interactive"),
        (stored(marks.DATASET, deleted_at=now()), "project-conflict"),
        (stored(marks.USER, disabled_at=now()), "not-signed-in"),
        (stored(marks.USER, deleted_at=now()), "not-signed-in"),
        (stored(marks.USER, password_expires_at=now() - timedelta(seconds=1)), "not-signed-in"),
        (forged(marks.PROJECT.table, "name"), "service-row-changed"),
        (forged(marks.DATASET.table, "name"), "service-row-changed"),
        (forged(marks.USER.table, "name"), "service-row-changed"),
        (forged(marks.ACCOUNT.table, "amount"), "service-row-changed"),
        (lambda service, _: service.spent_log.path.unlink(), "service-spent-log"),
    ],
)
def test_what_was_changed_since_is_refused_as_by_the_route(
    service: Service,
    client: TestClient,
    path: str,
    researcher: Person,
    change: Callable[[Service, Person], None],
    code: str,
) -> None:
    asked = '{{"query": "SELECT COUNT(*) FROM PRIORI WHERE age > {}", "epsilon": 0.1}}'
    assert post(client, path, researcher.headers, asked.format(1), SHORT).status_code == 200
    change(service, researcher)
    refused = both(client, path, researcher.headers, asked.format(2))
    assert (refused.status_code >= 400, refused.json()["code"]) == (True, code)
    assert payments(service) == 1


def payments(service: Service) -> int:
    with service.database.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(spent)).scalar_one())


@pytest.mark.parametrize(
    ("rules", "epsilon", "code"),
    [
        (HouseRules(people="counted"), 0.1, "house-rule"),
        (HouseRules(dataset_epsilon=0.05), 0.1, "house-rule"),
        (HouseRules(), 2.5, "query-budget"),
    ],
)
def test_a_budget_and_the_rules_of_the_house_bind_on_both_ways(
    service: Service, researcher: Person, path: str, rules: HouseRules, epsilon: float, code: str
) -> None:
    strict = replace(service, settings=replace(service.settings, rules=rules))
    with client_of(strict) as client:
        refused = both(client, path, researcher.headers, f'{{"query": "{COUNT}", "epsilon": {epsilon}}}')
    assert (refused.status_code, refused.json()["code"]) == (403, code)
    assert payments(service) == 0


def test_a_token_for_something_else_or_of_yesterday_is_refused_on_both_ways(
    service: Service, client: TestClient, researcher: Person, path: str
) -> None:
    claims = claims_of(service, Type.ACCESS, researcher.headers["Authorization"].split()[1])
    tokens = [issued(service, kind, claims, until=now() + timedelta(hours=1)) for kind in (Type.REFRESH, Type.BROWSER)]
    for token in (*tokens, issued(service, Type.ACCESS, claims, until=now() - timedelta(hours=1)), "\xa0"):
        headers = {"Authorization": f"Bearer {token}".encode("latin-1")}
        refused = both(client, path, headers, f'{{"query": "{COUNT}", "epsilon": 0.1}}')  # type: ignore[arg-type]
        assert (refused.status_code, refused.json()["code"]) == (401, "not-signed-in")
    assert payments(service) == 0
