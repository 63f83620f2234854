"""Signed tokens that identify the caller: valid for minutes (access), days (refresh), or until a browser is idle."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import jwt
from sqlalchemy import BindParameter, ColumnElement, Row, and_, bindparam, or_

from kohorte.errors import AccessDenied
from kohorte.service.access import Actor, roles_of
from kohorte.service.context import Service
from kohorte.service.integrity.marks import USER, USERS
from kohorte.service.storage.schema import Moment, now, sessions, users

ALGORITHM = "HS256"
ISSUER = "kohorte"
CLAIMS = ("sub", "sid", "jti", "iat", "exp", "type", "iss")
LONGEST = 2048


def is_live(moment: datetime | BindParameter[datetime]) -> ColumnElement[bool]:
    """The condition that a session, joined with its user, can be used."""
    return and_(
        sessions.c.revoked_at.is_(None),
        sessions.c.expires_at > moment,
        users.c.disabled_at.is_(None),
        users.c.deleted_at.is_(None),
        or_(users.c.password_expires_at.is_(None), users.c.password_expires_at > moment),
    )


CALLER = USERS.join(sessions, sessions.c.user_id == users.c.id).where(
    sessions.c.id == bindparam("of_session"),
    users.c.id == bindparam("of_user"),
    is_live(bindparam("moment", type_=Moment)),
)
"""Built once, because every request needs it."""


class Type(StrEnum):
    """What a token can be used for."""

    ACCESS = "access"
    REFRESH = "refresh"
    BROWSER = "browser"


@dataclass(frozen=True)
class Claims:
    """The content of a token: user, session and id of the token."""

    user_id: int
    session_id: str
    token_id: str = field(repr=False)


def new_id() -> str:
    """Return a random id that cannot be guessed."""
    return secrets.token_hex(16)


def issued(service: Service, kind: Type, claims: Claims, *, until: datetime) -> str:
    """Return a signed token."""
    content = {
        "sub": str(claims.user_id),
        "sid": claims.session_id,
        "jti": claims.token_id,
        "iat": now(),
        "exp": until,
        "type": str(kind),
        "iss": ISSUER,
    }
    return jwt.encode(content, _key(service), algorithm=ALGORITHM)


def claims_of(service: Service, kind: Type, token: str, *, late: timedelta | None = None) -> Claims:
    """Return the claims of a token that this service signed; all others are refused with the same message.

    `late` accepts a token whose time is over by no more than that, which proves only that somebody was signed in.
    """
    if len(token) > LONGEST:
        raise refused()
    try:
        found = jwt.decode(
            token,
            _key(service),
            algorithms=[ALGORITHM],
            issuer=ISSUER,
            leeway=late or 0,
            options={"require": list(CLAIMS), "verify_iat": False},
        )
    except (jwt.PyJWTError, ValueError, RecursionError):
        raise refused() from None
    if found["type"] != kind:
        raise refused()
    return Claims(int(found["sub"]), found["sid"], found["jti"])


def authenticate(service: Service, token: str) -> Actor:
    """Return the user of a valid access token."""
    return actor_of(service, claims_of(service, Type.ACCESS, token))


def actor_of(service: Service, claims: Claims) -> Actor:
    """Return the user of a live session, with the roles of this moment."""
    row = caller(service, claims)
    return Actor(row.id, roles_of(row), claims.session_id)


def caller(service: Service, claims: Claims) -> Row[Any]:
    """Return the row of the user of a live session, with their roles."""
    of = {"of_session": claims.session_id, "of_user": claims.user_id, "moment": now()}
    with service.database.reading() as connection:
        row = connection.execute(CALLER, of).one_or_none()
        if row is None:
            raise refused()
        return service.guard.checked(connection, USER, row)


def refused() -> AccessDenied:
    """Return the error for every token that is not valid."""
    return AccessDenied("the token is not valid or no longer valid; sign in again", code="not-signed-in")


def _key(service: Service) -> bytes:
    return service.vault.derived("tokens")
