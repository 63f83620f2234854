"""List and show jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, func, select

from kohorte.service.access import JOBS, Actor, check_projects, job_for, visible_jobs
from kohorte.service.context import Service
from kohorte.service.jobs.queue import Kind, job_to_dict
from kohorte.service.permissions import Permission
from kohorte.service.storage.schema import jobs


def listed(service: Service, actor: Actor, *, limit: int, page: int) -> tuple[Sequence[Row[Any]], int]:
    """Return a page of the jobs that the actor may see, the newest first, and how many there are."""
    visible = visible_jobs(actor)
    with service.database.reading() as connection:
        total = connection.execute(select(func.count()).select_from(jobs).where(visible)).scalar_one()
        statement = JOBS.where(visible).order_by(jobs.c.id.desc()).limit(limit).offset((page - 1) * limit)
        rows = connection.execute(statement).all()
        check_projects(service, connection, rows)
        return rows, total


def shown(service: Service, actor: Actor, job_id: int) -> Row[Any]:
    """Return a job that the actor may see."""
    with service.database.reading() as connection:
        return job_for(service, connection, actor, job_id)


def job_for_actor(row: Row[Any], actor: Actor) -> dict[str, Any]:
    """Return a job as the actor may see it.

    Problems can contain counts of the raw table, so only actors who may see datasets get their details. Actors who see
    all jobs but no datasets get no results.
    """
    job = job_to_dict(row) | {"problem": problem_for_actor(row, actor)}
    hidden = actor.may(Permission.SEE_ALL_JOBS) and not actor.may(Permission.SEE_DATASETS)
    return {**job, "result": None} if hidden else job


def problem_for_actor(row: Row[Any], actor: Actor) -> dict[str, Any] | None:
    """Return why a job failed, as the actor may know it.

    Who measures risk chooses columns and hierarchies, and so could ask for the rows of any value.
    """
    needed = Permission.SEE_VALUES if row.kind == Kind.RISK else Permission.SEE_DATASETS
    if row.problem is None or actor.may(needed):
        found: dict[str, Any] | None = row.problem
        return found
    return {name: row.problem[name] for name in ("type", "title", "status", "code")}
