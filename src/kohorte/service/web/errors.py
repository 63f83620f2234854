"""Errors as responses: application/problem+json, without values, stack traces or messages of libraries."""

from __future__ import annotations

import logging
import math
import traceback
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kohorte.errors import BudgetExceeded, KohorteError
from kohorte.service.problems import FAILED, problem, problem_of, status_of
from kohorte.service.trust import refusals

MEDIA_TYPE = "application/problem+json"
MOST_PLACES = 20
LONGEST_NAME = 64
BY_FRAMEWORK = {
    400: partial(problem, code="body-unreadable", detail="the body cannot be read"),
    404: partial(problem, code="not-found", detail="there is nothing here"),
    405: partial(problem, code="method-not-allowed", detail="this path does not support the method"),
    413: partial(problem, code="body-too-large", detail="the body is too large"),
}
NOT_SIGNED_IN = problem(401, code="not-signed-in", detail="sign in first")
BEARER = {"WWW-Authenticate": "Bearer"}
OTHERWISE = partial(problem, code="refused", detail="the request was refused")
INVALID = "the request is not valid"
_log = logging.getLogger("kohorte.service")


def add_error_handlers(app: FastAPI) -> None:
    """Answer every error of a route as a problem."""
    app.add_exception_handler(KohorteError, _known)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _framework)
    app.add_exception_handler(RecursionError, _too_deep)
    app.add_exception_handler(ClientDisconnect, _gone)


def answer(told: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return a problem as a response."""
    return JSONResponse(told, told["status"], headers, media_type=MEDIA_TYPE)


class LastResort:
    """Answers unexpected exceptions, and logs type, code location and request id, never the message."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        started = False

        async def watch(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, watch)
        except Exception as error:  # noqa: BLE001 - its message could quote data
            _log_failure(scope, type(error).__name__, error)
            if not started:  # otherwise the response is cut off, which a client notices
                await answer(problem(500, code="internal", detail=FAILED))(scope, receive, send)


async def _known(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, KohorteError)
    status = status_of(error)
    headers = dict(BEARER) if status == HTTPStatus.UNAUTHORIZED else {}
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        headers["Retry-After"] = str(max(1, math.ceil(getattr(error, "retry_after", 1))))
    await _noted(request, error)
    if isinstance(error, BudgetExceeded):
        request.app.state.metrics.count_refusal()
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        _log_failure(request.scope, error.code, error)
    return answer(problem_of(error), headers)


async def _noted(request: Request, error: KohorteError) -> None:
    """Note a refusal in the log of the part that was called, if somebody was signed in."""
    part, actor = refusals.part_of(request.url.path), getattr(request.state, "actor", None)
    if part is not None and actor is not None:
        operation = getattr(request.state, "operation", request.scope["route"].name)  # pages call operations
        await run_in_threadpool(refusals.note, request.app.state.service, part, actor, operation, error)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    if _is_no_json(request, error):
        return answer(problem(415, code="body-content-type", detail="send JSON, with Content-Type: application/json"))
    found = [{"place": _place(one), "reason": _reason(one)} for one in error.errors()[:MOST_PLACES]]
    return answer(problem(400, code="invalid-request", detail=INVALID, errors=found))


def _is_no_json(request: Request, error: RequestValidationError) -> bool:
    """Whether the body was not parsed because its Content-Type is not JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    whole = any(tuple(one["loc"]) == ("body",) and one["type"] != "missing" for one in error.errors())
    return whole and not kind.endswith("json")


async def _framework(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    answered = framework_answer(error)
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        answered.headers["Allow"] = _allowed(request)
    return answered


def _allowed(request: Request) -> str:
    """All methods of a path; the framework names only those of one route."""
    path = request.url.path
    methods = {str(route.path): set[str]() for route in iter_route_contexts(request.app.routes)}
    for route in iter_route_contexts(request.app.routes):
        methods[str(route.path)] |= route.methods or set()
    found = methods.get(path) or set().union(*(methods[one] for one in methods if compile_path(one)[0].match(path)))
    return ", ".join(sorted(found))


def framework_answer(error: HTTPException) -> JSONResponse:
    """Return a response to an error of the framework, without its message."""
    if isinstance(error.__cause__, RecursionError):
        return _deep_answer()
    if error.status_code == HTTPStatus.UNAUTHORIZED:
        return answer(NOT_SIGNED_IN, BEARER)
    words = BY_FRAMEWORK.get(error.status_code, OTHERWISE)
    return answer(words(error.status_code), error.headers)


async def _too_deep(request: Request, error: Exception) -> JSONResponse:
    del request, error
    return _deep_answer()


async def _gone(request: Request, error: Exception) -> JSONResponse:
    del request, error
    return answer(problem(400, code="body-incomplete", detail="the body is incomplete"))


def _deep_answer() -> JSONResponse:
    return answer(problem(400, code="body-too-deep", detail="the body is nested too deeply"))


def _place(found: Mapping[str, Any]) -> str:
    place = found["loc"][:1] if found["type"] == "json_invalid" else found["loc"]
    return ".".join(map(_shown, place))


def _shown(part: object) -> str:
    """A field or position; a name that the client chose is shown only if it is short and printable."""
    text = str(part)
    return text if len(text) <= LONGEST_NAME and text.isprintable() else "..."


def _reason(found: Mapping[str, Any]) -> str:
    context = found.get("ctx", {})
    if found["type"] == "json_invalid":
        return f"is not JSON: {context.get('error', '')}, character {found['loc'][-1]}"
    if found["type"] == "union_tag_invalid":  # the library's own message repeats the input
        return f"should be one of {context.get('expected_tags', '')}"
    return str(found["msg"]).removeprefix("Value error, ")


def _log_failure(scope: Scope, kind: str, error: BaseException) -> None:
    places = traceback.extract_tb(error.__traceback__)
    place = f"{Path(places[-1].filename).name}, line {places[-1].lineno}" if places else "an unknown place"
    request_id = scope.get("state", {}).get("request_id", "-")
    _log.error("%s in %s, request %s", kind, place, request_id)


def _documented(status: int, description: str, code: str, detail: str) -> dict[str, Any]:
    example = problem(status, code=code, detail=detail)
    if status == HTTPStatus.BAD_REQUEST:
        example["errors"] = [{"place": "body.name", "reason": "Field required"}]
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}, "example": example}}
    return {"description": description, "content": content}


PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: _documented(status, description, code, detail)
    for status, description, code, detail in (
        (400, "Not valid; see `errors`", "invalid-request", INVALID),
        (401, "Not signed in, or the token is no longer valid", "not-signed-in", "sign in first"),
        (
            403,
            "Not allowed, against a rule of the house, or the budget is used up",
            "not-allowed",
            "none of your roles allows this",
        ),
        (404, "Does not exist, or is not visible to the caller", "not-found", "there is no such project"),
        (409, "Conflicts with the current state", "service-conflict", "another change came first"),
        (413, "Too large", "body-too-large", "the body is too large"),
        (415, "The content type or encoding is not supported", "body-content-encoding", "send it uncompressed"),
        (422, "No release satisfies the plan", "no-solution", "no release satisfies the plan"),
        (429, "Too many requests; see Retry-After", "too-many-requests", "too many requests; wait a while"),
    )
}
PROBLEM_SCHEMA: dict[str, Any] = {
    "title": "Problem",
    "description": "What went wrong (RFC 9457). The codes are stable.",
    "type": "object",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string"},
        "rule": {"type": "string", "description": "The rule of the house that was broken, with the code `house-rule`"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["place", "reason"],
                "properties": {"place": {"type": "string"}, "reason": {"type": "string"}},
            },
        },
    },
}
