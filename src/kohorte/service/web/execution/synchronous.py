"""Jobs that a client waits for: small tables are answered directly, others with 202 and the address of the job."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated, Any

from fastapi import Header
from sqlalchemy import Row
from starlette.concurrency import run_in_threadpool

from kohorte.errors import AccessDenied
from kohorte.service.access import JOBS
from kohorte.service.context import Service
from kohorte.service.jobs.queue import State
from kohorte.service.storage.schema import jobs

FIRST_PAUSE = 0.01
LONGEST_PAUSE = 0.1
ASYNCHRONOUS = "respond-async"
Prefer = Annotated[
    str | None,
    Header(max_length=200, description=f"`{ASYNCHRONOUS}`: answer at once with 202 and the job."),
]


async def job_in_time(service: Service, job_id: int, *, small: bool, prefer: str | None) -> Row[Any]:
    """Return a job when it has ended, or its current state when the client should not wait any longer."""
    wishes = [wish.strip().lower() for wish in (prefer or "").split(",")]
    waits = small and ASYNCHRONOUS not in wishes
    return await finished(service, job_id, service.settings.synchronous_seconds if waits else 0.0)


async def finished(service: Service, job_id: int, seconds: float) -> Row[Any]:
    """Return a job when it has ended, or its current state after the given seconds."""
    until, pause = time.monotonic() + seconds, FIRST_PAUSE
    while True:
        row = await run_in_threadpool(_row, service, job_id)
        if State(row.state).ended or time.monotonic() >= until:
            return row
        await asyncio.sleep(min(pause, max(until - time.monotonic(), 0)))
        pause = min(pause * 1.2, LONGEST_PAUSE)


def is_small(service: Service, rows: int) -> bool:
    """Whether a client waits for a job on a table with this number of rows."""
    return rows <= service.settings.synchronous_rows


def location_of_job(job_id: int) -> dict[str, str]:
    """Return the header with the address of a job."""
    return {"Location": f"/api/v1/jobs/{job_id}"}


def _row(service: Service, job_id: int) -> Row[Any]:
    with service.database.reading() as connection:
        row = connection.execute(JOBS.where(jobs.c.id == job_id)).one_or_none()
    if row is None:
        raise AccessDenied("there is no such job", code="not-found")
    return row
