"""A limit for people who sign in at the same time: hashing passwords is slow on purpose."""

from __future__ import annotations

from anyio import CapacityLimiter
from anyio.lowlevel import RunVar

from kohorte.trust import passwords

_waiting: RunVar[CapacityLimiter] = RunVar("logins")


def limiter() -> CapacityLimiter:
    """Return the limit, so that logins do not occupy the threads that other routes need."""
    try:
        return _waiting.get()
    except LookupError:
        made = CapacityLimiter(2 * passwords.AT_ONCE)
        _waiting.set(made)
        return made
