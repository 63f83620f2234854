"""Jobs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from kohorte.service.jobs import listing, settlement
from kohorte.service.jobs.queue import Kind, State, job_to_dict
from kohorte.service.web.dependencies import ActorDep, Limit, Number, PageNumber, ServiceDep

router = APIRouter(tags=["jobs"])
EXAMPLE: dict[str, Any] = {
    "job_id": 7,
    "kind": "anonymize",
    "state": "running",
    "progress": 0.42,
    "message": "searching: 1,204 of 3,600 settled",
    "attempt": 1,
    "dataset_id": 1,
    "project_id": 4,
    "created_at": "2020-10-01T10:18:03.374430+00:00",
    "started_at": "2020-10-01T10:18:03.401377+00:00",
    "ended_at": None,
    "result": None,
    "problem": None,
}


class JobAnswer(BaseModel):
    """A job: work that takes longer than a request should."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})
    job_id: int
    kind: Kind
    state: State
    progress: float = Field(description="How much is done, from 0 to 1.")
    message: str = Field(description="What is being done.")
    attempt: int = Field(description="How many workers have tried; one that died is followed by another.")
    dataset_id: int
    project_id: int | None
    created_at: str
    started_at: str | None
    ended_at: str | None
    result: dict[str, Any] | None
    problem: dict[str, Any] | None = Field(description="Why the job failed; its `detail` is for data stewards.")


class JobsAnswer(BaseModel):
    """A page of jobs."""

    jobs: list[JobAnswer]
    limit: int = Field(examples=[20])
    page: int = Field(examples=[1])
    total: int = Field(examples=[1])


@router.get("/jobs", summary="List the jobs")
def list_jobs(service: ServiceDep, actor: ActorDep, limit: Limit = 20, page: PageNumber = 1) -> JobsAnswer:
    """Return a page of the jobs, the newest first: stewards see all, researchers those of their own projects."""
    rows, total = listing.listed(service, actor, limit=limit, page=page)
    found = [JobAnswer(**listing.job_for_actor(row, actor)) for row in rows]
    return JobsAnswer(jobs=found, limit=limit, page=page, total=total)


@router.get("/jobs/{job_id}", summary="Show a job")
def show_job(job_id: Number, service: ServiceDep, actor: ActorDep) -> JobAnswer:
    """Return a job with its progress and, when it has ended, its result or problem."""
    return JobAnswer(**listing.job_for_actor(listing.shown(service, actor, job_id), actor))


@router.post("/jobs/{job_id}/cancel", status_code=202, summary="Cancel a job")
def cancel_job(job_id: Number, service: ServiceDep, actor: ActorDep) -> JobAnswer:
    """Cancel a job: one that waits at once, one that runs within a few seconds. One that has ended stays as it is."""
    return JobAnswer(**job_to_dict(settlement.cancel(service, actor, job_id)))
