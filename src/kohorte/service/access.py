"""Who may do what: every operation of the interface has its rule here, and what has none is refused.

Object rules stand here, too. To somebody who may not see an object it does not exist: not allowed and not found look
alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, select, true

from kohorte.errors import AccessDenied
from kohorte.service.storage.schema import datasets, jobs, projects, users


class Who(StrEnum):
    """Who may call an operation."""

    ANYONE = "anyone"
    SIGNED_IN = "signed in"
    STEWARD = "steward"


@dataclass(frozen=True)
class Actor:
    """Somebody who is signed in."""

    user_id: int
    privileged: bool
    session_id: str


RULES: Mapping[str, Who] = MappingProxyType(
    {
        "create_first_steward": Who.ANYONE,
        "login": Who.ANYONE,
        "refresh": Who.ANYONE,
        "logout": Who.SIGNED_IN,
        "create_user": Who.STEWARD,
        "list_users": Who.STEWARD,
        "show_me": Who.SIGNED_IN,
        "show_user": Who.SIGNED_IN,
        "change_user": Who.SIGNED_IN,
        "delete_user": Who.STEWARD,
        "upload_dataset": Who.STEWARD,
        "list_datasets": Who.STEWARD,
        "show_dataset": Who.STEWARD,
        "change_dataset": Who.STEWARD,
        "delete_dataset": Who.STEWARD,
        "create_generalization_hierarchy": Who.STEWARD,
        "store_hierarchy": Who.STEWARD,
        "show_hierarchy": Who.STEWARD,
        "delete_hierarchy": Who.STEWARD,
        "analyze_risk": Who.STEWARD,
        "calculate_weighted_risk": Who.STEWARD,
        "propose_config": Who.STEWARD,
        "show_dataset_budget": Who.STEWARD,
        "create_project": Who.STEWARD,
        "list_projects": Who.SIGNED_IN,
        "show_project": Who.SIGNED_IN,
        "change_project": Who.STEWARD,
        "delete_project": Who.STEWARD,
        "download_csv": Who.SIGNED_IN,
        "preview_release": Who.SIGNED_IN,
        "show_certificate": Who.SIGNED_IN,
        "show_report": Who.SIGNED_IN,
        "analyze": Who.SIGNED_IN,
        "estimate": Who.SIGNED_IN,
        "download_dummy_data": Who.SIGNED_IN,
        "show_budget": Who.SIGNED_IN,
        "list_questions": Who.SIGNED_IN,
        "list_jobs": Who.SIGNED_IN,
        "show_job": Who.SIGNED_IN,
        "cancel_job": Who.STEWARD,
        "list_audit": Who.STEWARD,
        "verify_audit": Who.STEWARD,
        "show_health": Who.ANYONE,
        "show_metrics": Who.STEWARD,
        "show_documentation": Who.ANYONE,
        "show_documentation_asset": Who.ANYONE,
        "show_openapi": Who.ANYONE,
    }
)


def permit(operation: str, actor: Actor | None) -> None:
    """Refuse an operation that the actor may not call; an operation without a rule is nobody's."""
    rule = RULES.get(operation)
    if rule is Who.ANYONE:
        return
    if actor is None:
        raise AccessDenied("sign in first", code="not-signed-in")
    if rule is None or (rule is Who.STEWARD and not actor.privileged):
        raise AccessDenied("only a data steward may do this", code="not-allowed")


def visible_projects(actor: Actor) -> ColumnElement[bool]:
    """The projects that the actor may see: a steward all, a researcher the own ones."""
    own = true() if actor.privileged else projects.c.researcher_id == actor.user_id
    return and_(projects.c.deleted_at.is_(None), own)


def visible_jobs(actor: Actor) -> ColumnElement[bool]:
    """The jobs that the actor may see: a steward all, a researcher those of own projects."""
    own = select(projects.c.id).where(visible_projects(actor))
    return true() if actor.privileged else jobs.c.project_id.in_(own)


def project_for(connection: Connection, actor: Actor, project_id: int) -> Row[Any]:
    """Return a project that the actor may see."""
    found = connection.execute(
        select(projects).where(projects.c.id == project_id, visible_projects(actor))
    ).one_or_none()
    return _found(found, "project")


def job_for(connection: Connection, actor: Actor, job_id: int) -> Row[Any]:
    """Return a job that the actor may see."""
    return _found(connection.execute(select(jobs).where(jobs.c.id == job_id, visible_jobs(actor))).one_or_none(), "job")


def dataset_for(connection: Connection, actor: Actor, dataset_id: int) -> Row[Any]:
    """Return a dataset; only stewards see any."""
    statement = select(datasets).where(datasets.c.id == dataset_id, datasets.c.deleted_at.is_(None))
    return _found(connection.execute(statement).one_or_none() if actor.privileged else None, "dataset")


def user_for(connection: Connection, actor: Actor, user_id: int) -> Row[Any]:
    """Return a user: a steward sees all, others themselves."""
    may = actor.privileged or actor.user_id == user_id
    statement = select(users).where(users.c.id == user_id, users.c.deleted_at.is_(None))
    return _found(connection.execute(statement).one_or_none() if may else None, "user")


def _found(row: Row[Any] | None, what: str) -> Row[Any]:
    if row is None:
        raise AccessDenied(f"there is no such {what}", code="not-found")
    return row
