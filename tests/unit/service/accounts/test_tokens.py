"""Tokens: only ours, only for what they are for, only while session and user are good."""

from base64 import urlsafe_b64encode
from dataclasses import replace
from datetime import timedelta
from json import dumps
from typing import Any

import jwt
import pytest
from sqlalchemy import event, update

from kohorte.errors import AccessDenied
from kohorte.service.access import Actor
from kohorte.service.accounts import sessions, tokens
from kohorte.service.context import Service
from kohorte.service.storage.schema import now
from kohorte.service.storage.schema import sessions as session_rows
from kohorte.service.storage.schema import users as user_rows
from support.service import PASSWORD, RESEARCHER, new_user, on_sqlite


@pytest.fixture
def user(service: Service) -> Any:
    """A researcher."""
    return new_user(service, privileged=False)


@pytest.fixture
def pair(service: Service, user: Any) -> sessions.Tokens:
    """The tokens of the researcher."""
    return sessions.sign_in(service, user.email_address, PASSWORD)


def content(token: str) -> dict[str, Any]:
    return jwt.decode(token, options={"verify_signature": False})


def key_of(service: Service) -> bytes:
    return service.vault.derived("tokens")


def signed(service: Service, claims: dict[str, Any]) -> str:
    return jwt.encode(claims, key_of(service), algorithm="HS256")


def refuses(service: Service, token: str) -> None:
    """Every bad token gets the same answer, which does not repeat it."""
    with pytest.raises(AccessDenied) as raised:
        tokens.authenticate(service, token)
    assert (raised.value.code, raised.value.message) == ("not-signed-in", tokens.refused().message)
    with pytest.raises(AccessDenied) as raised:
        sessions.rotate(service, token)
    assert (raised.value.code, raised.value.message) == ("not-signed-in", tokens.refused().message)


def change(service: Service, table: Any, **values: Any) -> None:
    with service.database.writing() as connection:
        connection.execute(update(table).values(**values))


def test_an_access_token_says_who_is_calling(service: Service, user: Any, pair: sessions.Tokens) -> None:
    actor = tokens.authenticate(service, pair.access_token)
    assert actor == Actor(user.id, RESEARCHER, content(pair.access_token)["sid"])


def test_tokens_carry_the_claims_and_live_as_long_as_they_should(service: Service, pair: sessions.Tokens) -> None:
    access, refresh = content(pair.access_token), content(pair.refresh_token)
    assert set(access) == set(refresh) == {"sub", "sid", "jti", "iat", "exp", "type", "iss"}
    assert (access["type"], refresh["type"]) == ("access", "refresh")
    assert 0 <= 900 - (access["exp"] - access["iat"]) <= 1
    assert 0 <= 7 * 86400 - (refresh["exp"] - refresh["iat"]) <= 1
    assert pair.expires_in in (899, 900)


def test_authentication_reads_the_database_once(service: Service, pair: sessions.Tokens) -> None:
    statements: list[str] = []
    event.listen(service.database.engine, "before_cursor_execute", lambda *parts: statements.append(parts[2]))
    tokens.authenticate(service, pair.access_token)
    assert len([statement for statement in statements if statement.startswith("SELECT")]) == 1


@on_sqlite
def test_a_token_without_signature_is_refused(service: Service, pair: sessions.Tokens) -> None:
    refuses(service, jwt.encode(content(pair.access_token), None, algorithm="none"))
    for name in ("none", "None", "NONE", "", None, 5):
        head = urlsafe_b64encode(dumps({"alg": name, "typ": "JWT"}).encode()).rstrip(b"=").decode()
        body = pair.access_token.split(".")[1]
        refuses(service, f"{head}.{body}.")
        refuses(service, f"{head}.{body}.{pair.access_token.split('.')[2]}")


@on_sqlite
def test_a_token_of_another_key_or_algorithm_is_refused(service: Service, pair: sessions.Tokens) -> None:
    refuses(service, jwt.encode(content(pair.access_token), b"k" * 32, algorithm="HS256"))
    refuses(service, jwt.encode(content(pair.access_token), key_of(service) * 2, algorithm="HS512"))
    refuses(service, jwt.encode(content(pair.access_token), service.vault.derived("audit"), algorithm="HS256"))


@on_sqlite
def test_a_refresh_token_is_no_access_token(service: Service, pair: sessions.Tokens) -> None:
    with pytest.raises(AccessDenied):
        tokens.authenticate(service, pair.refresh_token)


@on_sqlite
def test_an_access_token_is_no_refresh_token(service: Service, pair: sessions.Tokens) -> None:
    with pytest.raises(AccessDenied):
        sessions.rotate(service, pair.access_token)
    assert tokens.authenticate(service, pair.access_token)


@on_sqlite
@pytest.mark.parametrize("name", ["sub", "sid", "jti", "iat", "exp", "type", "iss"])
def test_a_token_without_one_of_its_claims_is_refused(service: Service, pair: sessions.Tokens, name: str) -> None:
    for whole in (content(pair.access_token), content(pair.refresh_token)):
        refuses(service, signed(service, {key: value for key, value in whole.items() if key != name}))


def test_a_token_of_another_issuer_session_or_user_is_refused(service: Service, pair: sessions.Tokens) -> None:
    new_user(service, privileged=True)
    for change_of in ({"iss": "other"}, {"sid": "0" * 32}, {"sub": "2"}, {"type": "other"}):
        refuses(service, signed(service, content(pair.access_token) | change_of))
        refuses(service, signed(service, content(pair.refresh_token) | change_of))


@on_sqlite
def test_an_expired_token_is_refused(service: Service, user: Any) -> None:
    hasty = replace(service, settings=replace(service.settings, access_minutes=1e-6))
    pair = sessions.sign_in(hasty, user.email_address, PASSWORD)
    with pytest.raises(AccessDenied):
        tokens.authenticate(service, pair.access_token)
    refuses(service, signed(service, content(pair.access_token) | {"exp": 1}))
    refuses(service, signed(service, content(pair.refresh_token) | {"exp": 1}))


def test_a_token_whose_session_was_ended_or_is_over_is_refused(service: Service, pair: sessions.Tokens) -> None:
    change(service, session_rows, expires_at=now() - timedelta(seconds=1))
    refuses(service, pair.access_token)
    refuses(service, pair.refresh_token)
    change(service, session_rows, expires_at=now() + timedelta(days=1), revoked_at=now())
    refuses(service, pair.access_token)
    refuses(service, pair.refresh_token)


@pytest.mark.parametrize("column", ["disabled_at", "deleted_at", "password_expires_at"])
def test_a_token_of_a_user_who_may_not_sign_in_is_refused(service: Service, pair: sessions.Tokens, column: str) -> None:
    change(service, user_rows, **{column: now() - timedelta(seconds=1)})
    refuses(service, pair.access_token)
    refuses(service, pair.refresh_token)


@on_sqlite
def test_a_token_with_one_other_character_is_refused(service: Service, pair: sessions.Tokens) -> None:
    token = pair.access_token
    for place in range(len(token) - 1):  # the last character has bits that mean nothing
        for other in "A9.é":
            if other != token[place]:
                refuses(service, token[:place] + other + token[place + 1 :])


@on_sqlite
@pytest.mark.parametrize(
    "token", ["", ".", "..", "...", "a.b.c", "é.ü.ß", "\0", "a" * 100_000, "e30.e30.", "\ud800.a.b"]
)
def test_what_is_no_token_at_all_is_refused(service: Service, token: str) -> None:
    refuses(service, token)


@on_sqlite
def test_deeply_nested_heads_and_bodies_are_refused(service: Service) -> None:
    nested = urlsafe_b64encode(b"[" * 700).rstrip(b"=").decode()
    refuses(service, f"{nested}.{nested}.")


@on_sqlite
def test_tokens_are_not_in_reprs(pair: sessions.Tokens) -> None:
    assert pair.access_token not in repr(pair)
    assert pair.refresh_token not in repr(pair)
