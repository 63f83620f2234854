"""Limits on the size of request bodies, by declared length and by bytes received; compressed bodies are refused."""

from __future__ import annotations

from datetime import timedelta
from functools import cached_property

from fastapi.security.utils import get_authorization_scheme_param
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kohorte.errors import AccessDenied
from kohorte.service.accounts.tokens import Type, claims_of
from kohorte.service.context import Service
from kohorte.service.problems import problem
from kohorte.service.settings import MEBIBYTE
from kohorte.service.web.client_certificates import presented
from kohorte.service.web.errors import answer, framework_answer
from kohorte.service.web.screens.addresses import is_screen
from kohorte.service.web.screens.cookies import SIGNED_IN

UPLOADS = ("/api/v1/datasets", "/app/datasets/new")
PARCELS = "/api/v1/exchange/parcels"
FOR_STRANGERS = ("/api/v1/login", "/api/v1/refresh", "/api/v1/setup", "/app/setup", "/app/language")
STRANGERS_LIMIT = 64 * 1024
LATE = timedelta(hours=24)
"""A long form of a browser whose session ended no longer ago is read, so that what was typed is offered again."""


class BodyTooLarge(HTTPException):
    """The body exceeds its limit; an HTTPException, because FastAPI passes on no other error while reading a body."""


class BodyLimit:
    """Refuses a body that is too large; limits are lower without a valid token, and higher for uploads."""

    def __init__(self, app: ASGIApp, *, service: Service) -> None:
        self.app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            refused = problem(415, code="body-content-encoding", detail="send the body uncompressed")
            await answer(refused)(scope, receive, send)
            return
        allowance = Allowance(self._service, scope, headers)
        try:
            allowance.refuse_more_than(_announced(headers))
            await self.app(scope, _counted(receive, allowance), send)
        except BodyTooLarge as error:
            await framework_answer(error)(scope, receive, send)


class Allowance:
    """The limit for one request; the token is checked only when the limit without a token is exceeded."""

    def __init__(self, service: Service, scope: Scope, headers: Headers) -> None:
        self._service = service
        self._headers = headers
        self._certificate = presented(scope)
        self._path = scope["path"]
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        is_table = scope["method"] == "POST" and self._path in UPLOADS and kind == "multipart/form-data"
        self._is_upload = is_table or (self._path == PARCELS and self._certificate is not None)
        self._cookies = cookie_parser(headers.get("cookie", ""))

    def refuse_more_than(self, size: int) -> None:
        """Refuse a body of this size if it is too large."""
        if size <= STRANGERS_LIMIT:
            return
        if not self._is_ours and self._path not in FOR_STRANGERS:
            raise BodyTooLarge(401)
        if size > self._most:
            raise BodyTooLarge(413)

    @property
    def _most(self) -> int:
        if self._path in FOR_STRANGERS:
            return STRANGERS_LIMIT
        settings = self._service.settings
        if self._is_upload:
            return settings.upload_limit + MEBIBYTE  # the route limits the file itself; the rest of the body is small
        return settings.body_limit

    @cached_property
    def _is_ours(self) -> bool:
        """Whether the request has a pinned certificate, or a token or cookie with a valid signature.

        More is checked later; on pages, also whether the time of the cookie is over.
        """
        if self._certificate is not None:
            return True
        scheme, token = get_authorization_scheme_param(self._headers.get("authorization"))
        if scheme.lower() == "bearer" and self._is_signed(Type.ACCESS, token):
            return True
        late = LATE if is_screen(self._path) else None
        cookies = [self._cookies[name] for name in SIGNED_IN if name in self._cookies]
        return any(self._is_signed(Type.BROWSER, cookie, late) for cookie in cookies)

    def _is_signed(self, kind: Type, token: str, late: timedelta | None = None) -> bool:
        try:
            claims_of(self._service, kind, token, late=late)
        except AccessDenied:
            return False
        return True


def _announced(headers: Headers) -> int:
    try:
        return int(headers.get("content-length", "0"))
    except ValueError:
        return 0


def _counted(receive: Receive, allowance: Allowance) -> Receive:
    arrived = 0

    async def count() -> Message:
        nonlocal arrived
        message = await receive()
        arrived += len(message.get("body", b""))
        allowance.refuse_more_than(arrived)
        return message

    return count
