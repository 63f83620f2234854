"""Renew the cookie of a person who is at work: its time begins again with every page that a person opens."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kohorte.service.accounts import browsers
from kohorte.service.web.screens import cookies
from kohorte.service.web.screens.addresses import is_screen


class Renewal:
    """Adds the renewed cookie to responses of pages that were opened by a person who is signed in."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http" or not is_screen(scope["path"]):
            await self.app(scope, receive, send)
            return

        async def add(message: Message) -> None:
            state = scope.get("state", {})
            if message["type"] == "http.response.start" and state.get("renews") and state.get("actor") is not None:
                headers = MutableHeaders(scope=message)
                if "set-cookie" not in headers:
                    request, carrier = Request(scope), Response()
                    cookies.keep(request, carrier, browsers.renewed(request.app.state.service, state["actor"]))
                    headers.append("set-cookie", carrier.headers["set-cookie"])
            await send(message)

        await self.app(scope, receive, add)
