"""The home page: what waits for the visitor, by what their roles allow."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from starlette.responses import Response

from kohorte.service.approvals import requests
from kohorte.service.approvals.requests import ApprovalState
from kohorte.service.jobs import listing
from kohorte.service.parts import Part
from kohorte.service.projects import store
from kohorte.service.projects.project_dicts import projects_to_dicts
from kohorte.service.reviews import draft_dicts, drafts
from kohorte.service.reviews.rows import DraftState
from kohorte.service.web.screens.inbox import tasks_of
from kohorte.service.web.screens.visitors import Allowed, Visitor

router = APIRouter(include_in_schema=False)
SHOWN = 5


@router.get("/app", name="screen_home")
def home(visitor: Annotated[Visitor, Allowed("show_me")]) -> Response:
    """Show tasks and the latest work."""
    research = Part.RESEARCH in visitor.service.settings.parts
    return visitor.page(
        "home.html.j2",
        approvals=_approvals(visitor),
        drafts=_drafts(visitor) if research and visitor.may("list_drafts") else [],
        projects=_projects(visitor) if research and visitor.may("list_projects") else [],
        jobs=_jobs(visitor) if research and visitor.may("list_jobs") else [],
        tasks=tasks_of(visitor),
    )


def _approvals(visitor: Visitor) -> list[dict[str, Any]]:
    """Requests that the visitor can decide, and their own, which wait for others."""
    found, _ = requests.listed(visitor.service, visitor.actor, state=ApprovalState.PENDING, limit=SHOWN, page=1)
    return found


def _drafts(visitor: Visitor) -> list[dict[str, Any]]:
    """Drafts that wait for the visitor: for reviewers those in review, for stewards those that are approved."""
    state = DraftState.REVIEW if visitor.may("sign_draft") else DraftState.APPROVED
    rows, _ = drafts.page(visitor.service, visitor.actor, state=state, limit=SHOWN, number=1)
    return draft_dicts.drafts_to_dicts(visitor.service, rows)


def _projects(visitor: Visitor) -> list[dict[str, Any]]:
    _, total = store.page(visitor.service, visitor.actor, limit=1, number=1)
    last = max(1, -(-total // SHOWN))
    rows, _ = store.page(visitor.service, visitor.actor, limit=SHOWN, number=last)
    return projects_to_dicts(visitor.service, visitor.actor, rows)[::-1]


def _jobs(visitor: Visitor) -> list[dict[str, Any]]:
    rows, _ = listing.listed(visitor.service, visitor.actor, limit=SHOWN, page=1)
    return [listing.job_for_actor(row, visitor.actor) for row in rows]
