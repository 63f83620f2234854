"""The application: all routes under /api/v1, and what lies around them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from anyio.to_thread import current_default_thread_limiter
from fastapi import APIRouter, Depends, FastAPI
from fastapi.routing import APIRoute
from fastapi.telemetry import TelemetryConfig
from starlette.concurrency import run_in_threadpool

from kohorte.release import versions
from kohorte.service.context import Service
from kohorte.service.projects import tables
from kohorte.service.web import documentation
from kohorte.service.web.body_limit import BodyLimit
from kohorte.service.web.dependencies import authorize
from kohorte.service.web.errors import PROBLEMS, LastResort, add_error_handlers
from kohorte.service.web.headers import SecurityHeaders
from kohorte.service.web.metrics import Metrics
from kohorte.service.web.openapi import described
from kohorte.service.web.rate_limits import AddressLimit, RateLimits
from kohorte.service.web.request_log import RequestLog
from kohorte.service.web.routes import accounts, audit, datasets, health, jobs, projects, risk, users
from kohorte.service.web.strict_json import StrictJson

PREFIX = "/api/v1"
NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
"""The framework would record bodies and exceptions, and send them wherever a variable of the environment says."""
THREADS = 8
"""So many requests are worked on at a time; more would only take the interpreter from each other."""
ROUTES = (accounts, users, datasets, risk, projects, jobs, audit, health)


def create_app(service: Service) -> FastAPI:
    """Return the application of a service."""
    app = FastAPI(
        title="Kohorte",
        version=versions()["kohorte"],
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=_name,
        lifespan=_made_ready,
        telemetry=NO_TELEMETRY,
    )
    app.state.service = service
    app.state.metrics = Metrics(service)
    app.state.limits = RateLimits(service.settings)
    add_error_handlers(app)
    _surround(app, service)
    app.include_router(_router())
    app.openapi = described(app)  # type: ignore[method-assign]
    return app


@asynccontextmanager
async def _made_ready(app: FastAPI) -> AsyncIterator[None]:
    """Load what the first question would wait for, and let requests wait in turn."""
    del app
    current_default_thread_limiter().total_tokens = THREADS
    await run_in_threadpool(tables.warm_up)
    yield


def _router() -> APIRouter:
    """All routes; there is none that does not ask `authorize` first."""
    everything = APIRouter(dependencies=[Depends(authorize)], responses=PROBLEMS)
    for routes in ROUTES:
        everything.include_router(routes.router, prefix=PREFIX)
    everything.include_router(health.metrics_router)
    everything.include_router(documentation.router)
    return everything


def _surround(app: FastAPI, service: Service) -> None:
    """Put layers around the routes; the last one added is the outermost."""
    app.add_middleware(StrictJson)
    app.add_middleware(BodyLimit, service=service)
    app.add_middleware(AddressLimit, limits=app.state.limits)
    app.add_middleware(LastResort)
    app.add_middleware(SecurityHeaders, behind_proxy=service.settings.behind_proxy)
    app.add_middleware(RequestLog, metrics=app.state.metrics)


def _name(route: APIRoute) -> str:
    return route.name
