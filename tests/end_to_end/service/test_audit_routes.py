"""The audit log over HTTP: for stewards, page by page."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text

from kohorte.service.context import Service
from support.service import Person, on_sqlite

AUDIT = "/api/v1/audit"


@pytest.fixture
def logged(service: Service, steward: Person) -> int:
    """Add five entries of the steward; return how many there were before."""
    with service.database.reading() as connection:
        before = connection.execute(text("SELECT number FROM audit_head")).scalar_one()
    for number in range(5):
        with service.database.writing() as connection:
            service.log.append(connection, "test-entry", f"object {number}", actor=steward.user_id, rows=number)
    return int(before)


def test_entries_come_newest_first_and_in_pages(client: TestClient, steward: Person, logged: int) -> None:
    answer = client.get(AUDIT, params={"limit": 2, "page": 2}, headers=steward.headers)
    assert answer.status_code == 200
    found = answer.json()
    assert (found["limit"], found["page"], found["total"]) == (2, 2, logged + 5)
    assert [entry["number"] for entry in found["entries"]] == [logged + 3, logged + 2]
    assert {**found["entries"][0], "at": ""} == {
        "number": logged + 3,
        "at": "",
        "actor_id": steward.user_id,
        "action": "test-entry",
        "object": "object 2",
        "details": {"rows": 2},
    }
    assert found["entries"][0]["at"].endswith("+00:00")


@pytest.mark.usefixtures("logged")
def test_entries_can_be_filtered(client: TestClient, steward: Person) -> None:
    def total(**wanted: object) -> int:
        answer = client.get(AUDIT, params=wanted, headers=steward.headers)
        assert answer.status_code == 200
        found: int = answer.json()["total"]
        return found

    assert total(action="test-entry") == 5
    assert total(action="test-entry", actor_id=steward.user_id) == 5
    assert total(action="test-entry", actor_id=steward.user_id + 1) == 0
    assert total(action="nothing") == 0
    assert total(actor_id=steward.user_id) >= 5


@on_sqlite
@pytest.mark.parametrize(
    "wrong",
    [
        {"limit": 0},
        {"limit": 1001},
        {"page": 0},
        {"page": 10**12},
        {"action": "A B"},
        {"actor_id": 0},
        {"until": "0.5"},
        {"since": "2026-05-01"},
    ],
)
def test_a_wrong_page_or_filter_is_refused(client: TestClient, steward: Person, wrong: dict[str, object]) -> None:
    assert client.get(AUDIT, params=wrong, headers=steward.headers).status_code == 400


def test_the_log_is_verified(service: Service, client: TestClient, steward: Person, logged: int) -> None:
    answer = client.get(f"{AUDIT}/verify", headers=steward.headers)
    assert answer.status_code == 200
    found = answer.json()
    assert found == {
        "whole": True,
        "entries": logged + 5,
        "head": found["head"],
        "first_wrong": None,
        "accounts_fit": True,
        "wrong_rows": [],
        "state_log": None,
    }
    with service.database.writing() as connection:
        connection.execute(text("UPDATE audit_head SET number = number + 1"))
    found = client.get(f"{AUDIT}/verify", headers=steward.headers).json()
    assert (found["whole"], found["first_wrong"]) == (False, logged + 6)


@on_sqlite
@pytest.mark.parametrize("route", ["", "/verify"])
def test_only_stewards_see_the_log(client: TestClient, researcher: Person, route: str) -> None:
    assert client.get(AUDIT + route).status_code == 401
    assert client.get(AUDIT + route, headers=researcher.headers).status_code == 403
