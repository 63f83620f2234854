"""The first steward: whoever starts the service sees a token that makes one, once."""

from __future__ import annotations

import hashlib
import secrets
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, delete, exists, insert, select, update

from kohorte.errors import AccessDenied
from kohorte.service.accounts import users
from kohorte.service.context import Service
from kohorte.service.storage.schema import audit_head, now, setup_tokens


def fresh_token(service: Service) -> str | None:
    """Return a new token for the first steward, which replaces older ones; None when there is a steward."""
    token = secrets.token_urlsafe(32)
    with service.database.writing() as connection:
        _one_at_a_time(connection)
        if _has_steward(connection):
            return None
        connection.execute(delete(setup_tokens).where(setup_tokens.c.used_at.is_(None)))
        connection.execute(insert(setup_tokens).values(token_hash=_hash(token), created_at=now()))
        service.log.append(connection, "make-setup-token", "service", actor=None)
    return token


def create_first_steward(
    service: Service, token: str, *, email_address: str, name: str, institution: str, password: str
) -> Row[Any]:
    """Create the first steward; the token is used up."""
    with service.database.reading() as connection:
        if _has_steward(connection) or not connection.execute(select(exists().where(_unused(token)))).scalar_one():
            raise _refused()
    values = users.prepared(
        email_address=email_address,
        name=name,
        institution=institution,
        password=password,
        privileged=True,
        strong=True,
    )
    with service.database.writing() as connection:
        _one_at_a_time(connection)
        used = connection.execute(update(setup_tokens).where(_unused(token)).values(used_at=now()))
        if used.rowcount != 1 or _has_steward(connection):
            raise _refused()
        row = users.add(connection, values)
        service.log.append(connection, "create-first-steward", f"user {row.id}", actor=None)
    return row


def _one_at_a_time(connection: Connection) -> None:
    connection.execute(select(audit_head.c.id).with_for_update()).one()


def _has_steward(connection: Connection) -> bool:
    return bool(connection.execute(select(exists().where(users.can_act()))).scalar_one())


def _unused(token: str) -> ColumnElement[bool]:
    """The condition that a token is unused; hashes are compared, so that time tells nothing of the token."""
    return and_(setup_tokens.c.token_hash == _hash(token), setup_tokens.c.used_at.is_(None))


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _refused() -> AccessDenied:
    return AccessDenied("the set-up token is not valid, or no longer", code="not-allowed")
