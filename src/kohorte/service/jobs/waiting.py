"""Waiting for a job, as long as a caller likes to."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from sqlalchemy import Row, select
from starlette.concurrency import run_in_threadpool

from kohorte.errors import AccessDenied
from kohorte.service.context import Service
from kohorte.service.jobs.queue import State
from kohorte.service.storage.schema import jobs

FIRST_PAUSE = 0.01
LONGEST_PAUSE = 0.1


async def finished(service: Service, job_id: int, seconds: float) -> Row[Any]:
    """Return a job when it has ended, or as it stands when the seconds are over."""
    until, pause = time.monotonic() + seconds, FIRST_PAUSE
    while True:
        row = await run_in_threadpool(_row, service, job_id)
        if State(row.state).ended or time.monotonic() >= until:
            return row
        await asyncio.sleep(min(pause, max(until - time.monotonic(), 0)))
        pause = min(pause * 1.2, LONGEST_PAUSE)


def _row(service: Service, job_id: int) -> Row[Any]:
    with service.database.reading() as connection:
        row = connection.execute(select(jobs).where(jobs.c.id == job_id)).one_or_none()
    if row is None:
        raise AccessDenied("there is no such job", code="not-found")
    return row
