"""Jobs."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, Field

from kohorte.service.jobs import listing, settlement
from kohorte.service.web.dependencies import ActorDep, Limit, Number, PageNumber, ServiceDep
from kohorte.service.web.models.responses import JobAnswer

router = APIRouter(tags=["jobs"])


class JobsAnswer(BaseModel):
    """A page of jobs."""

    jobs: list[JobAnswer]
    limit: int = Field(examples=[20])
    page: int = Field(examples=[1])
    total: int = Field(examples=[1])


@router.get("/jobs", summary="List the jobs")
def list_jobs(service: ServiceDep, actor: ActorDep, limit: Limit = 20, page: PageNumber = 1) -> JobsAnswer:
    """Return a page of jobs, the newest first: stewards see all, researchers those of their own projects."""
    rows, total = listing.listed(service, actor, limit=limit, page=page)
    found = [JobAnswer(**listing.job_for_actor(row, actor)) for row in rows]
    return JobsAnswer(jobs=found, limit=limit, page=page, total=total)


@router.get("/jobs/{job_id}", summary="Show a job")
def show_job(job_id: Number, service: ServiceDep, actor: ActorDep) -> JobAnswer:
    """Return a job with its progress and, when it has ended, its result or problem."""
    return JobAnswer(**listing.job_for_actor(listing.shown(service, actor, job_id), actor))


@router.post("/jobs/{job_id}/cancel", status_code=202, summary="Cancel a job")
def cancel_job(job_id: Number, service: ServiceDep, actor: ActorDep) -> JobAnswer:
    """Cancel a job: a queued one at once, a running one within a few seconds. A job that has ended is not changed."""
    return JobAnswer(**listing.job_for_actor(settlement.cancel(service, actor, job_id), actor))
