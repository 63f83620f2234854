"""Help with choosing: what other settings of the plan in the editor would cost."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from kohorte.errors import KohorteError
from kohorte.service.previews import settings_tried
from kohorte.service.web.dependencies import Number
from kohorte.service.web.execution.table_work import run_preview
from kohorte.service.web.screens.routes.plans import PLAN, as_sent, editor, plan_of_form, ready
from kohorte.service.web.screens.visitors import NEVER_KEPT, Allowed, Visitor
from kohorte.tradeoff.page import to_fragment

router = APIRouter(include_in_schema=False)


CURVES = f"{PLAN}/curves"
Steward = Annotated[Visitor, Allowed("try_settings")]


@router.post(CURVES, name="screen_plan_curves")
async def curves(dataset_id: Number, visitor: Steward) -> Response:
    """Show the page at once; its script asks for the curves. Everything that was typed comes back to the editor."""
    dataset = await run_in_threadpool(ready, visitor, dataset_id)
    try:
        plan_of_form(visitor, dataset)
    except KohorteError as error:
        return await editor(visitor, dataset, as_sent(visitor), problem=error)
    told = await _tried(visitor, dataset) if visitor.text("show") else {"problem": None, "curves": ""}
    typed = [(name, value) for name, value in visitor.form.multi_items() if name not in NEVER_KEPT | {"show"}]
    return visitor.page("plan_curves.html.j2", dataset=dataset, typed=typed, **told)


@router.post(f"{CURVES}/figures", name="screen_plan_curves_figures")
async def figures(dataset_id: Number, visitor: Steward) -> Response:
    """Show the curves alone, for the script of the page."""
    dataset = await run_in_threadpool(ready, visitor, dataset_id)
    return visitor.page("plan_curves_figures.html.j2", **await _tried(visitor, dataset))


async def _tried(visitor: Visitor, dataset: dict[str, Any]) -> dict[str, Any]:
    """The curves, or why there are none."""
    try:
        config = {"plan": plan_of_form(visitor, dataset)}
        number = int(dataset["dataset_id"])
        found = await run_preview(settings_tried.tried, visitor.service, visitor.actor, number, config)
    except KohorteError as error:
        return {"problem": error, "curves": ""}
    shown = to_fragment(found, visitor.language)
    return {"problem": None, "curves": Markup(shown)}  # noqa: S704 - rendered by a template that escapes every text
