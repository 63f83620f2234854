"""Two people over HTTP: asked, listed, confirmed, carried out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

from kohorte.service.context import Service
from kohorte.service.permissions import TWO_PEOPLE, Role
from kohorte.service.vault import Content
from support.jobs import new_project
from support.marked_rows import mark_rows
from support.projects import patients, store_dataset
from support.service import Person, client_of, new_person_with

API = "/api/v1"
JANE = {"email_address": "jane@example.com", "institution": "", "name": "Jane Doe", "password": "123456"}


@pytest.fixture
def client(service: Service) -> Iterator[TestClient]:
    """A service over HTTP that asks for two people wherever that is possible."""
    with client_of(replace(service, settings=replace(service.settings, two_people=TWO_PEOPLE))) as opened:
        yield opened


@pytest.fixture
def approver(service: Service, client: TestClient) -> Person:
    return new_person_with(service, client, Role.APPROVER)


def test_a_dataset_is_deleted_when_somebody_else_has_confirmed(
    service: Service, client: TestClient, steward: Person, approver: Person
) -> None:
    dataset = f"{API}/datasets/{store_dataset(service, patients(), steward.user_id)}"
    answer = client.delete(dataset, headers=steward.headers)
    assert (answer.status_code, answer.json()["state"], answer.json()["operation"]) == (
        202,
        "pending",
        "delete_dataset",
    )
    request = answer.headers["Location"]
    assert client.get(request, headers=approver.headers).json() == answer.json()
    waiting = client.get(f"{API}/approvals?state=pending", headers=approver.headers).json()
    assert (waiting["approvals"], waiting["total"]) == ([answer.json()], 1)
    own = client.post(f"{request}/confirm", headers=steward.headers)
    assert (own.status_code, own.json()["code"]) == (403, "approval-own")
    assert client.get(dataset, headers=steward.headers).status_code == 200
    for _ in range(2):
        confirmed = client.post(f"{request}/confirm", headers=approver.headers)
        assert (confirmed.status_code, confirmed.json()["state"]) == (200, "confirmed")
    assert client.get(dataset, headers=steward.headers).status_code == 404
    late = client.post(f"{request}/decline", headers=steward.headers)
    assert (late.status_code, late.json()["code"]) == (409, "approval-conflict")


def test_users_are_made_changed_and_removed_by_two_people(
    client: TestClient, steward: Person, approver: Person
) -> None:
    def by_two(method: str, path: str, **body: object) -> None:
        answer = client.request(method, f"{API}{path}", headers=steward.headers, **body)  # type: ignore[arg-type]
        assert answer.status_code == 202, answer.text
        assert "123456" not in answer.text
        done = client.post(f"{answer.headers['Location']}/confirm", headers=approver.headers)
        assert done.status_code == 200, done.text

    by_two("POST", "/users", json={**JANE, "roles": ["researcher"]})
    user = client.get(f"{API}/users", headers=steward.headers).json()["users"][-1]
    assert (user["email_address"], user["roles"]) == ("jane@example.com", ["researcher"])
    jane = client.post(f"{API}/login", json={"email_address": "jane@example.com", "password": "123456"})
    headers = {"Authorization": f"Bearer {jane.json()['access_token']}"}
    path = f"/users/{user['user_id']}"
    assert client.patch(f"{API}{path}", json={"name": "Jane Roe"}, headers=headers).status_code == 200
    by_two("PATCH", path, json={"privileged_status": True})
    assert client.get(f"{API}{path}", headers=headers).json()["roles"] == ["steward", "researcher"]
    by_two("DELETE", path)
    assert client.get(f"{API}{path}", headers=steward.headers).status_code == 404


def test_a_release_leaves_when_a_second_person_has_agreed(
    service: Service, client: TestClient, steward: Person, researcher: Person, approver: Person
) -> None:
    dataset_id = store_dataset(service, patients(), steward.user_id)
    project_id, _ = new_project(service, dataset_id, researcher_id=researcher.user_id)
    released = service.vault.write(b"age\n4*\n", Content.RELEASE)
    with service.database.writing() as connection:
        connection.exec_driver_sql(f"UPDATE projects SET state = 'ready', release_file = '{released}'")
        mark_rows(service, connection)
    project = f"{API}/projects/{project_id}"
    asked = [client.get(f"{project}/{path}", headers=researcher.headers) for path in ("csv", "preview")]
    assert [(answer.status_code, answer.json()["state"]) for answer in asked] == [(202, "pending")] * 2
    assert asked[0].headers["Location"] == asked[1].headers["Location"]
    client.post(f"{asked[0].headers['Location']}/confirm", headers=approver.headers).raise_for_status()
    assert client.get(f"{project}/csv", headers=researcher.headers).text == "age\n4*\n"
    assert client.get(f"{project}/preview", headers=researcher.headers).json()["rows"] == [["4*"]]
    assert client.get(f"{project}/csv", headers=approver.headers).status_code == 403
