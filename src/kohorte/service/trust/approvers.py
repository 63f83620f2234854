"""Which approvals of a way back count: those of two people who are independent of each other and of who asked."""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import combinations
from typing import Any

from sqlalchemy import Connection, Row

from kohorte.errors import AccessDenied
from kohorte.service.access import Actor, roles_of
from kohorte.service.accounts import origins
from kohorte.service.context import Service
from kohorte.service.integrity.marks import USER, USERS
from kohorte.service.permissions import Permission
from kohorte.service.storage.schema import users
from kohorte.service.trust.folders import number_of
from kohorte.trust.way_back import Request


def refuse(service: Service, request: Request, names: Sequence[str]) -> None:
    """Refuse approvers, by their names in the log, whose approvals of a request do not count."""
    with service.database.reading() as connection:
        rows = [_approver(service, connection, number_of(name)) for name in names]
        behind = [origins.people_behind(service, connection, row.id) for row in rows]
        asking = origins.people_behind(service, connection, number_of(request.asked_by))
    if any(not asking.isdisjoint(people) for people in behind) or number_of(request.asked_by) in _granting(rows):
        raise _dependent("the person who asked, or somebody who could act as that person, set up an approver")
    _refuse_pairs(rows, behind)


def refuse_dependent(service: Service, names: Sequence[str]) -> None:
    """Refuse approvers, by their names in the log, of whom one person could act as two."""
    with service.database.reading() as connection:
        rows = [_approver(service, connection, number_of(name)) for name in names if number_of(name)]
        behind = [origins.people_behind(service, connection, row.id) for row in rows]
    _refuse_pairs(rows, behind)


def _refuse_pairs(rows: Sequence[Row[Any]], behind: Sequence[Set[int]]) -> None:
    if any(not one.isdisjoint(other) for one, other in combinations(behind, 2)):
        raise _dependent("one person set the passwords of both approvers and could act as both")
    if any(_granted_alone(one, other) for one, other in combinations(rows, 2)):
        raise _dependent("one person alone made both approvers what they are")


def _granting(rows: Sequence[Row[Any]]) -> set[int]:
    """Those who gave approvers their roles."""
    return {row.roles_by for row in rows}


def _approver(service: Service, connection: Connection, number: int) -> Row[Any]:
    usable = (users.c.disabled_at.is_(None), users.c.deleted_at.is_(None))
    row = connection.execute(USERS.where(users.c.id == number, *usable)).one_or_none()
    if row is None or not Actor(row.id, roles_of(row)).may(Permission.APPROVE_WAY_BACK):
        raise AccessDenied("somebody who approved may not approve any more; ask again", code="way-back-approver")
    return service.guard.checked(connection, USER, row)


def _granted_alone(one: Row[Any], other: Row[Any]) -> bool:
    """Whether one person gave both their roles, and nobody confirmed it."""
    alone = one.roles_second is None and other.roles_second is None
    return alone and one.roles_by == other.roles_by != origins.MACHINE


def _dependent(reason: str) -> AccessDenied:
    return AccessDenied(
        f"{reason}; another approver is needed, or a password that is set on the machine of the service "
        "(kohorte user password)",
        code="way-back-dependent",
    )
