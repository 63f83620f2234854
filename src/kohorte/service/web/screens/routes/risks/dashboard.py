"""The risk dashboard: before and after, attackers, the three questions of the authorities, attacks, who is suppressed.

Measuring takes a moment. The page comes at once, and its figures when they are known: by its script, or by a link.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from kohorte.errors import AccessDenied, KohorteError
from kohorte.service.assessments import assessment
from kohorte.service.datasets import proposal
from kohorte.service.projects import store
from kohorte.service.projects.project_dicts import project_to_dict
from kohorte.service.reviews import draft_dicts
from kohorte.service.web.dependencies import Number
from kohorte.service.web.execution.table_work import run_assessment
from kohorte.service.web.screens.plan_form import PlanForm
from kohorte.service.web.screens.routes import plans
from kohorte.service.web.screens.visitors import Allowed, Visitor

router = APIRouter(include_in_schema=False)
DATASET, PLAN = "/app/datasets/{dataset_id}/risk", "/app/datasets/{dataset_id}/plan/risk"
DRAFT, PROJECT = "/app/drafts/{draft_id}/risk", "/app/projects/{project_id}/risk"
Steward = Annotated[Visitor, Allowed("assess_plan")]
OfDraft = Annotated[Visitor, Allowed("show_draft_risk")]
OfProject = Annotated[Visitor, Allowed("show_project_risk")]
Measure = Callable[[], Awaitable[dict[str, Any]]]


@router.get(DATASET, name="screen_dataset_risk")
async def dataset_risk(dataset_id: Number, visitor: Steward, show: str = "") -> Response:
    """Show the risk of a table, and of the release that the proposed plan would give."""
    dataset = await run_in_threadpool(plans.ready, visitor, dataset_id)
    about = {"name": dataset["name"], "back": f"/app/datasets/{dataset_id}", "kind": "proposal"}
    return await _page(visitor, about, show, lambda: _proposed(visitor, dataset_id))


@router.get(f"{DATASET}/figures", name="screen_dataset_risk_figures")
async def dataset_figures(dataset_id: Number, visitor: Steward) -> Response:
    """Show the figures alone, for the script of the page."""
    return await _figures(visitor, lambda: _proposed(visitor, dataset_id))


@router.post(PLAN, name="screen_plan_risk")
async def plan_risk(dataset_id: Number, visitor: Steward) -> Response:
    """Show the risk of what the plan of the editor would release."""
    dataset = await run_in_threadpool(plans.ready, visitor, dataset_id)
    try:
        plan = plans.plan_of_form(visitor, dataset)
    except KohorteError as error:
        return await plans.editor(visitor, dataset, plans.as_sent(visitor), problem=error)
    sent = {"base": PlanForm.of(plan, ()).base, **plans.typed_beside(visitor)}
    about = {"name": dataset["name"], "back": f"/app/datasets/{dataset_id}/plan", "kind": "plan", "sent": sent}
    return await _page(visitor, about, visitor.text("show"), lambda: _of_plan(visitor, dataset_id))


@router.post(f"{PLAN}/figures", name="screen_plan_risk_figures")
async def plan_figures(dataset_id: Number, visitor: Steward) -> Response:
    """Show the figures alone, for the script of the page."""
    return await _figures(visitor, lambda: _of_plan(visitor, dataset_id))


@router.get(DRAFT, name="screen_draft_risk")
async def draft_risk(draft_id: Number, visitor: OfDraft, show: str = "") -> Response:
    """Show the risk of what a draft would release."""
    draft = await run_in_threadpool(draft_dicts.show, visitor.service, visitor.actor, draft_id)
    about = {"name": draft["name"], "back": f"/app/drafts/{draft_id}", "kind": "draft"}
    return await _page(visitor, about, show, lambda: _of(assessment.of_draft, visitor, draft_id))


@router.get(f"{DRAFT}/figures", name="screen_draft_risk_figures")
async def draft_figures(draft_id: Number, visitor: OfDraft) -> Response:
    """Show the figures alone, for the script of the page."""
    return await _figures(visitor, lambda: _of(assessment.of_draft, visitor, draft_id))


@router.get(PROJECT, name="screen_project_risk")
async def project_risk(project_id: Number, visitor: OfProject, show: str = "") -> Response:
    """Show the risk of a release."""
    row = await run_in_threadpool(store.show, visitor.service, visitor.actor, project_id)
    project = await run_in_threadpool(project_to_dict, visitor.service, visitor.actor, row)
    about = {"name": project["name"], "back": f"/app/projects/{project_id}", "kind": "release"}
    return await _page(visitor, about, show, lambda: _of(assessment.of_project, visitor, project_id))


@router.get(f"{PROJECT}/figures", name="screen_project_risk_figures")
async def project_figures(project_id: Number, visitor: OfProject) -> Response:
    """Show the figures alone, for the script of the page."""
    return await _figures(visitor, lambda: _of(assessment.of_project, visitor, project_id))


async def _of(work: Callable[..., dict[str, Any]], visitor: Visitor, number: int) -> dict[str, Any]:
    return await run_assessment(work, visitor.service, visitor.actor, number)


async def _of_plan(visitor: Visitor, dataset_id: int) -> dict[str, Any]:
    dataset = await run_in_threadpool(plans.ready, visitor, dataset_id)
    config = {"plan": plans.plan_of_form(visitor, dataset)}
    return await run_assessment(assessment.of_plan, visitor.service, visitor.actor, dataset_id, config)


async def _proposed(visitor: Visitor, dataset_id: int) -> dict[str, Any]:
    plan = await run_assessment(proposal.proposed_plan, visitor.service, visitor.actor, dataset_id)
    return await run_assessment(assessment.of_plan, visitor.service, visitor.actor, dataset_id, {"plan": plan})


async def _page(visitor: Visitor, about: dict[str, Any], show: str, measure: Measure) -> Response:
    told = await _measured(measure) if show else {"problem": None, "found": None}
    return visitor.page("risk.html.j2", about={"sent": {}, **about}, path=visitor.request.url.path, **told)


async def _figures(visitor: Visitor, measure: Measure) -> Response:
    return visitor.page("risk_figures.html.j2", **await _measured(measure))


async def _measured(measure: Measure) -> dict[str, Any]:
    """The figures, or why there are none; people who may not see them learn nothing."""
    try:
        return {"problem": None, "found": await measure()}
    except KohorteError as error:
        if isinstance(error, AccessDenied) and error.code in ("not-found", "not-allowed"):
            raise
        return {"problem": error, "found": None}
