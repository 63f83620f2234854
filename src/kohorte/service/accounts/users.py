"""Users and their roles.

A deleted user remains as an empty row, because the audit log refers to it. There is always a steward who can sign in,
and, where a way back is served and there was one, a data protection officer who is told about it.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, delete, exists, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from kohorte.errors import AccessDenied, InputError
from kohorte.service.access import Actor, found_or_refused, roles_of, user_for
from kohorte.service.accounts import certificates, origins, sessions
from kohorte.service.accounts.addresses import folded, valid
from kohorte.service.context import Service
from kohorte.service.integrity.marks import USER, USERS
from kohorte.service.permissions import Permission, Role
from kohorte.service.storage.schema import now, user_roles, users
from kohorte.trust import passwords

LONGEST_TEXT = 200
TEXT = r"^[^\x00-\x1f\x7f-\x9f]*$"
PRESENT = users.c.deleted_at.is_(None)


@dataclass(frozen=True)
class Changes:
    """Changes to a user; None leaves a field unchanged.

    `privileged` adds or removes the role of steward; the name comes from PRIORI's interface.
    """

    email_address: str | None = None
    name: str | None = None
    institution: str | None = None
    privileged: bool | None = None
    disabled: bool | None = None
    password: str | None = field(default=None, repr=False)
    current_password: str | None = field(default=None, repr=False)
    roles: Collection[Role] | None = None
    certificate: str | None = None

    @property
    def of_others_only(self) -> bool:
        """Whether the changes include fields that users cannot change for themselves."""
        parts = (self.email_address, self.privileged, self.disabled, self.roles, self.certificate)
        return any(part is not None for part in parts)

    def values(self, present: Collection[Role] = ()) -> dict[str, Any]:
        """Return the columns and roles to change, without the password; `present` are the current roles."""
        values: dict[str, Any] = {}
        if self.email_address is not None:
            values["email_address"] = valid(self.email_address)
        if self.name is not None:
            values["name"] = _text("name", self.name)
        if self.institution is not None:
            values["institution"] = _text("institution", self.institution, fewest=0)
        if self.roles is not None or self.privileged is not None:
            values["roles"] = wanted_roles(self.roles, self.privileged, present)
        if self.disabled is not None:
            values["disabled_at"] = now() if self.disabled else None
        if self.certificate is not None:
            values["certificate_fingerprint"] = certificates.fingerprint_of_pem(self.certificate)
        return values


def wanted_roles(roles: Collection[Role] | None, privileged: bool | None, present: Collection[Role] = ()) -> list[str]:
    """Return the roles that a user shall have, in the order of `Role`; `roles` and `privileged` must agree.

    Without `roles`, a user who is no longer a steward and has no other role is a researcher, as in PRIORI.
    """
    if roles is None:
        kept = set(present) - {Role.STEWARD}
        roles = kept | {Role.STEWARD} if privileged else kept or {Role.RESEARCHER}
    elif not roles:
        raise InputError("roles: a user has at least one role", code="user-roles")
    elif privileged is not None and privileged != (Role.STEWARD in roles):
        raise InputError("roles: contradict privileged_status, which says who is a steward", code="user-roles")
    return [str(role) for role in Role if role in roles]


def user_to_dict(row: Row[Any]) -> dict[str, Any]:
    """Return a user as the interface shows it."""
    roles = roles_of(row)
    return {
        "created_at": row.created_at.isoformat(),
        "disabled": row.disabled_at is not None,
        "email_address": row.email_address,
        "institution": row.institution,
        "name": row.name,
        "privileged_status": Role.STEWARD in roles,
        "roles": [str(role) for role in Role if role in roles],
        "user_id": row.id,
        "certificate": None if row.certificate_fingerprint is None else f"sha256:{row.certificate_fingerprint}",
    }


def create(
    service: Service,
    *,
    email_address: str,
    name: str,
    institution: str,
    password: str | None = None,
    certificate: str | None = None,
    roles: Collection[Role],
    by: int | None,
) -> Row[Any]:
    """Create a user; `by` is the steward who does it, None means the command line."""
    wanted = Changes(email_address, name, institution, roles=roles, certificate=certificate)
    values = prepared(wanted, password, strong=by is None)
    with service.database.writing() as connection:
        return add(service, connection, values, by=by)


def prepared(wanted: Changes, password: str | None, *, strong: bool) -> dict[str, Any]:
    """Check the fields of a new user and hash the password, for `add`.

    An account with a certificate has none; nobody knows the password whose hash it gets.
    """
    values = wanted.values()
    if (password is None) == (wanted.certificate is None):
        raise InputError("a user has a password, or a certificate", code="user-certificate")
    certificates.refuse_roles(values.get("certificate_fingerprint"), values["roles"])
    if password is None:
        return values | {"password_hash": passwords.hashed(secrets.token_hex()), "password_expires_at": None}
    return values | _password_values(password, values, strong=strong)


def add(
    service: Service,
    connection: Connection,
    values: Mapping[str, Any],
    *,
    by: int | None,
    second: int | None = None,
    action: str = "create-user",
) -> Row[Any]:
    """Insert a user, with an entry in the audit log; `second` is the person who confirmed it."""
    columns, roles = {**values, **origins.of_new(by, second)}, values["roles"]
    del columns["roles"]
    with _one_per_address():
        statement = insert(users).values(**columns, created_at=now()).returning(users.c.id)
        user_id = connection.execute(statement).scalar_one()
    _set_roles(connection, user_id, roles)
    service.guard.mark(connection, USER, user_id)
    privileged = Role.STEWARD in roles
    service.log.append(connection, action, f"user {user_id}", actor=by, privileged=privileged, roles=", ".join(roles))
    return connection.execute(USERS.where(users.c.id == user_id)).one()


def listed(service: Service, *, limit: int, page: int) -> tuple[list[Row[Any]], int]:
    """Return a page of users in the order of their ids, and how many there are."""
    statement = USERS.where(PRESENT).order_by(users.c.id).limit(limit).offset((page - 1) * limit)
    with service.database.reading() as connection:
        total = connection.execute(select(func.count()).select_from(users).where(PRESENT)).scalar_one()
        return list(connection.execute(statement)), total


def shown(service: Service, actor: Actor, user_id: int) -> Row[Any]:
    """Return a user whom the actor may see."""
    with service.database.reading() as connection:
        return user_for(service, connection, actor, user_id)


def change(service: Service, actor: Actor, user_id: int, changes: Changes) -> Row[Any]:
    """Change a user: a steward everything, others their own name, institution and password."""
    values = planned(service, actor, user_id, changes)
    if not values:
        return shown(service, actor, user_id)
    with service.database.writing() as connection:
        return apply(service, connection, user_id, values, by=actor)


def planned(service: Service, actor: Actor, user_id: int, changes: Changes) -> dict[str, Any]:
    """Check the changes to a user, and return them for `apply`, a new password only as its hash."""
    row = shown(service, actor, user_id)
    own = actor.user_id == user_id
    if changes.of_others_only or not own:
        actor.refuse_without(Permission.MANAGE_USERS)
    values = changes.values(roles_of(row))
    _refuse_other_proof(row, changes)
    if changes.password is not None:
        if own:
            _confirm(service, row, changes.current_password)
        values |= _password_values(changes.password, {**row._asdict(), **values}, strong=own)
    return values


def removal(user_id: int) -> dict[str, Any]:
    """Return the values of a deleted user for `apply`: nothing that identifies the person."""
    moment = now()
    return {
        "email_address": f"deleted-{user_id}",
        "name": "",
        "institution": "",
        "password_hash": "",
        "certificate_fingerprint": None,
        "disabled_at": moment,
        "deleted_at": moment,
    }


def remove(service: Service, connection: Connection, actor: Actor, user_id: int) -> None:
    """Delete a user whom the actor may see."""
    user_for(service, connection, actor, user_id)
    apply(service, connection, user_id, removal(user_id), by=actor)


def change_by_hand(service: Service, email_address: str, changes: Changes) -> Row[Any]:
    """Change a user from the command line, where nobody is signed in."""
    with service.database.reading() as connection:
        row = _row(connection, users.c.email_address == folded(email_address))
    if row is None:
        raise InputError("there is no user with this e-mail address", code="user-unknown")
    values = changes.values(roles_of(row))
    _refuse_other_proof(row, changes)
    if changes.password is not None:
        values |= _password_values(changes.password, {**row._asdict(), **values}, strong=True)
    with service.database.writing() as connection:
        return apply(service, connection, row.id, values, by=None)


def can_act(role: Role = Role.STEWARD) -> ColumnElement[bool]:
    """The condition that a user has a role, that of a steward if no other is named, and may sign in."""
    holder = exists().where(user_roles.c.user_id == users.c.id, user_roles.c.role == role)
    return and_(holder, users.c.disabled_at.is_(None), PRESENT)


def apply(
    service: Service,
    connection: Connection,
    user_id: int,
    values: Mapping[str, Any],
    *,
    by: Actor | None,
    second: int | None = None,
) -> Row[Any]:
    """Change the row and the roles of a user; a new password or a disabled account ends sessions."""
    actor = None if by is None else by.user_id
    _keep_the_last(connection, user_id, values, Role.STEWARD)
    if service.settings.serves_way_back:
        _keep_the_last(connection, user_id, values, Role.DATA_PROTECTION_OFFICER)
    columns = {name: value for name, value in values.items() if name != "roles"}
    columns |= origins.of_change(user_id, values, actor, second)
    with service.guard.changing(connection, USER, user_id):
        if columns:
            with _one_per_address():
                connection.execute(update(users).where(users.c.id == user_id).values(**columns))
        if "roles" in values:
            _set_roles(connection, user_id, values["roles"])
    row = connection.execute(USERS.where(users.c.id == user_id)).one()
    certificates.refuse_roles(row.certificate_fingerprint, roles_of(row))
    if row.disabled_at is not None or "password_hash" in values:
        own = by is not None and by.user_id == user_id and row.disabled_at is None
        sessions.revoke_all(connection, user_id, but=by.session_id if by is not None and own else None)
    action = "delete-user" if "deleted_at" in values else "change-user"
    changed = ", ".join(sorted(name.removesuffix("_hash").removesuffix("_at") for name in values))
    service.log.append(connection, action, f"user {user_id}", actor=actor, changed=changed)
    return row


def _row(connection: Connection, condition: ColumnElement[bool]) -> Any:
    return connection.execute(USERS.where(condition, PRESENT)).one_or_none()


def _set_roles(connection: Connection, user_id: int, roles: Collection[str]) -> None:
    connection.execute(delete(user_roles).where(user_roles.c.user_id == user_id))
    connection.execute(insert(user_roles), [{"user_id": user_id, "role": role} for role in roles])


def _keep_the_last(connection: Connection, user_id: int, values: Mapping[str, Any], role: Role) -> None:
    """Lock the user and all who have a role until the transaction ends, and refuse if none of them would be left.

    Roles are read again after locking: a statement that waited for a row still sees the older roles.
    """
    held = select(users.c.id).where(PRESENT, or_(users.c.id == user_id, can_act(role))).order_by(users.c.id)
    connection.execute(held.with_for_update(key_share=True)).all()
    found_or_refused(_row(connection, users.c.id == user_id), "user")
    stays = role in values.get("roles", (role,)) and values.get("disabled_at") is None
    holders = connection.execute(select(users.c.id).where(can_act(role))).scalars().all()
    if stays or holders != [user_id]:
        return
    if role is Role.STEWARD:
        raise InputError("the last data steward must stay; appoint another one first", code="last-steward-conflict")
    raise InputError(
        "the last data protection officer must stay, because nobody else is told about the way back; appoint another "
        "one first",
        code="last-officer-conflict",
    )


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
        raise InputError("current_password: is required to change a password", code="user-current-password")
    if not sessions.knows_password(service, row.email_address, password):
        raise AccessDenied("current_password: is wrong", code="password-wrong")


def _refuse_other_proof(row: Row[Any], changes: Changes) -> None:
    """Refuse a password for an account with a certificate, and the other way round."""
    has_certificate = row.certificate_fingerprint is not None
    if (has_certificate and changes.password is not None) or (not has_certificate and changes.certificate is not None):
        raise InputError(
            "a user has a password, or a certificate; create another user for the other", code="user-certificate"
        )


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
        raise InputError("email_address or certificate: another user has the same", code="user-conflict") from None
