"""Series of releases on the machine of the service."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from kohorte.service.series import timelines
from kohorte.service.web.dependencies import LARGEST_NUMBER, ActorDep, ServiceDep
from kohorte.service.web.execution.table_work import run_preview, run_table_work

router = APIRouter(tags=["series"])
SeriesName = Annotated[
    str, Path(min_length=1, max_length=255, description="The name of the series, that of its folder.")
]


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
