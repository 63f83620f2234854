"""The application: all routes under /api/v1, and the middleware around them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from types import ModuleType

from anyio.to_thread import current_default_thread_limiter
from fastapi import APIRouter, Depends, FastAPI
from fastapi.routing import APIRoute
from fastapi.telemetry import TelemetryConfig
from starlette.concurrency import run_in_threadpool
from starlette.routing import BaseRoute

from kohorte.release import versions
from kohorte.service.context import Service
from kohorte.service.exchange.parcels import Deliveries
from kohorte.service.parts import Part
from kohorte.service.projects import tables
from kohorte.service.web import documentation
from kohorte.service.web.basic_credentials import BasicSessions
from kohorte.service.web.dependencies import authorize
from kohorte.service.web.errors import PROBLEMS, LastResort, add_error_handlers
from kohorte.service.web.metrics import Metrics
from kohorte.service.web.middleware.body_limit import BodyLimit
from kohorte.service.web.middleware.rate_limits import AddressLimit, RateLimits
from kohorte.service.web.middleware.request_log import RequestLog
from kohorte.service.web.middleware.security_headers import SecurityHeaders
from kohorte.service.web.middleware.strict_json import StrictJson
from kohorte.service.web.openapi import described
from kohorte.service.web.quick_queries import QuickQueries
from kohorte.service.web.routes import (
    accounts,
    approvals,
    audit,
    consents,
    datasets,
    domains,
    fhir,
    health,
    jobs,
    patients,
    projects,
    risk,
    rules,
    users,
    way_back,
)
from kohorte.service.web.routes.exchange import asking, parcels, requests, statistics
from kohorte.service.web.routes.previews import series
from kohorte.service.web.routes.reviews import drafts
from kohorte.service.web.routes.risks import assessment, exploration
from kohorte.service.web.routes.surveys import planning
from kohorte.service.web.screens.problem_pages import ProblemPages
from kohorte.service.web.screens.renewal import Renewal
from kohorte.service.web.screens.routers import screens_of
from kohorte.service.web.screens.routes.entrance import add_session_handler

PREFIX = "/api/v1"
NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
"""The framework would record bodies and exceptions, and send them to an address from the environment."""
THREADS = 8
"""Requests that run at the same time; more threads would only contend for the interpreter lock."""
SHARED = (accounts, users, approvals, audit, health)
ROUTES: Mapping[Part, tuple[ModuleType, ...]] = {
    Part.RESEARCH: (datasets, risk, exploration, assessment, projects, drafts, series, rules, jobs, planning),
    Part.PATIENTS: (patients, consents),
    Part.PSEUDONYMS: (domains, way_back),
    Part.EXCHANGE: (statistics, requests, asking, parcels),
}
"""The routes of every part; a part that is not served has none."""


def create_app(service: Service) -> FastAPI:
    """Return the application of a service."""
    app = FastAPI(
        routes=_with_short_ways(service.settings.parts),
        title="Kohorte",
        version=versions()["kohorte"],
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_made_ready,
        telemetry=NO_TELEMETRY,
    )
    app.state.service = service
    app.state.metrics = Metrics(service)
    app.state.limits = RateLimits(service.settings)
    app.state.basic_sessions = BasicSessions()
    add_error_handlers(app)
    add_session_handler(app)
    _surround(app, service)
    app.openapi = described(app)  # type: ignore[method-assign]
    return app


@asynccontextmanager
async def _made_ready(app: FastAPI) -> AsyncIterator[None]:
    """Load the libraries for queries before the first request, limit the threads, and send what waits for peers."""
    current_default_thread_limiter().total_tokens = THREADS
    settings = app.state.service.settings
    if Part.RESEARCH in settings.parts:
        await run_in_threadpool(tables.warm_up)
    if Part.EXCHANGE not in settings.parts:
        yield
        return
    deliveries = Deliveries(settings)
    deliveries.start()
    yield
    await run_in_threadpool(deliveries.stop)


def _with_short_ways(parts: frozenset[Part]) -> list[BaseRoute]:
    """All routes of some parts, after the short way to one of them."""
    routes = _routes(parts)
    if Part.RESEARCH not in parts:
        return list(routes)
    return [QuickQueries(PREFIX, APIRouter(routes=list(routes), redirect_slashes=False)), *routes]


@cache
def _routes(parts: frozenset[Part]) -> tuple[BaseRoute, ...]:
    """All routes of some parts; each runs `authorize` first. They are slow to build."""
    everything = APIRouter(dependencies=[Depends(authorize)], responses=PROBLEMS)
    everything.include_router(health.monitor_router)  # first, so that metrics and log name the path of the interface
    for routes in (*SHARED, *(one for part, members in ROUTES.items() if part in parts for one in members)):
        everything.include_router(routes.router, prefix=PREFIX)
    if Part.PSEUDONYMS in parts:
        everything.include_router(fhir.router)  # at the paths that clients of other services expect
    everything.include_router(health.metrics_router)
    everything.include_router(documentation.router)
    outermost = APIRouter(generate_unique_id_function=_name)
    outermost.include_router(everything)
    for one in screens_of(parts):
        outermost.include_router(one)
    return tuple(outermost.routes)


def _surround(app: FastAPI, service: Service) -> None:
    """Add the middleware; the last one added is the outermost."""
    app.add_middleware(StrictJson)
    app.add_middleware(BodyLimit, service=service)
    app.add_middleware(AddressLimit, limits=app.state.limits)
    app.add_middleware(LastResort)
    app.add_middleware(ProblemPages)
    app.add_middleware(Renewal)
    app.add_middleware(SecurityHeaders, behind_proxy=service.settings.behind_proxy)
    app.add_middleware(RequestLog, metrics=app.state.metrics)


def _name(route: APIRoute) -> str:
    return route.name
