"""Work on whole tables inside the server: a few at a time, in threads that no other request waits for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

AT_ONCE = 2
_limiters: RunVar[CapacityLimiter] = RunVar("heavy work")

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


async def in_turn(
    work: Callable[Parameters, Result], /, *args: Parameters.args, **options: Parameters.kwargs
) -> Result:
    """Do work that needs much time or memory; who comes while others are at it waits without a thread."""
    return await to_thread.run_sync(partial(work, *args, **options), limiter=_limiter())


def _limiter() -> CapacityLimiter:
    try:
        return _limiters.get()
    except LookupError:
        limiter = CapacityLimiter(AT_ONCE)
        _limiters.set(limiter)
        return limiter
