"""Drafts of releases: review and sign-off."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse

from kohorte.service.projects import store
from kohorte.service.projects.project_dicts import project_to_dict
from kohorte.service.reviews import deciding, draft_dicts, drafts
from kohorte.service.reviews.rows import DraftState
from kohorte.service.web.dependencies import ActorDep, Limit, Number, PageNumber, ServiceDep
from kohorte.service.web.execution.synchronous import location_of_job
from kohorte.service.web.execution.table_work import run_preview, run_table_work
from kohorte.service.web.models.drafts import (
    DraftAnswer,
    DraftBody,
    DraftChange,
    DraftInList,
    DraftsAnswer,
    DraftStep,
    ReleasedDraft,
    Withdrawal,
)
from kohorte.service.web.models.projects import ProjectAnswer

router = APIRouter(tags=["drafts"])
LOCATION = {"Location": {"description": "The URL of the draft, or of the job.", "schema": {"type": "string"}}}
CREATED: dict[int | str, dict[str, Any]] = {201: {"headers": LOCATION}}
LATER: dict[int | str, dict[str, Any]] = {202: {"headers": LOCATION}}


@router.post("/drafts", status_code=201, summary="Save a draft", response_model=DraftAnswer, responses=CREATED)
def create_draft(body: DraftBody, service: ServiceDep, actor: ActorDep) -> JSONResponse:
    """Save the plan of a release as a draft, which other people review before it is released."""
    draft_id = drafts.create(service, actor, body.dataset_id, _content(body))
    shown = draft_dicts.show(service, actor, draft_id)
    return JSONResponse(shown, 201, {"Location": f"/api/v1/drafts/{draft_id}"})


@router.get("/drafts", summary="List the drafts")
def list_drafts(
    service: ServiceDep,
    actor: ActorDep,
    state: Annotated[DraftState | None, Query(description="Only drafts in this state.")] = None,
    limit: Limit = 20,
    page: PageNumber = 1,
) -> DraftsAnswer:
    """Return a page of the drafts, the newest first: stewards see all, reviewers those that were submitted."""
    found, total = drafts.page(service, actor, state=state, limit=limit, number=page)
    shown = [DraftInList(**entry) for entry in draft_dicts.drafts_to_dicts(service, found)]
    return DraftsAnswer(drafts=shown, limit=limit, page=page, total=total)


@router.get("/drafts/{draft_id}", summary="Show a draft")
def show_draft(draft_id: Number, service: ServiceDep, actor: ActorDep) -> DraftAnswer:
    """Return a draft with verdict, figures, difference, history and signatures; without values for reviewers."""
    return DraftAnswer(**draft_dicts.show(service, actor, draft_id))


@router.put("/drafts/{draft_id}", summary="Save a new version")
def change_draft(draft_id: Number, body: DraftChange, service: ServiceDep, actor: ActorDep) -> DraftAnswer:
    """Save a new version of a draft; signatures of older versions no longer count."""
    drafts.change(service, actor, draft_id, body.revision, _content(body))
    return DraftAnswer(**draft_dicts.show(service, actor, draft_id))


@router.post("/drafts/{draft_id}/submit", summary="Submit a draft for review")
async def submit_draft(draft_id: Number, body: DraftStep, service: ServiceDep, actor: ActorDep) -> DraftAnswer:
    """Compute what the version would release, and ask reviewers to sign it."""
    await run_preview(deciding.submit, service, actor, draft_id, body.revision, body.comment)
    return DraftAnswer(**await run_in_threadpool(draft_dicts.show, service, actor, draft_id))


@router.post("/drafts/{draft_id}/sign", summary="Sign a draft")
def sign_draft(draft_id: Number, body: DraftStep, service: ServiceDep, actor: ActorDep) -> DraftAnswer:
    """Sign a version; not one's own work, and not a release that one gets oneself."""
    deciding.sign(service, actor, draft_id, body.revision, body.comment)
    return DraftAnswer(**draft_dicts.show(service, actor, draft_id))


@router.post("/drafts/{draft_id}/return", summary="Return a draft")
def return_draft(draft_id: Number, body: DraftStep, service: ServiceDep, actor: ActorDep) -> DraftAnswer:
    """Return a version to the stewards, with a comment."""
    deciding.give_back(service, actor, draft_id, body.revision, body.comment)
    return DraftAnswer(**draft_dicts.show(service, actor, draft_id))


@router.post(
    "/drafts/{draft_id}/release",
    status_code=202,
    summary="Make the release",
    response_model=ReleasedDraft,
    responses=LATER,
)
async def release_draft(draft_id: Number, body: DraftStep, service: ServiceDep, actor: ActorDep) -> JSONResponse:
    """Create the project with exactly the signed plan on exactly the signed table; a job makes its release."""
    made = await run_table_work(deciding.release, service, actor, draft_id, body.revision)
    told = {"draft_id": draft_id, "project_id": made.project_id, "job_id": made.job_id, "warnings": list(made.warnings)}
    assert made.job_id is not None
    return JSONResponse(told, 202, location_of_job(made.job_id))


@router.post("/projects/{project_id}/withdraw", summary="Withdraw a release")
def withdraw_project(project_id: Number, body: Withdrawal, service: ServiceDep, actor: ActorDep) -> ProjectAnswer:
    """End the hand-out of a release; what was handed out stays in audit log and ledger."""
    deciding.withdraw(service, actor, project_id, body.comment)
    return ProjectAnswer(**project_to_dict(service, actor, store.show(service, actor, project_id)))


def _content(body: DraftBody | DraftChange) -> drafts.Content:
    return drafts.Content(body.name, body.researcher_id, body.config.plain(), body.comment)
