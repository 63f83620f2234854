"""Looking at jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, func, select

from kohorte.service.access import Actor, job_for, visible_jobs
from kohorte.service.context import Service
from kohorte.service.jobs.queue import job_to_dict
from kohorte.service.storage.schema import jobs


def listed(service: Service, actor: Actor, *, limit: int, page: int) -> tuple[Sequence[Row[Any]], int]:
    """Return a page of the jobs that the actor may see, the newest first, and how many there are."""
    visible = visible_jobs(actor)
    with service.database.reading() as connection:
        total = connection.execute(select(func.count()).select_from(jobs).where(visible)).scalar_one()
        statement = select(jobs).where(visible).order_by(jobs.c.id.desc()).limit(limit).offset((page - 1) * limit)
        return connection.execute(statement).all(), total


def shown(service: Service, actor: Actor, job_id: int) -> Row[Any]:
    """Return a job that the actor may see."""
    with service.database.reading() as connection:
        return job_for(connection, actor, job_id)


def job_for_actor(row: Row[Any], actor: Actor) -> dict[str, Any]:
    """Return a job as the actor may see it: why it failed can tell of the raw table, and is for stewards."""
    job = job_to_dict(row)
    if not actor.privileged and job["problem"] is not None:
        job["problem"] = {name: job["problem"][name] for name in ("type", "title", "status", "code")}
    return job
