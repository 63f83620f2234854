"""Refuse bodies that Python accepts but that are ambiguous, not valid JSON, or cannot be stored in a database."""

from __future__ import annotations

import json
import math
import re

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kohorte.errors import InputError
from kohorte.service.problems import problem
from kohorte.service.web.errors import INVALID, answer
from kohorte.service.web.middleware.duplicate_keys import duplicate_key

LARGE = 1 << 16
"""Bodies of more bytes are checked in a thread, so that other requests do not wait."""
SUSPICIOUS = re.compile(rb"NaN|Infinity|\\u[dD][89a-fA-F]|\\u0000|\x00|\d[eE]\+?\d{3}|\d{300}")
ZERO = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000|\x00")


class StrictJson:
    """Checks JSON bodies for duplicate keys and for unusual texts and numbers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        kind = Headers(scope=scope).get("content-type", "") if scope["type"] == "http" else ""
        if not kind.partition(";")[0].strip().lower().endswith("json"):  # a boundary may contain "json"
            await self.app(scope, receive, send)
            return
        body, last = await _whole(receive)
        reason = await run_in_threadpool(why_refused, body) if len(body) > LARGE else why_refused(body)
        if reason is None:
            await self.app(scope, _replayed({**last, "body": body}, receive), send)
            return
        places = [{"place": "body", "reason": reason}]
        await answer(problem(400, code="invalid-request", detail=INVALID, errors=places))(scope, receive, send)


def why_refused(body: bytes) -> str | None:
    """Return what is wrong with a body, or None; bodies that are not JSON are refused later."""
    if (place := duplicate_key(body)) is not None:
        return f"{place}: this key occurs twice in its object"
    if SUSPICIOUS.search(body) is None:
        return None
    if ZERO.search(body) is not None:
        return "contains a null character"
    try:
        parsed = json.loads(body, parse_constant=_finite, parse_float=_finite)
        json.dumps(parsed, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "contains a lone surrogate"
    except InputError as error:
        return error.message
    except (ValueError, RecursionError):
        return None
    return None


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise InputError("has a number that is not finite", code="invalid-request")
    return number


async def _whole(receive: Receive) -> tuple[bytes, Message]:
    """The body, which `BodyLimit` keeps small, and the last message, which may be that the client has disconnected."""
    parts: list[bytes] = []
    message: Message = {"more_body": True}
    while message.get("more_body", False):
        message = await receive()
        parts.append(message.get("body", b""))
    return b"".join(parts), message


def _replayed(message: Message, receive: Receive) -> Receive:
    """Replay the body in one piece."""
    waiting = [message]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
