"""How large a body may be, by what it says of itself and by what arrives; compressed ones are not read."""

from __future__ import annotations

from functools import cached_property

from fastapi.security.utils import get_authorization_scheme_param
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kohorte.errors import AccessDenied
from kohorte.service.accounts.tokens import Type, claims_of
from kohorte.service.context import Service
from kohorte.service.problems import problem
from kohorte.service.settings import MEBIBYTE
from kohorte.service.web.errors import answer, framework_answer

UPLOADS = "/api/v1/datasets"
FOR_STRANGERS = ("/api/v1/login", "/api/v1/refresh", "/api/v1/setup")
STRANGERS_LIMIT = 64 * 1024


class BodyTooLarge(HTTPException):
    """More has arrived than may; the only kind of error that FastAPI lets through while it reads."""


class BodyLimit:
    """Refuses a body that is too large: a stranger's sooner, an upload later than others."""

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
            refused = problem(415, code="body-content-encoding", detail="send the body as it is, not compressed")
            await answer(refused)(scope, receive, send)
            return
        allowance = Allowance(self._service, scope, headers)
        try:
            allowance.refuse_more_than(_announced(headers))
            await self.app(scope, _counted(receive, allowance), send)
        except BodyTooLarge as error:
            await framework_answer(error)(scope, receive, send)


class Allowance:
    """How many bytes a request may bring; who it is from is looked at when a stranger might bring no more."""

    def __init__(self, service: Service, scope: Scope, headers: Headers) -> None:
        self._service = service
        self._headers = headers
        self._path = scope["path"]
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        self._is_upload = (scope["method"], self._path, kind) == ("POST", UPLOADS, "multipart/form-data")

    def refuse_more_than(self, size: int) -> None:
        """Refuse a body of so many bytes if it is too large."""
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
            return settings.upload_limit + MEBIBYTE  # the route counts the file itself; around it is little
        return settings.body_limit

    @cached_property
    def _is_ours(self) -> bool:
        """Whether the request has a token that we made and that is not over; whose it is, is found out later."""
        scheme, token = get_authorization_scheme_param(self._headers.get("authorization"))
        try:
            claims_of(self._service, Type.ACCESS, token)
        except AccessDenied:
            return False
        return scheme.lower() == "bearer"


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
