"""The plan editor: roles, hierarchies and models beside a preview of what they would release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from kohorte.data import Role as AttributeRole
from kohorte.errors import InputError, KohorteError
from kohorte.plans import Plan
from kohorte.service.accounts import users
from kohorte.service.datasets import hierarchies, proposal, records
from kohorte.service.datasets.stored_references import referring, resolved
from kohorte.service.permissions import Role
from kohorte.service.previews import evaluation
from kohorte.service.projects import store
from kohorte.service.reviews import draft_dicts, drafts
from kohorte.service.reviews.differences import differences
from kohorte.service.web.dependencies import LARGEST_NUMBER, Number
from kohorte.service.web.execution.table_work import run_preview, run_table_work
from kohorte.service.web.routes.projects import attachment
from kohorte.service.web.screens.plan_form import PlanForm, plan_from, plan_from_text
from kohorte.service.web.screens.routes.drafts import comment_of, revision_of
from kohorte.service.web.screens.visitors import Allowed, Visitor

router = APIRouter(include_in_schema=False)
PLAN = "/app/datasets/{dataset_id}/plan"
MOST_RESEARCHERS = 1000
Steward = Annotated[Visitor, Allowed("evaluate_plan")]
Sharer = Annotated[Visitor, Allowed("create_project")]


@router.get(PLAN, name="screen_plan")
async def plan_page(dataset_id: Number, visitor: Steward) -> Response:
    """Show the editor with the proposed plan."""
    dataset = await run_in_threadpool(ready, visitor, dataset_id)
    plan = await run_table_work(proposal.proposed_plan, visitor.service, visitor.actor, dataset_id)
    return await editor(visitor, dataset, plan)


@router.post(PLAN, name="screen_preview_plan")
async def preview(dataset_id: Number, visitor: Steward) -> Response:
    """Show the editor with what its plan would release."""
    dataset = await run_in_threadpool(ready, visitor, dataset_id)
    try:
        plan = plan_of_form(visitor, dataset)
    except KohorteError as error:
        return await editor(visitor, dataset, as_sent(visitor), problem=error)
    return await editor(visitor, dataset, plan, **await evaluated(visitor, dataset_id, plan))


@router.post(f"{PLAN}/panel", name="screen_preview_panel")
async def panel(dataset_id: Number, visitor: Steward) -> Response:
    """Show the preview alone, for the script of the page."""
    dataset = await run_in_threadpool(ready, visitor, dataset_id)
    try:
        told = await evaluated(visitor, dataset_id, plan_of_form(visitor, dataset))
    except KohorteError as error:
        told = {"problem": error, "found": None}
    return visitor.page("plan_panel.html.j2", before=_before(visitor), **told)


@router.post(f"{PLAN}/yaml", name="screen_export_plan")
async def export(dataset_id: Number, visitor: Steward) -> Response:
    """Send the plan as a file."""
    dataset = await run_in_threadpool(ready, visitor, dataset_id)
    try:
        stored = await run_in_threadpool(hierarchies.for_plan, visitor.service, visitor.actor, dataset_id)
        plan = Plan.from_dict(resolved({"kohorte": 1, **plan_of_form(visitor, dataset)}, stored))
    except KohorteError as error:
        return await editor(visitor, dataset, as_sent(visitor), problem=error)
    headers = attachment(f"plan-{dataset_id}.yaml")
    return Response(plan.to_yaml(), media_type="application/yaml", headers=headers)


@router.post(f"{PLAN}/project", name="screen_create_project")
async def create_project(dataset_id: Number, visitor: Sharer) -> Response:
    """Create a project that releases the table by this plan to a researcher."""
    dataset = await run_in_threadpool(ready, visitor, dataset_id)
    plan: dict[str, Any] = as_sent(visitor)
    try:
        plan = plan_of_form(visitor, dataset)
        researcher = _researcher(visitor)
        name = visitor.text("name") or str(dataset["name"])
        wanted = store.NewProject(name, visitor.text("description"), dataset_id, researcher, {"plan": plan})
        created = await run_table_work(store.create, visitor.service, visitor.actor, wanted)
    except KohorteError as error:
        return await editor(visitor, dataset, plan, problem=error)
    return visitor.to(f"/app/jobs/{created.job_id}", said="project-created")


@router.get("/app/drafts/{draft_id}/plan", name="screen_change_draft")
async def draft_plan(draft_id: Number, visitor: Annotated[Visitor, Allowed("change_draft")]) -> Response:
    """Show the editor with the plan of a draft."""
    draft = await run_in_threadpool(draft_dicts.show, visitor.service, visitor.actor, draft_id)
    dataset = await run_in_threadpool(ready, visitor, draft["dataset_id"])
    kept = {"draft": str(draft_id), "revision": str(draft["revision"]), "name": draft["name"], "comment": ""}
    kept["researcher"] = str(draft["researcher"]["user_id"])
    stored = await run_in_threadpool(hierarchies.for_plan, visitor.service, visitor.actor, draft["dataset_id"])
    return await editor(visitor, dataset, referring(draft["config"]["plan"], stored), typed=kept)


@router.post(f"{PLAN}/draft", name="screen_save_draft")
async def save_draft(dataset_id: Number, visitor: Annotated[Visitor, Allowed("create_draft")]) -> Response:
    """Save the plan as a draft, or as a new version of one; nothing that was typed is lost if it is refused."""
    dataset = await run_in_threadpool(ready, visitor, dataset_id)
    plan: dict[str, Any] = as_sent(visitor)
    try:
        plan = plan_of_form(visitor, dataset)
        name = visitor.text("name") or str(dataset["name"])
        content = drafts.Content(name, _researcher(visitor), {"plan": plan}, comment_of(visitor))
        number = await run_in_threadpool(_saved_draft, visitor, dataset_id, content)
    except KohorteError as error:
        if error.code != "draft-changed-conflict":
            return await editor(visitor, dataset, plan, problem=error)
        typed = {**typed_beside(visitor), "revision": str(error.field)}
        found = await run_in_threadpool(_difference, visitor, dataset_id, plan)
        return await editor(visitor, dataset, plan, problem=error, typed=typed, difference=found)
    return visitor.to(f"/app/drafts/{number}", said="draft-saved")


def _saved_draft(visitor: Visitor, dataset_id: int, content: drafts.Content) -> int:
    text = visitor.text("draft")
    if not text.isdecimal() or not 0 < int(text) <= LARGEST_NUMBER:
        return drafts.create(visitor.service, visitor.actor, dataset_id, content)
    before = draft_dicts.show(visitor.service, visitor.actor, int(text))["config"]
    config = {**{key: value for key, value in before.items() if key != "plan"}, **content.config}
    drafts.change(visitor.service, visitor.actor, int(text), revision_of(visitor), replace(content, config=config))
    return int(text)


def _difference(visitor: Visitor, dataset_id: int, plan: Mapping[str, Any]) -> list[dict[str, str | None]]:
    """What a plan changes of the version of its draft that somebody else has saved."""
    saved = draft_dicts.show(visitor.service, visitor.actor, int(visitor.text("draft")))["config"]["plan"]
    stored = hierarchies.for_plan(visitor.service, visitor.actor, dataset_id)
    both = [Plan.from_dict(resolved({"kohorte": 1, **one}, stored)).to_dict() for one in (saved, plan)]
    return [one.to_dict() for one in differences(*both)]


def _researcher(visitor: Visitor) -> int:
    researcher = visitor.text("researcher")
    if not researcher.isdecimal() or not 0 < int(researcher) <= LARGEST_NUMBER:
        raise InputError("choose the researcher who gets the release", code="plan-form", field="researcher")
    return int(researcher)


def typed_beside(visitor: Visitor) -> dict[str, str]:
    """Return what was typed beside the plan."""
    return {name: visitor.text(name) for name in ("draft", "revision", "name", "researcher", "comment")}


def ready(visitor: Visitor, dataset_id: int) -> dict[str, Any]:
    """Return a dataset that has been read, or refuse."""
    dataset = records.show(visitor.service, visitor.actor, dataset_id)
    if dataset["state"] != records.READY:
        raise InputError(
            "the dataset is not ready: it is still being read, or could not be read", code="dataset-conflict"
        )
    return dataset


def plan_of_form(visitor: Visitor, dataset: Mapping[str, Any]) -> dict[str, Any]:
    """Return the plan that a form says: by its fields, by its text, or as it was sent along unchanged."""
    if visitor.text("use") == "base":
        return as_sent(visitor)
    if visitor.text("use") == "text":
        return plan_from_text(visitor.text("text"))
    return plan_from(visitor, _names(dataset))


def as_sent(visitor: Visitor) -> dict[str, Any]:
    """The plan before the changes that could not be read."""
    try:
        return plan_from_text(visitor.text("base"))
    except InputError:
        return {}


def _names(dataset: Mapping[str, Any]) -> list[str]:
    return [column["name"] for column in dataset["columns"]]


async def evaluated(visitor: Visitor, dataset_id: int, plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return the preview of a plan, or why there is none."""
    try:
        config = {"plan": dict(plan)}
        found = await run_preview(evaluation.evaluate, visitor.service, visitor.actor, dataset_id, config)
    except KohorteError as error:
        return {"problem": error, "found": None}
    return {"problem": None, "found": found}


def _before(visitor: Visitor) -> dict[str, float]:
    """The figures of the preview before, which the form sends back, to show what has changed."""
    given = {name: visitor.text(f"before-{name}") for name in ("cost", "suppressed", "smallest_class")}
    found = {}
    for name, text in given.items():
        try:
            found[name] = float(text)
        except ValueError:
            return {}
    if visitor.text("before-metric") != visitor.text("metric"):
        del found["cost"]  # costs of two metrics cannot be compared
    return found


async def editor(visitor: Visitor, dataset: Mapping[str, Any], plan: Mapping[str, Any], **told: Any) -> Response:
    """Show the editor with a plan, and what is told about it."""
    problem, found = told.get("problem"), told.get("found")
    return visitor.page(
        "plan.html.j2",
        status=200 if problem is None else 400,
        dataset=dataset,
        form=PlanForm.of(plan, _names(dataset)),
        roles=list(AttributeRole),
        researchers=await run_in_threadpool(_researchers, visitor),
        before=_before(visitor),
        typed=told.get("typed") or typed_beside(visitor),
        problem=problem,
        found=found,
        difference=told.get("difference"),
    )


def _researchers(visitor: Visitor) -> list[dict[str, Any]]:
    rows, _ = users.listed(visitor.service, limit=MOST_RESEARCHERS, page=1)
    everybody = [users.user_to_dict(row) for row in rows]
    return [one for one in everybody if Role.RESEARCHER in one["roles"] and not one["disabled"]]
