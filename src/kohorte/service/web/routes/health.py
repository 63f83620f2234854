"""Health and metrics."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from kohorte.errors import EngineError
from kohorte.release import versions
from kohorte.service.parts import Part
from kohorte.service.web.dependencies import ServiceDep
from kohorte.service.web.metrics import Metrics, workers_seen

router = APIRouter(tags=["health"])
monitor_router = APIRouter(include_in_schema=False)
"""The same answers at `/health`, where monitors and proxies look."""
metrics_router = APIRouter(tags=["health"])
Status = Literal["ok", "degraded"]
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Health(BaseModel):
    """The health of the service."""

    status: Annotated[
        Status, Field(description="degraded if the database does not answer, or a worker is needed and there is none")
    ]
    version: Annotated[str, Field(examples=["0.1.0"])]
    database: Annotated[bool, Field(description="Whether the database answers")]
    worker: Annotated[bool, Field(description="Whether a worker was seen in the last 30 s")]


@router.get("/health", responses={503: {"model": Health, "description": "The database does not answer"}})
def show_health(service: ServiceDep, response: Response) -> Health:
    """Report whether the database answers and a worker is running; only research needs workers."""
    try:
        database, worker = True, workers_seen(service) > 0
    except EngineError:
        database, worker = False, False
        response.status_code = 503
    needs_worker = Part.RESEARCH in service.settings.parts
    status: Status = "ok" if database and (worker or not needs_worker) else "degraded"
    return Health(status=status, version=versions()["kohorte"], database=database, worker=worker)


def head_health(service: ServiceDep) -> Response:
    """Answer with the status of `show_health` alone, for monitors that send HEAD."""
    response = Response(media_type="application/json")
    show_health(service, response)
    return response


router.add_api_route("/health", head_health, methods=["HEAD"], name="show_health", include_in_schema=False)
monitor_router.add_api_route("/health", show_health, methods=["GET"], name="show_health")
monitor_router.add_api_route("/health", head_health, methods=["HEAD"], name="show_health")


@metrics_router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "All metrics"}},
)
def show_metrics(request: Request) -> Response:
    """Return metrics for Prometheus, to a data steward or to a client with the metrics token of the settings."""
    metrics: Metrics = request.app.state.metrics
    return Response(metrics.text(), media_type=METRICS_TYPE)
