"""The timelines of series: releases over time, and what the next one would be."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Path
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from kohorte.errors import InputError, KohorteError
from kohorte.series.picture.charts import over_time
from kohorte.service.datasets import records
from kohorte.service.series import timelines
from kohorte.service.web.dependencies import LARGEST_NUMBER
from kohorte.service.web.execution.table_work import run_preview, run_table_work
from kohorte.service.web.screens.visitors import Allowed, Visitor

router = APIRouter(include_in_schema=False)
LIST = "/app/series"
MOST_DATASETS = 200
Name = Annotated[str, Path(min_length=1, max_length=255)]


@router.get(LIST, name="screen_series_list")
async def series_list(visitor: Annotated[Visitor, Allowed("list_series")]) -> Response:
    """List the series with their latest releases."""
    found = await run_table_work(timelines.listed, visitor.service, visitor.actor)
    return visitor.page("series_list.html.j2", series=[{**one, "address": _address(one["name"])} for one in found])


@router.get(f"{LIST}/{{name}}", name="screen_series")
async def series_page(name: Name, visitor: Annotated[Visitor, Allowed("show_series")]) -> Response:
    """Show the timeline of a series."""
    found = await run_table_work(timelines.shown, visitor.service, visitor.actor, name)
    return await _page(visitor, found)


@router.post(f"{LIST}/{{name}}", name="screen_series_next")
async def series_next(name: Name, visitor: Annotated[Visitor, Allowed("preview_series")]) -> Response:
    """Show the timeline with what the next release would be."""
    try:
        number = _dataset(visitor)
        found = await run_preview(timelines.coming, visitor.service, visitor.actor, name, number)
    except InputError as error:
        known = await run_table_work(timelines.shown, visitor.service, visitor.actor, name)
        return await _page(visitor, known, problem=error)
    return await _page(visitor, found, chosen=number)


def _dataset(visitor: Visitor) -> int:
    text = visitor.text("dataset")
    if not text.isdecimal() or not 0 < int(text) <= LARGEST_NUMBER:
        raise InputError("choose the table of which the next release would be made", code="series-form")
    return int(text)


async def _page(
    visitor: Visitor, found: timelines.Timeline, *, problem: KohorteError | None = None, chosen: int = 0
) -> Response:
    story = found.story
    offered: list[dict[str, Any]] = []
    if visitor.may("preview_series"):
        offered = (await run_in_threadpool(records.page, visitor.service, limit=MOST_DATASETS, number=1))["datasets"]
    return visitor.page(
        "series.html.j2",
        status=200 if problem is None else 400,
        found=found.to_dict(),
        least=story.least,
        charts=over_time(story, visitor.language) if len(story.chapters) > 1 else [],
        status_of_next=found.status if chosen else None,
        datasets=[one for one in offered if one["state"] == records.READY],
        chosen=chosen,
        address=_address(found.name),
        problem=problem,
    )


def _address(name: str) -> str:
    return f"{LIST}/{quote(name, safe='')}"
