"""Who set the password and the roles of an account.

A person who sets the password of another account could act as its owner, also after the owner has changed it: nobody
can tell who changed it. Accounts that one person could use are therefore not two people. What is done on the machine of
the service (`kohorte user`, the set-up token) counts as done by nobody: the account that runs the service has all keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, select, update

from kohorte.service.access import Actor, roles_of
from kohorte.service.context import Service
from kohorte.service.integrity.marks import USER, USERS
from kohorte.service.permissions import Permission
from kohorte.service.storage.schema import audit, users

MACHINE = 0
UNKNOWN = -1
"""Stands for the person who set up an account of which the audit log does not say who."""
CREATED, CHANGED = ("create-user", "create-first-steward"), "change-user"


def of_new(by: int | None, second: int | None) -> dict[str, int | None]:
    """Return the columns of a new account that `by` creates and `second` has confirmed."""
    return {"password_by": by or MACHINE, "roles_by": by or MACHINE, "roles_second": second}


def of_change(user_id: int, values: Mapping[str, Any], by: int | None, second: int | None) -> dict[str, int | None]:
    """Return the columns that a change of an account changes with it."""
    if "deleted_at" in values:
        return {}
    changed: dict[str, int | None] = {}
    if by != user_id and not values.keys().isdisjoint(("password_hash", "certificate_fingerprint")):
        changed["password_by"] = by or MACHINE
    if "roles" in values:
        changed |= {"roles_by": by or MACHINE, "roles_second": second}
    return changed


def people_behind(service: Service, connection: Connection, user_id: int) -> frozenset[int]:
    """Return the user, the one who set the password, the one who set the password of that one, and so on."""
    found: set[int] = set()
    person: int = user_id
    while person != MACHINE and person not in found:
        found.add(person)
        row = connection.execute(USERS.where(users.c.id == person)).one_or_none()
        if row is None:
            break
        origin = service.guard.checked(connection, USER, row).password_by
        person = UNKNOWN if origin is None else origin
    return frozenset(found)


def are_independent(service: Service, connection: Connection, one: int, other: int) -> bool:
    """Whether nobody could act as both users."""
    return people_behind(service, connection, one).isdisjoint(people_behind(service, connection, other))


def usable_with(connection: Connection, permission: Permission) -> list[Row[Any]]:
    """Return the rows of all users who can sign in and have a permission."""
    usable = (users.c.disabled_at.is_(None), users.c.deleted_at.is_(None))
    rows = connection.execute(USERS.where(*usable).order_by(users.c.id)).all()
    return [row for row in rows if Actor(row.id, roles_of(row)).may(permission)]


def fill_in(service: Service) -> None:
    """Fill the columns of accounts from before they existed, as the audit log tells."""
    with service.database.writing() as connection:
        for row in connection.execute(USERS.where(users.c.password_by.is_(None))).all():
            if service.guard.problem(connection, USER, row) is None:
                told = _told(connection, row.id)
                with service.guard.changing(connection, USER, row.id):
                    connection.execute(update(users).where(users.c.id == row.id).values(**told))


def _told(connection: Connection, user_id: int) -> dict[str, int | None]:
    found: dict[str, int | None] = {"password_by": UNKNOWN, "roles_by": UNKNOWN}
    wanted = (audit.c.object == f"user {user_id}", audit.c.action.in_((*CREATED, CHANGED)))
    for entry in connection.execute(select(audit).where(*wanted).order_by(audit.c.number)).all():
        changed = str(entry.details.get("changed", "password, roles")).split(", ")
        by = entry.actor_id or MACHINE
        if by != user_id and not {"password", "certificate_fingerprint"}.isdisjoint(changed):
            found["password_by"] = by
        if "roles" in changed:
            found["roles_by"] = by
    return found


def approvers_who_depend_on_one_person(service: Service) -> list[int]:
    """Return the numbers of all approvers of ways back if no two of them are independent; otherwise none."""
    with service.database.reading() as connection:
        numbers = [row.id for row in usable_with(connection, Permission.APPROVE_WAY_BACK)]
        behind = [people_behind(service, connection, number) for number in numbers]
    pairs = ((one, other) for place, one in enumerate(behind) for other in behind[:place])
    return [] if len(numbers) < 2 or any(one.isdisjoint(other) for one, other in pairs) else numbers
