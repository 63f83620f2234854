"""A short way for queries with noise: the same checks as the route `analyze`, without the work of the framework.

The framework looks through all routes, solves dependencies and builds several objects for a request, which takes as
long as everything else together. Here a request that is as usual (a path with a number, a bearer token, a valid body)
gets its answer directly. Any other one, such as a wrong body, goes to the route, which says what is wrong.
"""

from __future__ import annotations

import json
import re
from typing import Any

from starlette.datastructures import Headers, URLPath
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, NoMatchFound
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kohorte.service.access import permit
from kohorte.service.accounts.tokens import Type, actor_of, claims_of
from kohorte.service.projects import queries
from kohorte.service.web.dependencies import LARGEST_NUMBER
from kohorte.service.web.execution.constant_time import run_query
from kohorte.service.web.models.projects import QueryAnswer, Question

OPERATION = "analyze"
BEARER = "bearer "
PARTS = "kohorte.query"
"""The key of the number of the project and the token in the scope of a request."""


class QuickQueries(BaseRoute):
    """Answers queries at a path; `otherwise` serves all requests that are not as usual."""

    def __init__(self, prefix: str, otherwise: ASGIApp) -> None:
        self.name = OPERATION
        self.path = f"{prefix}/projects/{{project_id}}/analyze"
        self.methods = {"POST"}
        self._fits = re.compile(re.escape(prefix) + r"/projects/([1-9][0-9]{0,9})/analyze").fullmatch
        self._otherwise = otherwise

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether a request has the path, the method, a bearer token and JSON."""
        if scope["type"] != "http" or scope["method"] != "POST" or scope.get("root_path"):
            return Match.NONE, {}
        found = self._fits(scope["path"])
        if found is None or int(found[1]) > LARGEST_NUMBER:
            return Match.NONE, {}
        headers = Headers(scope=scope)
        token = headers.get("authorization", "")
        if headers.get("content-type") != "application/json" or token[: len(BEARER)].lower() != BEARER:
            return Match.NONE, {}
        return Match.FULL, {"route": self, PARTS: (int(found[1]), token[len(BEARER) :].strip())}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a query; a body that is not one goes to the route."""
        message = await receive()
        asked = question_in(message)
        if asked is None:
            await self._otherwise(scope, _first(message, receive), send)
            return
        project_id, token = scope[PARTS]
        claims = claims_of(scope["app"].state.service, Type.ACCESS, token)
        service, limits, state = scope["app"].state.service, scope["app"].state.limits, scope["state"]

        def answered() -> dict[str, Any]:
            with service.database.reading():  # the caller and the project at the same moment
                state["actor"] = actor = actor_of(service, claims)
                limits.count_user(actor.user_id)
                permit(OPERATION, actor)
                project = queries.interactive(service, actor, project_id)
            return queries.answer_from(service, actor, project, asked)

        answer = await run_query(claims.user_id, answered)
        response = Response(QueryAnswer(**answer).model_dump_json(), media_type="application/json")
        await response(scope, receive, send)

    def url_path_for(self, name: str, /, **path_params: Any) -> URLPath:
        """Refuse: the route gives its path."""
        raise NoMatchFound(name, path_params)


def question_in(message: Message) -> queries.Query | None:
    """Return the query that a message contains in whole, or None."""
    if message["type"] != "http.request" or message.get("more_body", False):
        return None
    try:
        body = Question.model_validate(json.loads(message.get("body", b"")))
    except (ValueError, RecursionError):
        return None
    return queries.Query(body.query, body.epsilon, body.delta)


def _first(message: Message, receive: Receive) -> Receive:
    """Receive this message, and then what comes."""
    waiting = [message]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
