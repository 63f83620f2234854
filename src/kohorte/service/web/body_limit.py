"""How large a body may be, by what it says of itself and by what arrives; compressed ones are not read."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kohorte.service.problems import problem
from kohorte.service.settings import MEBIBYTE, Settings
from kohorte.service.web.errors import answer, framework_answer

UPLOADS = "/api/v1/datasets"
FOR_STRANGERS = ("/api/v1/login", "/api/v1/refresh", "/api/v1/setup")
STRANGERS_LIMIT = 64 * 1024


class BodyTooLarge(HTTPException):
    """More has arrived than may; the only kind of error that FastAPI lets through while it reads."""


class BodyLimit:
    """Refuses a body that is too large: a stranger's sooner, an upload later than others."""

    def __init__(self, app: ASGIApp, *, settings: Settings) -> None:
        self.app = app
        self._settings = settings

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
        stranger = "authorization" not in headers
        limit = STRANGERS_LIMIT if stranger else self._limit(scope)
        status = 401 if stranger and scope["path"] not in FOR_STRANGERS else 413
        try:
            if _announced(headers) > limit:
                raise BodyTooLarge(status)
            await self.app(scope, _counted(receive, limit, status=status), send)
        except BodyTooLarge as error:
            await framework_answer(error)(scope, receive, send)

    def _limit(self, scope: Scope) -> int:
        if scope["method"] == "POST" and scope["path"] == UPLOADS:
            return self._settings.upload_limit + MEBIBYTE  # the route counts the file itself; around it is little
        return self._settings.body_limit


def _announced(headers: Headers) -> int:
    try:
        return int(headers.get("content-length", "0"))
    except ValueError:
        return 0


def _counted(receive: Receive, limit: int, *, status: int) -> Receive:
    arrived = 0

    async def count() -> Message:
        nonlocal arrived
        message = await receive()
        arrived += len(message.get("body", b""))
        if arrived > limit:
            raise BodyTooLarge(status)
        return message

    return count
