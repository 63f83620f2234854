"""Jobs: what runs in the background, how far it is, and a button to stop it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from kohorte.data import strict_yaml
from kohorte.errors import AccessDenied
from kohorte.service.jobs import listing, settlement
from kohorte.service.jobs.queue import Kind, State
from kohorte.service.projects import store
from kohorte.service.web.dependencies import Number, PageNumber
from kohorte.service.web.screens.visitors import Allowed, Visitor

router = APIRouter(include_in_schema=False)
LIST = "/app/jobs"
PER_PAGE = 50


@router.get(LIST, name="screen_jobs")
def jobs_page(visitor: Annotated[Visitor, Allowed("list_jobs")], page: PageNumber = 1) -> Response:
    """List the jobs, the newest first."""
    rows, total = listing.listed(visitor.service, visitor.actor, limit=PER_PAGE, page=page)
    jobs = [listing.job_for_actor(row, visitor.actor) for row in rows]
    return visitor.page("jobs.html.j2", jobs=jobs, page=page, pages=-(-total // PER_PAGE))


@router.get(f"{LIST}/{{job_id}}", name="screen_job")
def job_page(job_id: Number, visitor: Annotated[Visitor, Allowed("show_job")]) -> Response:
    """Show a job; without a script the browser loads the page again every few seconds while it runs."""
    job = listing.job_for_actor(listing.shown(visitor.service, visitor.actor, job_id), visitor.actor)
    state = State(job["state"])
    failed = state in (State.FAILED, State.CANCELLED)
    plan = _plan_of(visitor, job) if failed else ""
    return visitor.page("job.html.j2", job=job, ended=state.ended, failed=failed, plan=plan)


def _plan_of(visitor: Visitor, job: Mapping[str, Any]) -> str:
    """The plan of a release that was not made, as text, so that its data steward can begin again; empty if none."""
    if job["kind"] != Kind.ANONYMIZE or job["project_id"] is None or not visitor.may("evaluate_plan"):
        return ""
    try:
        project = store.show(visitor.service, visitor.actor, job["project_id"])
    except AccessDenied:  # it was deleted
        return ""
    plan = json.loads(store.config_text_of(visitor.service, project)).get("plan")
    return "" if plan is None else strict_yaml.dump(plan)


@router.get(f"{LIST}/{{job_id}}/state", name="screen_job_state")
def job_state(job_id: Number, visitor: Annotated[Visitor, Allowed("show_job", renews=False)]) -> Response:
    """Tell the script of the page how far a job is, in the language of the page."""
    job = listing.job_for_actor(listing.shown(visitor.service, visitor.actor, job_id), visitor.actor)
    told = {"state": job["state"], "progress": job["progress"], "message": visitor.language.tell(job["message"])}
    return JSONResponse({**told, "ended": State(job["state"]).ended})


@router.post(f"{LIST}/{{job_id}}/cancel", name="screen_cancel_job")
def cancel_job(job_id: Number, visitor: Annotated[Visitor, Allowed("cancel_job")]) -> Response:
    """Cancel a job."""
    settlement.cancel(visitor.service, visitor.actor, job_id)
    return visitor.to(f"{LIST}/{job_id}", said="job-cancelled")
