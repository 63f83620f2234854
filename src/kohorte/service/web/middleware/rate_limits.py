"""Rate limits: token buckets per user and per address, in the memory of a process."""

from __future__ import annotations

import ipaddress
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from kohorte.errors import AccessDenied
from kohorte.service.problems import problem_of
from kohorte.service.settings import Settings
from kohorte.service.web.errors import answer

MOST_BUCKETS = 10_000
USERS_OF_AN_ADDRESS = 10
SIGNING_IN = frozenset({"login", "refresh", "create_first_steward"})


class TooManyRequests(AccessDenied):
    """The caller sent too many requests; `retry_after` is in seconds."""

    def __init__(self, retry_after: float) -> None:
        super().__init__("too many requests; wait a while", code="too-many-requests")
        self.retry_after = math.ceil(retry_after)


class Buckets:
    """One token bucket per name: it holds a minute's share and refills evenly; the least recently used are dropped."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = float(per_minute)
        self._rate = per_minute / 60
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, name: str) -> None:
        """Take a token from a bucket; without one, refuse and report when there will be one."""
        with self._lock:
            now = self._clock()
            left, seen = self._buckets.pop(name, (self._most, now))
            left = min(self._most, left + (now - seen) * self._rate)
            enough = left >= 1
            self._buckets[name] = (left - 1 if enough else left, now)
            if len(self._buckets) > MOST_BUCKETS:
                self._buckets.popitem(last=False)
        if not enough:
            raise TooManyRequests((1 - left) / self._rate)


class RateLimits:
    """The buckets of an application."""

    def __init__(self, settings: Settings) -> None:
        self._behind_proxy = settings.behind_proxy
        self._users = Buckets(settings.requests_per_minute)
        self._addresses = Buckets(settings.requests_per_minute * USERS_OF_AN_ADDRESS)
        self._signing_in = {name: Buckets(settings.logins_per_minute) for name in SIGNING_IN}

    def count_address(self, scope: Scope) -> None:
        """Count a request from any sender."""
        self._addresses.take(self.address(scope))

    def count_operation(self, scope: Scope, operation: str) -> None:
        """Count an attempt to sign in."""
        if operation in self._signing_in:
            self._signing_in[operation].take(self.address(scope))

    def count_user(self, user_id: int) -> None:
        """Count a request of a signed-in user."""
        self._users.take(str(user_id))

    def address(self, scope: Scope) -> str:
        """Return the client address: the peer, or the last entry of a trusted proxy; for IPv6 the /64 network."""
        client = scope.get("client")
        peer: str = client[0] if client else ""
        forwarded = Headers(scope=scope).getlist("x-forwarded-for") if self._behind_proxy else []
        return network(forwarded[-1].rsplit(",", 1)[-1].strip()) or peer if forwarded else network(peer) or peer


class AddressLimit:
    """Refuses an address that sends too many requests, before the body is read."""

    def __init__(self, app: ASGIApp, *, limits: RateLimits) -> None:
        self.app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        try:
            if scope["type"] == "http":
                self._limits.count_address(scope)
        except TooManyRequests as refused:
            headers = {"Retry-After": str(refused.retry_after)}
            await answer(problem_of(refused), headers)(scope, receive, send)
            return
        await self.app(scope, receive, send)


def network(text: str) -> str:
    """Return an IPv4 address unchanged, the network of an IPv6 address, and "" for anything else."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return ""
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    mapped = address.ipv4_mapped
    return str(mapped) if mapped else str(ipaddress.ip_network((address, 64), strict=False))
