"""The solution explorer: all combinations of levels of a plan as a picture, and what one step away changes.

The plan comes with every form, as in the editor, because it need not be stored anywhere yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from kohorte.errors import InputError, KohorteError
from kohorte.service.previews import exploration
from kohorte.service.previews.exploration import Explored
from kohorte.service.web.dependencies import Number
from kohorte.service.web.execution.table_work import run_exploration
from kohorte.service.web.screens.plan_form import PlanForm, with_levels
from kohorte.service.web.screens.routes import plans
from kohorte.service.web.screens.visitors import Allowed, Visitor
from kohorte.space.explored_map import explored_map
from kohorte.space.filters import Filter

router = APIRouter(include_in_schema=False)
EXPLORE = "/app/datasets/{dataset_id}/plan/explore"
LONGEST_AT = 1000
Explorer = Annotated[Visitor, Allowed("explore_plan")]


@router.post(EXPLORE, name="screen_explore")
async def explore(dataset_id: Number, visitor: Explorer) -> Response:
    """Show the explorer; the first combinations are counted when its script, or its button, asks for them."""
    dataset = await run_in_threadpool(plans.ready, visitor, dataset_id)
    try:
        plan = plans.plan_of_form(visitor, dataset)
    except KohorteError as error:
        return await plans.editor(visitor, dataset, plans.as_sent(visitor), problem=error)
    told = await _explored(visitor, dataset_id, plan) if visitor.text("show") else _nothing()
    form = PlanForm.of(plan, ())
    return visitor.page("explorer.html.j2", dataset=dataset, form=form, typed=plans.typed_beside(visitor), **told)


@router.post(f"{EXPLORE}/parts", name="screen_explore_parts")
async def parts(dataset_id: Number, visitor: Explorer) -> Response:
    """Show the picture and the combination that is looked at, for the script of the page."""
    told = await _explored(visitor, dataset_id, plans.as_sent(visitor))
    return visitor.page("explorer_parts.html.j2", dataset={"dataset_id": dataset_id}, **told)


@router.post("/app/datasets/{dataset_id}/plan/levels", name="screen_use_levels")
async def use_levels(dataset_id: Number, visitor: Annotated[Visitor, Allowed("evaluate_plan")]) -> Response:
    """Show the editor with a plan that fixes the levels that were chosen."""
    dataset = await run_in_threadpool(plans.ready, visitor, dataset_id)
    before = plans.as_sent(visitor)
    try:
        plan = with_levels(before, _levels(visitor.text("chosen"), before))
    except KohorteError as error:
        return await plans.editor(visitor, dataset, before, problem=error)
    return await plans.editor(visitor, dataset, plan, **await plans.evaluated(visitor, dataset_id, plan))


def _nothing() -> dict[str, Any]:
    return {"problem": None, "found": None, "picture": None, "filters": {}, "moves": False}


async def _explored(visitor: Visitor, dataset_id: int, plan: Mapping[str, Any]) -> dict[str, Any]:
    try:
        at = visitor.text("at")
        levels = _levels(at, plan) if at else None
        moves = visitor.text("part") == "beside"
        work = partial(exploration.explore, visitor.service, visitor.actor, dataset_id, {"plan": dict(plan)})
        return await run_exploration(partial(_shown, visitor, work, levels, moves=moves))
    except KohorteError as error:
        return {**_nothing(), "problem": error}


def _shown(visitor: Visitor, work: Any, levels: dict[str, int] | None, *, moves: bool) -> dict[str, Any]:
    """Count for a while, and draw; both need time, so that the thread does both."""
    explored: Explored = work(at=levels, moves=moves or bool(visitor.text("again")))
    found, filters = explored.to_dict(), _filter(visitor, explored)
    picture = None
    if not moves:
        space = explored.space
        picture = explored_map(space, filters.fitting(space), visitor.language, explored.at.node)
    short = [dict(enumerate(own, least)) for own, least in _short(explored)]
    told = {"short": dict(zip(found["attributes"], short, strict=True)), "filters": filters.coarsest}
    return {"problem": None, "found": found, "picture": picture, "moves": moves, **told}


def _short(explored: Explored) -> Any:
    space = explored.space
    return zip(space.meanings(examples=False), space.plan.minimum_levels.values(), strict=True)


def _filter(visitor: Visitor, explored: Explored) -> Filter:
    """The filter of the form; a field that is no number filters nothing."""
    names = explored.space.attributes
    given = {name: visitor.text(f"coarsest-{number}") for number, name in enumerate(names)}
    coarsest = {name: int(text) for name, text in given.items() if text.isdecimal() and len(text) < 4}
    share: float | None = None
    with suppress(ValueError):
        share = float(visitor.text("most").replace(",", ".")) / 100
    return Filter(bool(visitor.text("solutions")), coarsest, share)


def _levels(text: str, plan: Mapping[str, Any]) -> dict[str, int]:
    """The levels that a button names, in the order of the quasi-identifiers of the plan."""
    attributes = plan.get("attributes")
    entries = attributes.items() if isinstance(attributes, Mapping) else ()
    names = [name for name, entry in entries if isinstance(entry, Mapping) and entry.get("role") == "quasi-identifying"]
    levels = text[:LONGEST_AT].split(".")
    if len(levels) != len(names) or not all(level.isdecimal() and len(level) < 4 for level in levels):
        raise InputError("the combination cannot be read; open the page again", code="explore-at", field="at")
    return dict(zip(names, map(int, levels), strict=True))
