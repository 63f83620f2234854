"""The first steward: one token, once."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select

from kohorte.errors import AccessDenied, InputError
from kohorte.service.accounts import sessions, setup
from kohorte.service.context import Service
from kohorte.service.storage.schema import audit, setup_tokens, user_roles, users
from support.service import new_user, on_sqlite

JOHN = {"email_address": "john@example.com", "name": "John Doe", "institution": "Fraunhofer IOSB"}
PASSWORD = "three sparrows on a wire"


def first(service: Service, token: str | None, **other: str) -> str:
    assert token is not None
    try:
        setup.create_first_steward(service, token, **{**JOHN, "password": PASSWORD, **other})
    except AccessDenied as error:
        return error.code
    return "created"


def test_the_token_makes_a_steward_who_can_sign_in(service: Service) -> None:
    assert first(service, setup.fresh_token(service)) == "created"
    sessions.sign_in(service, "john@example.com", PASSWORD)
    with service.database.reading() as connection:
        assert connection.execute(select(user_roles.c.role)).scalars().all() == ["steward"]


def test_the_token_works_once(service: Service) -> None:
    token = setup.fresh_token(service)
    assert first(service, token) == "created"
    assert first(service, token, email_address="other@example.com") == "not-allowed"


def test_a_newer_token_replaces_the_older(service: Service) -> None:
    old, new = setup.fresh_token(service), setup.fresh_token(service)
    assert first(service, old) == "not-allowed"
    assert first(service, new) == "created"


@on_sqlite
@pytest.mark.parametrize("token", ["", "wrong", "é" * 50, "\0"])
def test_another_token_is_refused(service: Service, token: str) -> None:
    setup.fresh_token(service)
    assert first(service, token) == "not-allowed"


def test_there_is_no_token_while_there_is_a_steward(service: Service) -> None:
    token = setup.fresh_token(service)
    new_user(service, privileged=False)
    assert setup.fresh_token(service) is not None
    token = setup.fresh_token(service)
    new_user(service, privileged=True)
    assert setup.fresh_token(service) is None
    assert first(service, token) == "not-allowed"


def test_a_weak_password_does_not_use_up_the_token(service: Service) -> None:
    token = setup.fresh_token(service)
    with pytest.raises(InputError):
        first(service, token, password="123456")
    assert first(service, token) == "created"


def test_of_many_who_use_the_token_at_once_one_becomes_steward(service: Service) -> None:
    token = setup.fresh_token(service)
    with ThreadPoolExecutor(8) as pool:
        ended = list(pool.map(lambda number: first(service, token, email_address=f"u{number}@example.com"), range(8)))
    assert sorted(ended) == ["created"] + ["not-allowed"] * 7
    with service.database.reading() as connection:
        assert connection.execute(select(func.count()).select_from(users)).scalar_one() == 1


def test_of_servers_that_start_at_once_one_token_is_left(service: Service) -> None:
    with ThreadPoolExecutor(8) as pool:
        tokens = list(pool.map(lambda _: setup.fresh_token(service), range(8)))
    with service.database.reading() as connection:
        assert connection.execute(select(func.count()).select_from(setup_tokens)).scalar_one() == 1
    assert [first(service, token, email_address=f"{n}@example.com") for n, token in enumerate(tokens)].count(
        "created"
    ) == 1


def test_neither_database_nor_audit_log_hold_the_token(service: Service) -> None:
    token = setup.fresh_token(service)
    assert token is not None
    first(service, token)
    with service.database.reading() as connection:
        kept = repr([connection.execute(select(table)).all() for table in (setup_tokens, audit)])
    assert token not in kept
    assert "john" not in kept.lower()
