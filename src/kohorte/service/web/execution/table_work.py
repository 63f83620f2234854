"""Work on whole tables inside the server: few at a time, in threads of their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

AT_ONCE = 2
_limiters: RunVar[CapacityLimiter] = RunVar("table work")

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


async def run_table_work(
    work: Callable[Parameters, Result], /, *args: Parameters.args, **options: Parameters.kwargs
) -> Result:
    """Run work that needs much time or memory; further requests wait without occupying a thread."""
    return await to_thread.run_sync(partial(work, *args, **options), limiter=_limiter())


def _limiter() -> CapacityLimiter:
    try:
        return _limiters.get()
    except LookupError:
        limiter = CapacityLimiter(AT_ONCE)
        _limiters.set(limiter)
        return limiter
