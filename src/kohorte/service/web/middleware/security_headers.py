"""Security headers of every response: no caching, framing, content sniffing or sharing with other origins."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

ALWAYS: Mapping[str, str] = MappingProxyType(
    {
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    }
)
NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
OWN_SCRIPTS = f"{NOTHING}; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'"
SCREENS = OWN_SCRIPTS.replace("form-action 'none'", "form-action 'self'") + "; frame-src 'self'"
ONE_PAGE = f"{NOTHING}; style-src 'unsafe-inline'; img-src data:; sandbox"
TRANSPORT = "max-age=31536000; includeSubDomains"


class SecurityHeaders:
    """Adds the headers; a route that returns a page sets its own Content-Security-Policy.

    `OWN_SCRIPTS` is for pages that load scripts of this service, `SCREENS` for those that also have forms, `ONE_PAGE`
    for a self-contained report.
    """

    def __init__(self, app: ASGIApp, *, behind_proxy: bool) -> None:
        self.app = app
        self._behind_proxy = behind_proxy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def add(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(ALWAYS)
                headers.setdefault("Content-Security-Policy", NOTHING)
                if self._behind_proxy or scope["scheme"] == "https":
                    headers["Strict-Transport-Security"] = TRANSPORT
            await send(message)

        await self.app(scope, receive, add)
