"""Jobs that a client waits for: small tables are answered at once, others with 202 and where the job is."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Header
from sqlalchemy import Row

from kohorte.service.context import Service
from kohorte.service.jobs.waiting import finished

ASYNCHRONOUS = "respond-async"
Prefer = Annotated[
    str | None,
    Header(max_length=200, description=f"`{ASYNCHRONOUS}`: answer at once with 202 and the job."),
]


async def job_in_time(service: Service, job_id: int, *, small: bool, prefer: str | None) -> Row[Any]:
    """Return a job as it stands when it has ended, or when the client shall not wait any longer."""
    wishes = [wish.strip().lower() for wish in (prefer or "").split(",")]
    waits = small and ASYNCHRONOUS not in wishes
    return await finished(service, job_id, service.settings.synchronous_seconds if waits else 0.0)


def is_small(service: Service, rows: int) -> bool:
    """Whether a client waits for a job on a table of so many rows."""
    return rows <= service.settings.synchronous_rows


def location_of_job(job_id: int) -> dict[str, str]:
    """Return the header that says where a job is."""
    return {"Location": f"/api/v1/jobs/{job_id}"}
