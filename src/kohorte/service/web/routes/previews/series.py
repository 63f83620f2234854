"""Series of releases on the machine of the service."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from kohorte.service.series import releasing, timelines
from kohorte.service.web.dependencies import LARGEST_NUMBER, ActorDep, ServiceDep
from kohorte.service.web.execution.table_work import run_preview, run_table_work
from kohorte.service.web.routes.projects import attachment

router = APIRouter(tags=["series"])
SeriesName = Annotated[
    str, Path(min_length=1, max_length=255, description="The name of the series, that of its folder.")
]

ReleaseNumber = Annotated[int, Path(ge=1, le=LARGEST_NUMBER, description="The number of the release, from 1.")]


class SeriesLine(BaseModel):
    """A series in the list; `problem` is the code of the error if it cannot be read."""

    name: str
    releases: int | None
    latest: str | None
    loss: float | None
    problem: str | None


class SeriesList(BaseModel):
    """All series."""

    series: list[SeriesLine]


class SeriesAnswer(BaseModel):
    """A series and its releases; `held` is null where fewer rows are held back than the models allow to tell."""

    name: str
    started: str
    kind: str
    models: list[str]
    attributes: list[str]
    releases: list[dict[str, Any]]
    open_points: list[str]


class NextRelease(BaseModel):
    """The table of which the next release would be made."""

    model_config = ConfigDict(extra="forbid")
    dataset_id: int = Field(ge=1, le=LARGEST_NUMBER)


class NextAnswer(BaseModel):
    """What the next release would be, as `kohorte series status --json` tells it."""

    next: dict[str, Any] | None
    refused: dict[str, Any] | None
    held: list[dict[str, Any]]
    outside: int | None
    verdict: dict[str, Any] | None
    open_points: list[str]


class SeriesBody(BaseModel):
    """A new series: plan and settings as in their files, and the table with which the plan is compared."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field(min_length=1, max_length=63)
    dataset_id: int = Field(ge=1, le=LARGEST_NUMBER)
    plan: dict[str, Any]
    settings: dict[str, Any]


class ReleaseAnswer(BaseModel):
    """A release that was made: its figures, as `kohorte series release --json` prints them, and its certificate."""

    number: int
    figures: dict[str, Any]
    certificate: dict[str, Any]


class ZipResponse(Response):
    """A ZIP file as an attachment."""

    media_type = "application/zip"


@router.get("/series", summary="List the series")
async def list_series(service: ServiceDep, actor: ActorDep) -> SeriesList:
    """Return all series of the service with their latest release."""
    found = await run_table_work(timelines.listed, service, actor)
    return SeriesList(series=[SeriesLine(**one) for one in found])


@router.get("/series/{name}", summary="Show a series")
async def show_series(name: SeriesName, service: ServiceDep, actor: ActorDep) -> SeriesAnswer:
    """Return the releases of a series: counts, no rows."""
    found = await run_table_work(timelines.shown, service, actor, name)
    return SeriesAnswer(**found.to_dict())


@router.post("/series/{name}/next", summary="Preview the next release of a series")
async def preview_series(name: SeriesName, body: NextRelease, service: ServiceDep, actor: ActorDep) -> NextAnswer:
    """Return what the next release of a series would be; nothing is released or changed."""
    found = await run_preview(timelines.coming, service, actor, name, body.dataset_id)
    return NextAnswer(**found.next_to_dict())


@router.post("/series", status_code=201, summary="Start a series")
async def start_series(body: SeriesBody, service: ServiceDep, actor: ActorDep) -> SeriesAnswer:
    """Start a series of releases of a growing table; plan and domains never change. Nothing is released."""
    wanted = releasing.NewSeries(body.name, body.dataset_id, body.plan, body.settings)
    await run_table_work(releasing.start, service, actor, wanted)
    found = await run_table_work(timelines.shown, service, actor, body.name)
    return SeriesAnswer(**found.to_dict())


@router.post("/series/{name}/releases", status_code=201, summary="Make the next release of a series")
async def release_series(name: SeriesName, body: NextRelease, service: ServiceDep, actor: ActorDep) -> ReleaseAnswer:
    """Make and verify the next release; from then on it belongs to the series."""
    made = await run_table_work(releasing.release, service, actor, name, body.dataset_id)
    certificate = {} if made.certificate is None else dict(made.certificate.facts)
    return ReleaseAnswer(number=made.number, figures=made.to_dict(), certificate=certificate)


@router.post(
    "/series/{name}/releases/{number}/files",
    summary="Download a release of a series",
    response_class=ZipResponse,
)
async def download_series(
    name: SeriesName, number: ReleaseNumber, body: NextRelease, service: ServiceDep, actor: ActorDep
) -> Response:
    """Return table and certificate as a ZIP file; the release is made again from the table, with the same cells."""
    content = await run_table_work(releasing.files, service, actor, name, number, body.dataset_id)
    return ZipResponse(content, headers=attachment(f"release-{number}.zip"))
