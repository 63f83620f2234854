"""Request log: one line of JSON per request with route, user, status and duration; never a body or parameter."""

from __future__ import annotations

import json
import logging
import time
import uuid
from datetime import UTC, datetime
from functools import lru_cache

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kohorte.service.web.metrics import Metrics

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
NO_STATUS = 499  # the client disconnected before there was a response
_log = logging.getLogger("kohorte.requests")


class RequestLog:
    """Gives each request an id, logs it and counts it."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self.app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        status, began = NO_STATUS, time.perf_counter()

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = request_id
            await send(message)

        try:
            await self.app(scope, receive, watch)
        finally:
            self._note(scope, status, time.perf_counter() - began)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in METHODS else "other"
        route = template(scope)
        self._metrics.count_request(method, route, status, seconds)
        actor = scope["state"].get("actor")
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "method": method,
            "route": route,
            "status": status,
            "milliseconds": round(1000 * seconds, 1),
            "user_id": None if actor is None else actor.user_id,
            "request_id": scope["state"]["request_id"],
        }
        _log.info(json.dumps(line))


def template(scope: Scope) -> str:
    """Return the path of the route, such as /api/v1/users/{user_id}; "-" if there is none."""
    route = scope.get("route")
    return "-" if route is None else _templates(scope["app"]).get(route.name, "-")


@lru_cache(maxsize=1)
def _templates(app: FastAPI) -> dict[str, str]:
    """The whole path of each route by its name; a route does not know its prefix."""
    return {str(route.name): str(route.path) for route in iter_route_contexts(app.routes)}
