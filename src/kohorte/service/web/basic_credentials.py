"""Clients of gPAS and Vfps that send an address and a password with every request (HTTP Basic).

Existing clients know no tokens of this service. The operations of FHIR therefore accept Basic credentials, and nothing
else does. A client is signed in with its first request, as `POST /login` would, with the same limits and the same lock
after wrong passwords; for the time of an access token its later requests use this session, so that the slow hash of the
password is not computed for each of them. A password that was changed and an account that was disabled end it at once.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets
import threading
from collections import OrderedDict
from datetime import timedelta
from functools import partial

from anyio import to_thread
from fastapi import Request

from kohorte.errors import AccessDenied
from kohorte.service.access import Actor, roles_of
from kohorte.service.accounts.sessions import admitted
from kohorte.service.accounts.tokens import Claims, caller
from kohorte.service.context import Service
from kohorte.service.web.execution.signing_in import limiter
from kohorte.service.web.middleware.rate_limits import RateLimits
from kohorte.trust import passwords

PATHS = ("/ttp-fhir/", "/v1/fhir/")
"""How the paths begin that accept Basic credentials."""
MOST_SESSIONS = 1_000
LONGEST_ADDRESS = 254
_locks = tuple(threading.Lock() for _ in range(64))


class BasicSessions:
    """The sessions of an application that were begun with Basic credentials; of these only a keyed hash is kept."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._known: OrderedDict[bytes, Claims] = OrderedDict()

    def again(self, service: Service, credentials: tuple[str, str]) -> Actor | None:
        """Return the caller of a session that these credentials have begun and that is still live."""
        index = self._index(credentials)
        claims = self._known.get(index)
        if claims is None:
            return None
        try:
            row = caller(service, claims)
        except AccessDenied:
            self._known.pop(index, None)
            return None
        return Actor(row.id, roles_of(row), claims.session_id)

    def begun(self, service: Service, limits: RateLimits, request: Request, credentials: tuple[str, str]) -> Actor:
        """Sign a client in; of requests that come at the same time the first one does."""
        index = self._index(credentials)
        with _locks[index[0] % len(_locks)]:
            known = self.again(service, credentials)
            if known is not None:
                return known
            limits.count_operation(request.scope, "login")
            row, session = admitted(service, *credentials, lasts=timedelta(minutes=service.settings.access_minutes))
            self._known[index] = Claims(row.id, session.id, "")
            while len(self._known) > MOST_SESSIONS:
                self._known.popitem(last=False)
            return Actor(row.id, roles_of(row), session.id)

    def _index(self, credentials: tuple[str, str]) -> bytes:
        return hmac.digest(self._key, "\0".join(credentials).encode(), "sha256")


async def basic_actor(request: Request) -> Actor | None:
    """Return the caller that Basic credentials name; None without any, and for operations that do not accept them."""
    credentials = _credentials(request)
    if credentials is None:
        return None
    service: Service = request.app.state.service
    sessions: BasicSessions = request.app.state.basic_sessions
    known = await to_thread.run_sync(sessions.again, service, credentials)
    if known is not None:
        return known
    begin = partial(sessions.begun, service, request.app.state.limits, request, credentials)
    return await to_thread.run_sync(begin, limiter=limiter())


def _credentials(request: Request) -> tuple[str, str] | None:
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic" or not request.scope["route"].path.startswith(PATHS):
        return None
    try:
        address, colon, password = base64.b64decode(text.strip(), validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return None
    fits = 0 < len(address) <= LONGEST_ADDRESS and 0 < len(password) <= passwords.LONGEST
    return (address, password) if colon and fits else None
