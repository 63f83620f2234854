"""Help with choosing: what other settings of the plan in the editor would cost."""

from __future__ import annotations

from typing import Annotated

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


@router.post(f"{PLAN}/curves", name="screen_plan_curves")
async def curves(dataset_id: Number, visitor: Annotated[Visitor, Allowed("try_settings")]) -> Response:
    """Show the curves of the plan; everything that was typed comes back to the editor."""
    dataset = await run_in_threadpool(ready, visitor, dataset_id)
    try:
        config = {"plan": plan_of_form(visitor, dataset)}
        found = await run_preview(settings_tried.tried, visitor.service, visitor.actor, dataset_id, config)
    except KohorteError as error:
        return await editor(visitor, dataset, as_sent(visitor), problem=error)
    shown = to_fragment(found, visitor.language)
    typed = [(name, value) for name, value in visitor.form.multi_items() if name not in NEVER_KEPT | {"use"}]
    return visitor.page(
        "plan_curves.html.j2",
        dataset=dataset,
        found=found,
        curves=Markup(shown),  # noqa: S704 - rendered by a template that escapes every text
        typed=typed,
    )
