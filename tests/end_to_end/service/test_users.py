"""Users over HTTP."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

from kohorte.service.context import Service
from support.service import PASSWORD, Person, new_person, new_user, on_sqlite

USERS = "/api/v1/users"
JANE = {
    "email_address": "jane@example.com",
    "institution": "Fraunhofer IOSB",
    "name": "Jane Doe",
    "password": "123456",
    "privileged_status": False,
}


def test_a_created_user_is_where_the_answer_says(client: TestClient, steward: Person) -> None:
    answer = client.post(USERS, json=JANE, headers=steward.headers)
    assert answer.status_code == 201
    again = client.get(answer.headers["Location"], headers=steward.headers)
    assert (again.status_code, again.json()) == (200, answer.json())
    assert "password" not in answer.text


def test_an_address_that_is_taken_is_409(client: TestClient, steward: Person) -> None:
    client.post(USERS, json=JANE, headers=steward.headers)
    answer = client.post(USERS, json={**JANE, "email_address": "JANE@Example.com"}, headers=steward.headers)
    assert (answer.status_code, answer.json()["code"]) == (409, "user-conflict")
    assert "jane" not in answer.text.lower()


@on_sqlite
@pytest.mark.parametrize(
    "wrong",
    [
        {"email_address": "no address"},
        {"email_address": "a@b@c"},
        {"name": ""},
        {"name": "   "},
        {"name": "two\nlines"},
        {"name": "x" * 201},
        {"institution": None},
        {"privileged_status": "yes"},
        {"privileged_status": 1},
        {"password": "12345"},
        {"password": "x" * 201},
        {"user_id": 1},
    ],
)
def test_a_user_of_another_shape_is_400_with_the_place(
    client: TestClient, steward: Person, wrong: dict[str, Any]
) -> None:
    answer = client.post(USERS, json={**JANE, **wrong}, headers=steward.headers)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["place"] == f"body.{next(iter(wrong))}"
    assert client.get(USERS, headers=steward.headers).json()["total"] == 1


def test_users_are_listed_in_pages(service: Service, client: TestClient, steward: Person) -> None:
    ids = [steward.user_id] + [new_user(service, privileged=False).id for _ in range(3)]
    whole = client.get(USERS, headers=steward.headers).json()
    assert (whole["limit"], whole["page"], whole["total"]) == (20, 1, 4)
    assert [user["user_id"] for user in whole["users"]] == ids
    last = client.get(USERS, params={"limit": 3, "page": 2}, headers=steward.headers).json()
    assert [user["user_id"] for user in last["users"]] == ids[3:]


@on_sqlite
@pytest.mark.parametrize(
    "wrong", ["limit=0", "limit=1001", "limit=x", "page=0", "page=-1", "page=99999999999999999999"]
)
def test_a_page_that_cannot_be_is_400(client: TestClient, steward: Person, wrong: str) -> None:
    assert client.get(f"{USERS}?{wrong}", headers=steward.headers).status_code == 400


def test_a_researcher_sees_and_changes_nobody_else(client: TestClient, steward: Person, researcher: Person) -> None:
    for method in ("GET", "PATCH"):
        body = {"json": {"name": "x"}} if method == "PATCH" else {}
        hidden = client.request(method, f"{USERS}/{steward.user_id}", headers=researcher.headers, **body)
        missing = client.request(method, f"{USERS}/999999", headers=researcher.headers, **body)
        assert (hidden.status_code, hidden.json()) == (missing.status_code, missing.json())
        assert hidden.status_code == 404
    own = client.get(f"{USERS}/{researcher.user_id}", headers=researcher.headers)
    assert own.json() == client.get(f"{USERS}/me", headers=researcher.headers).json()


def test_a_researcher_cannot_become_a_steward(client: TestClient, researcher: Person) -> None:
    own = f"{USERS}/{researcher.user_id}"
    answer = client.patch(own, json={"privileged_status": True}, headers=researcher.headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "not-allowed")
    assert client.get(own, headers=researcher.headers).json()["privileged_status"] is False


def test_people_change_their_own_password(client: TestClient, researcher: Person) -> None:
    own, new = f"{USERS}/{researcher.user_id}", "another good password"
    without = client.patch(own, json={"password": new}, headers=researcher.headers)
    assert (without.status_code, without.json()["code"]) == (400, "user-current-password")
    wrong = client.patch(own, json={"password": new, "current_password": "wrong"}, headers=researcher.headers)
    assert (wrong.status_code, wrong.json()["code"]) == (403, "password-wrong")
    right = client.patch(own, json={"password": new, "current_password": PASSWORD}, headers=researcher.headers)
    assert right.status_code == 200
    credentials = {"email_address": researcher.email_address, "password": new}
    assert client.post("/api/v1/login", json=credentials).status_code == 200


def test_a_steward_who_loses_the_status_is_a_researcher_at_once(
    service: Service, client: TestClient, steward: Person
) -> None:
    other = new_person(service, client, privileged=True)
    change = {"privileged_status": False}
    assert client.patch(f"{USERS}/{other.user_id}", json=change, headers=steward.headers).status_code == 200
    assert client.get(USERS, headers=other.headers).status_code == 403


def test_a_deleted_user_is_gone_at_once(client: TestClient, steward: Person, researcher: Person) -> None:
    user = f"{USERS}/{researcher.user_id}"
    assert client.delete(user, headers=steward.headers).status_code == 204
    assert client.get(f"{USERS}/me", headers=researcher.headers).status_code == 401
    assert client.get(user, headers=steward.headers).status_code == 404
    assert client.delete(user, headers=steward.headers).status_code == 404


def test_the_last_steward_stays(client: TestClient, steward: Person) -> None:
    own = f"{USERS}/{steward.user_id}"
    answers = [
        client.delete(own, headers=steward.headers),
        client.patch(own, json={"disabled": True}, headers=steward.headers),
        client.patch(own, json={"privileged_status": False}, headers=steward.headers),
    ]
    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(409, "last-steward-conflict")] * 3
