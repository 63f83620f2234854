"""Users: data stewards (privileged) and researchers.

A deleted user stays as an empty row, because the audit log names it. There is always a steward who can sign in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from kohorte.errors import AccessDenied, InputError
from kohorte.service.access import Actor, user_for
from kohorte.service.accounts import passwords, sessions
from kohorte.service.accounts.addresses import folded, valid
from kohorte.service.context import Service
from kohorte.service.storage.schema import now, users

LONGEST_TEXT = 200
TEXT = r"^[^\x00-\x1f\x7f-\x9f]*$"


@dataclass(frozen=True)
class Changes:
    """What shall change of a user; None leaves a thing as it is."""

    email_address: str | None = None
    name: str | None = None
    institution: str | None = None
    privileged: bool | None = None
    disabled: bool | None = None
    password: str | None = field(default=None, repr=False)
    current_password: str | None = field(default=None, repr=False)

    @property
    def stewards_only(self) -> bool:
        """Whether something shall change that users cannot change of themselves."""
        return any(part is not None for part in (self.email_address, self.privileged, self.disabled))

    def values(self) -> dict[str, Any]:
        """Return the columns to change, without the password's."""
        values: dict[str, Any] = {}
        if self.email_address is not None:
            values["email_address"] = valid(self.email_address)
        if self.name is not None:
            values["name"] = _text("name", self.name)
        if self.institution is not None:
            values["institution"] = _text("institution", self.institution, fewest=0)
        if self.privileged is not None:
            values["privileged"] = self.privileged
        if self.disabled is not None:
            values["disabled_at"] = now() if self.disabled else None
        return values


def user_to_dict(row: Row[Any]) -> dict[str, Any]:
    """Return a user as clients see it."""
    return {
        "created_at": row.created_at.isoformat(),
        "disabled": row.disabled_at is not None,
        "email_address": row.email_address,
        "institution": row.institution,
        "name": row.name,
        "privileged_status": row.privileged,
        "user_id": row.id,
    }


def create(
    service: Service,
    *,
    email_address: str,
    name: str,
    institution: str,
    password: str,
    privileged: bool,
    by: int | None,
) -> Row[Any]:
    """Create a user; `by` is the steward who does it, None the person at the machine itself."""
    values = prepared(
        email_address=email_address,
        name=name,
        institution=institution,
        password=password,
        privileged=privileged,
        strong=by is None,
    )
    with service.database.writing() as connection:
        row = add(connection, values)
        service.log.append(connection, "create-user", f"user {row.id}", actor=by, privileged=privileged)
    return row


def prepared(
    *, email_address: str, name: str, institution: str, password: str, privileged: bool, strong: bool
) -> dict[str, Any]:
    """Check what a user shall be and hash the password, ready for `add`."""
    values = Changes(email_address, name, institution, privileged).values()
    return values | _password_values(password, values, strong=strong)


def add(connection: Connection, values: dict[str, Any]) -> Row[Any]:
    """Put a user into the table."""
    with _one_per_address():
        return connection.execute(insert(users).values(**values, created_at=now()).returning(users)).one()


def listed(service: Service, *, limit: int, page: int) -> tuple[list[Row[Any]], int]:
    """Return a page of users in the order of their ids, and how many there are."""
    present = users.c.deleted_at.is_(None)
    statement = select(users).where(present).order_by(users.c.id).limit(limit).offset((page - 1) * limit)
    with service.database.reading() as connection:
        total = connection.execute(select(func.count()).select_from(users).where(present)).scalar_one()
        return list(connection.execute(statement)), total


def shown(service: Service, actor: Actor, user_id: int) -> Row[Any]:
    """Return a user whom the actor may see."""
    with service.database.reading() as connection:
        return user_for(connection, actor, user_id)


def change(service: Service, actor: Actor, user_id: int, changes: Changes) -> Row[Any]:
    """Change a user: a steward everything, others their own name, institution and password."""
    row = shown(service, actor, user_id)
    if changes.stewards_only and not actor.privileged:
        raise AccessDenied("only a data steward may change this", code="not-allowed")
    values, own = changes.values(), actor.user_id == user_id
    if changes.password is not None:
        if own:
            _confirm(service, row, changes.current_password)
        values |= _password_values(changes.password, {**row._asdict(), **values}, strong=own)
    if not values:
        return row
    with service.database.writing() as connection:
        return _applied(service, connection, user_id, values, by=actor)


def delete(service: Service, actor: Actor, user_id: int) -> None:
    """Delete a user: the row stays without anything that tells who it was."""
    gone = {"email_address": f"deleted-{user_id}", "name": "", "institution": "", "password_hash": ""}
    moment = now()
    with service.database.writing() as connection:
        user_for(connection, actor, user_id)
        _applied(service, connection, user_id, {**gone, "disabled_at": moment, "deleted_at": moment}, by=actor)


def change_by_hand(service: Service, email_address: str, changes: Changes) -> Row[Any]:
    """Change a user from the machine itself, where nobody is signed in."""
    with service.database.reading() as connection:
        found = select(users).where(users.c.email_address == folded(email_address), users.c.deleted_at.is_(None))
        row = connection.execute(found).one_or_none()
    if row is None:
        raise InputError("there is no user with this e-mail address", code="user-unknown")
    values = changes.values()
    if changes.password is not None:
        values |= _password_values(changes.password, {**row._asdict(), **values}, strong=True)
    with service.database.writing() as connection:
        return _applied(service, connection, row.id, values, by=None)


def can_act(table: Any = users.c) -> ColumnElement[bool]:
    """The condition that a user is a steward who may sign in."""
    return and_(table.privileged, table.disabled_at.is_(None), table.deleted_at.is_(None))


def _applied(
    service: Service, connection: Connection, user_id: int, values: dict[str, Any], *, by: Actor | None
) -> Row[Any]:
    _keep_a_steward(connection, user_id, values)
    with _one_per_address():
        row = connection.execute(update(users).where(users.c.id == user_id).values(**values).returning(users)).one()
    if row.disabled_at is not None or "password_hash" in values:
        own = by is not None and by.user_id == user_id and row.disabled_at is None
        sessions.revoke_all(connection, user_id, but=by.session_id if by is not None and own else None)
    action = "delete-user" if "deleted_at" in values else "change-user"
    changed = ", ".join(sorted(name.removesuffix("_hash").removesuffix("_at") for name in values))
    actor = None if by is None else by.user_id
    service.log.append(connection, action, f"user {user_id}", actor=actor, changed=changed)
    return row


def _keep_a_steward(connection: Connection, user_id: int, values: dict[str, Any]) -> None:
    """Hold the user and all stewards until the transaction ends, and refuse if none would be left."""
    held = select(users, can_act().label("acts")).where(
        users.c.deleted_at.is_(None), or_(users.c.id == user_id, can_act())
    )
    rows = {row.id: row for row in connection.execute(held.order_by(users.c.id).with_for_update(key_share=True))}
    if user_id not in rows:
        raise AccessDenied("there is no such user", code="not-found")
    leaves = values.get("privileged") is False or values.get("disabled_at") is not None
    if leaves and rows[user_id].acts and not any(row.acts for row in rows.values() if row.id != user_id):
        raise InputError("the last data steward has to stay; name another one first", code="last-steward-conflict")


def _password_values(password: str, user: Mapping[str, Any], *, strong: bool) -> dict[str, Any]:
    about = [user[part] for part in ("email_address", "name", "institution")]
    expiry = None
    if strong:
        passwords.refuse_weak(password, about=about)
    else:
        expiry = passwords.initial_expiry(password, about=about)
    return {"password_hash": passwords.hashed(password), "password_expires_at": expiry}


def _confirm(service: Service, row: Row[Any], password: str | None) -> None:
    if password is None:
        raise InputError("current_password: is needed to change one's own password", code="user-current-password")
    if not sessions.knows_password(service, row.email_address, password):
        raise AccessDenied("current_password: is wrong", code="password-wrong")


def _text(name: str, text: str, *, fewest: int = 1) -> str:
    stripped = text.strip()
    readable = re.fullmatch(TEXT, stripped) and stripped.encode(errors="ignore").decode() == stripped
    if not fewest <= len(stripped) <= LONGEST_TEXT or not readable:
        raise InputError(f"{name}: is a text of {fewest} to {LONGEST_TEXT} characters in one line", code="user-text")
    return stripped


@contextmanager
def _one_per_address() -> Iterator[None]:
    try:
        yield
    except IntegrityError:
        raise InputError("email_address: somebody else has this address", code="user-conflict") from None
