"""Set-up, login, refresh and logout over HTTP."""

import logging
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from kohorte.service.accounts import setup
from kohorte.service.context import Service
from kohorte.service.storage.schema import audit
from support.service import PASSWORD, Person, new_user, on_sqlite

API = "/api/v1"
JOHN = {
    "email_address": "john@example.com",
    "institution": "Fraunhofer IOSB",
    "name": "John Doe",
    "password": "three sparrows on a wire",
}
JANE = {
    "email_address": "jane@example.com",
    "institution": "Fraunhofer IOSB",
    "name": "Jane Doe",
    "password": "123456",
    "privileged_status": False,
}


def login(client: TestClient, email_address: str, password: str = PASSWORD) -> Any:
    return client.post(f"{API}/login", json={"email_address": email_address, "password": password})


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_from_the_set_up_token_to_a_researcher_who_signs_in(service: Service, client: TestClient) -> None:
    """The whole way, with the examples of the appendix as they are written there."""
    token = setup.fresh_token(service)
    answer = client.post(f"{API}/setup", json={"token": token, **JOHN})
    assert answer.status_code == 201
    assert answer.headers["Location"] == f"{API}/users/{answer.json()['user_id']}"
    assert answer.json()["privileged_status"] is True
    again = client.post(f"{API}/setup", json={"token": token, **JOHN})
    assert (again.status_code, again.json()["code"]) == (403, "not-allowed")
    john = bearer(login(client, "john@example.com", JOHN["password"]).json()["access_token"])
    answer = client.post(f"{API}/users", json=JANE, headers=john)
    assert answer.status_code == 201
    assert answer.json().items() >= {key: value for key, value in JANE.items() if key != "password"}.items()
    answer = login(client, "jane@example.com", "123456")
    assert answer.status_code == 200
    assert set(answer.json()) == {"access_token", "refresh_token", "token_type", "expires_in", "password_expires_at"}
    me = client.get(f"{API}/users/me", headers=bearer(answer.json()["access_token"]))
    assert me.json()["email_address"] == "jane@example.com"


@on_sqlite
def test_a_wrong_password_is_401_and_tells_nothing(service: Service, client: TestClient) -> None:
    user = new_user(service, privileged=False)
    answers = [login(client, user.email_address, "wrong"), login(client, "nobody@example.org")]
    assert [answer.status_code for answer in answers] == [401, 401]
    assert answers[0].json() == answers[1].json()
    assert answers[0].json()["code"] == "login-failed"


def test_a_locked_address_is_429_with_the_time_to_wait(client: TestClient) -> None:
    statuses = [login(client, "nobody@example.org").status_code for _ in range(5)]
    answer = login(client, "nobody@example.org")
    assert statuses == [401] * 5
    assert (answer.status_code, answer.json()["code"]) == (429, "locked-out")
    assert 50 < int(answer.headers["Retry-After"]) <= 60


@on_sqlite
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"email_address": "a@b.c"},
        {"email_address": "a@b.c", "password": None},
        {"email_address": "a@b.c", "password": 123456},
        {"email_address": ["a@b.c"], "password": "123456"},
        {"email_address": "a@b.c", "password": "123456", "secret-member": 1},
        {"email_address": "secret" * 100, "password": "123456"},
        {"email_address": "a@b.c", "password": "secret" * 100},
        [],
        "secret",
    ],
)
def test_a_login_of_another_shape_is_400_and_repeats_no_values(client: TestClient, body: Any) -> None:
    answer = client.post(f"{API}/login", json=body)
    assert answer.status_code == 400
    assert "secretsecret" not in answer.text
    assert '"secret"' not in answer.text


def test_a_refresh_token_works_in_the_body_and_as_bearer_token(service: Service, client: TestClient) -> None:
    user = new_user(service, privileged=False)
    first = login(client, user.email_address).json()
    second = client.post(f"{API}/refresh", json={"refresh_token": first["refresh_token"]})
    assert second.status_code == 200
    third = client.post(f"{API}/refresh", headers=bearer(second.json()["refresh_token"]))
    assert third.status_code == 200
    assert client.get(f"{API}/users/me", headers=bearer(third.json()["access_token"])).status_code == 200
    reused = client.post(f"{API}/refresh", headers=bearer(first["refresh_token"]))
    assert (reused.status_code, reused.json()["code"]) == (401, "not-signed-in")
    assert client.get(f"{API}/users/me", headers=bearer(third.json()["access_token"])).status_code == 401


def test_each_token_is_good_for_its_own_purpose_only(service: Service, client: TestClient) -> None:
    pair = login(client, new_user(service, privileged=False).email_address).json()
    wrong = [
        client.get(f"{API}/users/me", headers=bearer(pair["refresh_token"])),
        client.post(f"{API}/refresh", headers=bearer(pair["access_token"])),
        client.post(f"{API}/refresh", json={"refresh_token": pair["access_token"]}),
        client.post(f"{API}/refresh"),
        client.get(f"{API}/users/me"),
        client.get(f"{API}/users/me", headers={"Authorization": f"Basic {pair['access_token']}"}),
        client.get(f"{API}/users/me", params={"access_token": pair["access_token"]}),
    ]
    assert {answer.status_code for answer in wrong} == {401}
    assert {answer.headers["WWW-Authenticate"] for answer in wrong} == {"Bearer"}


@on_sqlite
def test_a_stale_token_does_not_keep_anybody_from_signing_in(service: Service, client: TestClient) -> None:
    user = new_user(service, privileged=False)
    body = {"email_address": user.email_address, "password": PASSWORD}
    assert client.post(f"{API}/login", json=body, headers=bearer("stale")).status_code == 200


def test_signing_out_ends_the_session(client: TestClient, researcher: Person) -> None:
    assert client.post(f"{API}/logout", headers=researcher.headers).status_code == 204
    assert client.get(f"{API}/users/me", headers=researcher.headers).status_code == 401
    assert client.post(f"{API}/logout", headers=researcher.headers).status_code == 401


def test_no_password_token_or_address_is_in_logs_audit_or_errors(
    service: Service, client: TestClient, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    user = new_user(service, privileged=False)
    pair = login(client, user.email_address).json()
    answers = [
        login(client, user.email_address, "a very secret guess"),
        client.post(f"{API}/refresh", json={"refresh_token": pair["refresh_token"] + "x"}),
        client.post(f"{API}/refresh", json={"refresh_token": pair["refresh_token"], "more": PASSWORD}),
        client.get(f"{API}/users/me", headers=bearer(pair["access_token"] + "x")),
        client.post(f"{API}/setup", json={"token": "guessed-set-up-token", **JOHN}),
        client.patch(
            f"{API}/users/{user.id}",
            json={"password": "short!", "current_password": PASSWORD},
            headers=bearer(pair["access_token"]),
        ),
    ]
    assert [answer.status_code for answer in answers] == [401, 401, 400, 401, 403, 400]
    with service.database.reading() as connection:
        entries = repr(connection.execute(select(audit)).all())
    told = entries + caplog.text + "".join(capfd.readouterr()) + "".join(answer.text for answer in answers)
    secrets = (PASSWORD, "a very secret guess", "short!", "guessed-set-up-token", JOHN["password"])
    for secret in (*secrets, *JOHN.values(), user.email_address, pair["access_token"], pair["refresh_token"]):
        assert secret not in told
