"""Errors as pages: what happened, and what to do. The routes answer with problems; people get a page instead."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kohorte.service.web.errors import MEDIA_TYPE
from kohorte.service.web.screens import cookies
from kohorte.service.web.screens.addresses import ROOT, SIGN_IN, is_screen
from kohorte.service.web.screens.rendering import rendered

PASSED_ON = ("retry-after", "allow")


class ProblemPages:
    """Turns a problem that answers a page into a page; a visitor who is not signed in is led to the sign-in page."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http" or not is_screen(scope["path"]):
            await self.app(scope, receive, send)
            return
        start: Message | None = None
        body = b""

        async def watch(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start" and _is_problem(message):
                start = message
            elif start is None:
                await send(message)
            else:
                body += message.get("body", b"")
                if not message.get("more_body", False):
                    page = _page(Request(scope), start, json.loads(body))
                    await page(scope, receive, send)

        await self.app(scope, receive, watch)


def _is_problem(message: Message) -> bool:
    return Headers(raw=message["headers"]).get("content-type", "").startswith(MEDIA_TYPE)


def _page(request: Request, start: Message, problem: Mapping[str, Any]) -> Response:
    if problem["status"] == 401 and request.method in ("GET", "HEAD"):
        wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(SIGN_IN if wanted == ROOT else f"{SIGN_IN}?next={quote(wanted, safe='')}", 303)
    language = cookies.language_of(request)
    page = rendered(request, "problem.html.j2", language, status=problem["status"], problem=problem)
    given = Headers(raw=start["headers"])
    page.headers.update({name: given[name] for name in PASSED_ON if name in given})
    return page
