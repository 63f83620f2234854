"""The caller, and the objects that the caller may see; the permissions themselves are in `permissions`.

An object that the caller may not see is reported as not found, so that its existence is not revealed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, bindparam, case, false, or_, select, true

from kohorte.errors import AccessDenied
from kohorte.service.context import Service
from kohorte.service.integrity import marks
from kohorte.service.permissions import ROLES_WITH, RULES, Permission, Role
from kohorte.service.storage.schema import datasets, jobs, projects, users

DATASET, PROJECT = "dataset", "project"
_OF_DATASET, _OF_PROJECT = jobs.c.subject_kind == DATASET, jobs.c.subject_kind == PROJECT
_DATASET_OF_PROJECT = select(projects.c.dataset_id).where(_OF_PROJECT, projects.c.id == jobs.c.subject_id)
JOBS: Select[*tuple[Any, ...]] = select(
    jobs,
    case((_OF_DATASET, jobs.c.subject_id), else_=_DATASET_OF_PROJECT.scalar_subquery()).label("dataset_id"),
    case((_OF_PROJECT, jobs.c.subject_id)).label("project_id"),
)
"""Jobs with the dataset and the project that they are about, if any."""
_ALIVE = projects.c.deleted_at.is_(None)
PROJECT_OF_ALL = select(projects).where(projects.c.id == bindparam("of_project"), _ALIVE)
OWN_PROJECT = PROJECT_OF_ALL.where(projects.c.researcher_id == bindparam("of_user"))
"""Built once, because every query with noise needs one of them."""


@dataclass(frozen=True)
class Actor:
    """A user who is signed in."""

    user_id: int
    roles: frozenset[Role]
    session_id: str = ""

    def may(self, permission: Permission) -> bool:
        """Whether one of the roles has the permission."""
        return not self.roles.isdisjoint(ROLES_WITH[permission])

    def refuse_without(self, permission: Permission) -> None:
        """Refuse an actor none of whose roles has the permission."""
        if not self.may(permission):
            raise AccessDenied("none of your roles allows this", code="not-allowed")


def roles_of(row: Row[*tuple[Any, ...]]) -> frozenset[Role]:
    """Return the roles of a user whose row was selected with `ROLES`."""
    return frozenset(map(Role, (row.roles or "").split()))


def permit(operation: str, actor: Actor | None) -> None:
    """Refuse an operation that the actor may not call; an operation without a rule is always refused."""
    rule = RULES.get(operation)
    if rule is Permission.ANYONE:
        return
    if actor is None:
        raise AccessDenied("sign in first", code="not-signed-in")
    if rule is None:
        raise AccessDenied("nobody may do this", code="not-allowed")
    actor.refuse_without(rule)


def visible_projects(actor: Actor, everything: Permission = Permission.SEE_ALL_PROJECTS) -> ColumnElement[bool]:
    """The projects that the actor may see: all with the permission `everything`, otherwise only their own.

    The permission depends on the operation: a person who supervises all projects and is the researcher of one
    must not read the releases of the others.
    """
    own = true() if actor.may(everything) else projects.c.researcher_id == actor.user_id
    return and_(_ALIVE, own)


def visible_jobs(actor: Actor) -> ColumnElement[bool]:
    """The jobs that the actor may see: all, or those of their own projects and those that they started."""
    if actor.may(Permission.SEE_ALL_JOBS):
        return true()
    own = select(projects.c.id).where(visible_projects(actor, Permission.MANAGE_PROJECTS))
    started = jobs.c.creator_id == actor.user_id if actor.may(Permission.MEASURE_RISK) else false()
    return or_(started, and_(_OF_PROJECT, jobs.c.subject_id.in_(own)))


def project_for(
    service: Service,
    connection: Connection,
    actor: Actor,
    project_id: int,
    everything: Permission = Permission.SEE_ALL_PROJECTS,
) -> Row[Any]:
    """Return a project that the actor may see (`visible_projects`); refuse a row that was changed outside."""
    seen = PROJECT_OF_ALL if actor.may(everything) else OWN_PROJECT
    found = connection.execute(seen, {"of_project": project_id, "of_user": actor.user_id}).one_or_none()
    return service.guard.checked(connection, marks.PROJECT, found_or_refused(found, "project"))


def job_for(service: Service, connection: Connection, actor: Actor, job_id: int) -> Row[Any]:
    """Return a job that the actor may see; refuse it if its project was changed outside."""
    found = connection.execute(JOBS.where(jobs.c.id == job_id, visible_jobs(actor))).one_or_none()
    row = found_or_refused(found, "job")
    check_projects(service, connection, [row])
    return row


def check_projects(service: Service, connection: Connection, rows: Sequence[Row[Any]]) -> None:
    """Refuse jobs whose projects were changed outside: who may see a job depends on its project."""
    wanted = {row.project_id for row in rows} - {None}
    for project in connection.execute(select(projects).where(projects.c.id.in_(wanted))).all() if wanted else ():
        service.guard.checked(connection, marks.PROJECT, project)


def dataset_for(service: Service, connection: Connection, actor: Actor, dataset_id: int) -> Row[Any]:
    """Return a dataset, if the actor may see datasets at all; refuse a row that was changed outside."""
    statement = select(datasets).where(datasets.c.id == dataset_id, datasets.c.deleted_at.is_(None))
    may = actor.may(Permission.SEE_DATASETS)
    found = found_or_refused(connection.execute(statement).one_or_none() if may else None, "dataset")
    return service.guard.checked(connection, marks.DATASET, found)


def user_for(service: Service, connection: Connection, actor: Actor, user_id: int) -> Row[Any]:
    """Return a user with their roles; without the permission to see users, only the actor's own."""
    may = actor.user_id == user_id or actor.may(Permission.SEE_USERS)
    statement = marks.USERS.where(users.c.id == user_id, users.c.deleted_at.is_(None))
    found = found_or_refused(connection.execute(statement).one_or_none() if may else None, "user")
    return service.guard.checked(connection, marks.USER, found)


def found_or_refused(row: Row[Any] | None, what: str) -> Row[Any]:
    """Return the row, or raise the error for an object that does not exist."""
    if row is None:
        raise AccessDenied(f"there is no such {what}", code="not-found")
    return row
