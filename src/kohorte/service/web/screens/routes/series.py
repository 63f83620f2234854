"""Series: start one, see its releases over time and what the next one would be, make it, and download its files."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Path
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from kohorte.data import strict_yaml
from kohorte.errors import AccessDenied, InputError, KohorteError, PrivacyViolation
from kohorte.series.picture.charts import over_time
from kohorte.service.datasets import records
from kohorte.service.series import proposed_domains, releasing, timelines
from kohorte.service.web.dependencies import LARGEST_NUMBER, Number
from kohorte.service.web.execution.table_work import run_preview, run_table_work
from kohorte.service.web.routes.projects import attachment
from kohorte.service.web.screens.plan_form import LONGEST, plan_from_text
from kohorte.service.web.screens.routes.plans import as_sent, editor, plan_of_form, ready
from kohorte.service.web.screens.visitors import Allowed, Visitor

router = APIRouter(include_in_schema=False)
LIST = "/app/series"
MOST_DATASETS = 200
REFUSALS = (InputError, AccessDenied, PrivacyViolation)
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
        return await _refused(visitor, name, error)
    return await _page(visitor, found, chosen=number)


@router.post("/app/datasets/{dataset_id}/plan/series", name="screen_series_from_plan")
async def series_from_plan(dataset_id: Number, visitor: Annotated[Visitor, Allowed("start_series")]) -> Response:
    """Show the form of a new series with the plan of the editor and proposed domains."""
    dataset = await run_in_threadpool(ready, visitor, dataset_id)
    plan = as_sent(visitor)
    try:
        plan = plan_of_form(visitor, dataset)
        settings = await run_table_work(proposed_domains.proposed, visitor.service, visitor.actor, dataset_id, plan)
    except KohorteError as error:
        return await editor(visitor, dataset, plan, problem=error)
    return _starting(visitor, dataset, strict_yaml.dump(plan), strict_yaml.dump(settings))


@router.post("/app/datasets/{dataset_id}/series", name="screen_start_series")
async def start_series(dataset_id: Number, visitor: Annotated[Visitor, Allowed("start_series")]) -> Response:
    """Start a series; nothing that was typed is lost if it is refused."""
    dataset = await run_in_threadpool(ready, visitor, dataset_id)
    name = visitor.text("name")
    try:
        settings = strict_yaml.load(
            visitor.text("settings")[:LONGEST], source="the settings", code="series-settings-yaml"
        )
        if not isinstance(settings, dict):
            raise InputError("the settings must be a mapping", code="series-settings-yaml")
        wanted = releasing.NewSeries(name, dataset_id, plan_from_text(visitor.text("plan")), settings)
        await run_table_work(releasing.start, visitor.service, visitor.actor, wanted)
    except KohorteError as error:
        return _starting(visitor, dataset, visitor.text("plan"), visitor.text("settings"), problem=error)
    return visitor.to(_address(name), said="series-started")


@router.post(f"{LIST}/{{name}}/releases", name="screen_release_series")
async def release_series(name: Name, visitor: Annotated[Visitor, Allowed("release_series")]) -> Response:
    """Make the next release of a series."""
    try:
        number = _dataset(visitor)
        await run_table_work(releasing.release, visitor.service, visitor.actor, name, number)
    except REFUSALS as error:
        return await _refused(visitor, name, error)
    return visitor.to(_address(name), said="series-released")


@router.post(f"{LIST}/{{name}}/releases/{{number}}", name="screen_series_files")
async def series_files(name: Name, number: Number, visitor: Annotated[Visitor, Allowed("download_series")]) -> Response:
    """Send table and certificate of a release as a ZIP file."""
    try:
        dataset = _dataset(visitor)
        content = await run_table_work(releasing.files, visitor.service, visitor.actor, name, number, dataset)
    except REFUSALS as error:
        return await _refused(visitor, name, error)
    headers = attachment(f"release-{number}.zip")
    return Response(content, media_type="application/zip", headers=headers)


async def _refused(visitor: Visitor, name: str, error: KohorteError) -> Response:
    known = await run_table_work(timelines.shown, visitor.service, visitor.actor, name)
    return await _page(visitor, known, problem=error)


def _starting(
    visitor: Visitor, dataset: dict[str, Any], plan: str, settings: str, *, problem: KohorteError | None = None
) -> Response:
    return visitor.page(
        "series_start.html.j2",
        status=200 if problem is None else 400,
        dataset=dataset,
        name=visitor.text("name") if problem else "",
        plan=plan,
        settings=settings,
        problem=problem,
    )


def _dataset(visitor: Visitor) -> int:
    text = visitor.text("dataset")
    if not text.isdecimal() or not 0 < int(text) <= LARGEST_NUMBER:
        raise InputError("choose the table as it is now", code="series-form")
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
        releases_here=releasing.releases_here(visitor.service),
        address=_address(found.name),
        problem=problem,
    )


def _address(name: str) -> str:
    return f"{LIST}/{quote(name, safe='')}"
