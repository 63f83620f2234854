"""A listening socket that limits the number of open connections, in all and per address.

Counting at the socket includes connections that have not begun their TLS handshake.
"""

from __future__ import annotations

import resource
import socket
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from kohorte.service.web.middleware.rate_limits import network

MOST_PER_ADDRESS = 256
MOST_FILES = 65_536
RESERVED_FILES = 512  # for the database, encrypted files and the like
REFUSED_AT_ONCE = 100
RETRY_SECONDS = 0.9  # asyncio tries again after a second


class LimitedListener(socket.socket):
    """A listening socket with a limit on connections in all and per address (None: no limit)."""

    def __init__(self, fileno: int, *, most: int, most_per_address: int | None) -> None:
        super().__init__(fileno=fileno)
        self._most = most
        self._most_per_address = most if most_per_address is None else most_per_address
        self._in_all = 0
        self._open: Counter[str] = Counter()
        self._exhausted_until = 0.0

    def accept(self) -> tuple[socket.socket, Any]:
        """Return the next connection within the limits; connections beyond them are closed."""
        for _ in range(REFUSED_AT_ONCE):
            connection, peer = self._next()
            name = network(peer[0]) or peer[0]
            if self._in_all < self._most and self._open[name] < self._most_per_address:
                self._in_all += 1
                self._open[name] += 1
                return CountedConnection(connection, partial(self._leave, name)), peer
            connection.close()
        raise ConnectionAbortedError  # asyncio treats this as "none for now" and retries later

    def _next(self) -> tuple[socket.socket, Any]:
        """Accept a connection; when file descriptors run out, fail once per second: asyncio logs every failure."""
        if time.monotonic() < self._exhausted_until:
            raise BlockingIOError
        try:
            return super().accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            raise
        except OSError:
            self._exhausted_until = time.monotonic() + RETRY_SECONDS
            raise

    def _leave(self, name: str) -> None:
        self._in_all -= 1
        self._open[name] -= 1
        if not self._open[name]:
            del self._open[name]


class CountedConnection(socket.socket):
    """A connection that reports when it is closed."""

    def __init__(self, connection: socket.socket, leave: Callable[[], None]) -> None:
        super().__init__(connection.family, connection.type, connection.proto, fileno=connection.detach())
        self._leave: Callable[[], None] | None = leave

    def close(self) -> None:
        """Close the connection."""
        super().close()
        if self._leave is not None:
            self._leave()
            self._leave = None


def most_connections() -> int:
    """Raise the limit of open files as far as allowed, and return how many of them may be connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return max(allowed - RESERVED_FILES, allowed // 2)
