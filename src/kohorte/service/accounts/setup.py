"""Create the first steward with a one-time token that the service prints at its start."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, delete, exists, insert, select, update

from kohorte.errors import AccessDenied
from kohorte.service.accounts import users
from kohorte.service.context import Service
from kohorte.service.integrity.marks import USER, USERS
from kohorte.service.storage.schema import audit_head, now, setup_tokens


def fresh_token(service: Service) -> str | None:
    """Return a new token for the first steward, which replaces older ones; None if there is a steward."""
    token = secrets.token_urlsafe(32)
    with service.database.writing() as connection:
        _one_at_a_time(connection)
        if _has_steward(connection) or not all_genuine(service, connection):
            return None
        connection.execute(delete(setup_tokens).where(setup_tokens.c.used_at.is_(None)))
        connection.execute(insert(setup_tokens).values(token_hash=_hash(service, token), created_at=now()))
        service.log.append(connection, "make-setup-token", "service", actor=None)
    return token


def create_first_steward(
    service: Service, token: str, *, email_address: str, name: str, institution: str, password: str
) -> Row[Any]:
    """Create the first steward; the token cannot be used again."""
    with service.database.reading() as connection:
        unused = select(exists().where(_unused(service, token)))
        if _has_steward(connection) or not connection.execute(unused).scalar_one():
            raise _refused()
    wanted = users.Changes(email_address, name, institution, privileged=True)
    values = users.prepared(wanted, password, strong=True)
    with service.database.writing() as connection:
        _one_at_a_time(connection)
        used = connection.execute(update(setup_tokens).where(_unused(service, token)).values(used_at=now()))
        if used.rowcount != 1 or _has_steward(connection) or not all_genuine(service, connection):
            raise _refused()
        return users.add(service, connection, values, by=None, action="create-first-steward")


def has_steward(service: Service) -> bool:
    """Whether there is a steward who can sign in."""
    with service.database.reading() as connection:
        return _has_steward(connection)


def _one_at_a_time(connection: Connection) -> None:
    connection.execute(select(audit_head.c.id).with_for_update()).one()


def _has_steward(connection: Connection) -> bool:
    return bool(connection.execute(select(exists().where(users.can_act()))).scalar_one())


def all_genuine(service: Service, connection: Connection) -> bool:
    """Whether all accounts are as the service wrote them: nobody becomes the first steward by removing the others."""
    rows = connection.execute(USERS).all()
    known = service.guard.state_log.floors.names(USER.table.name)
    whole = known <= {USER.name(USER.key_of(row)) for row in rows}
    return whole and all(service.guard.problem(connection, USER, row) is None for row in rows)


def _unused(service: Service, token: str) -> ColumnElement[bool]:
    """The condition that a token is unused; hashes are compared, so that timing reveals nothing about the token."""
    return and_(setup_tokens.c.token_hash == _hash(service, token), setup_tokens.c.used_at.is_(None))


def _hash(service: Service, token: str) -> str:
    """A keyed hash: a person who can write to the database cannot enter a token of their own."""
    return hmac.new(service.vault.derived("setup tokens"), token.encode(), hashlib.sha256).hexdigest()


def _refused() -> AccessDenied:
    return AccessDenied("the set-up token is not valid or no longer valid", code="not-allowed")
