"""Work on whole tables inside the server: few at a time, in threads of their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

AT_ONCE = 2
_limiters: RunVar[CapacityLimiter] = RunVar("table work")
_previews: RunVar[CapacityLimiter] = RunVar("previews")

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


async def run_table_work(
    work: Callable[Parameters, Result], /, *args: Parameters.args, **options: Parameters.kwargs
) -> Result:
    """Run work that needs much time or memory; further requests wait without occupying a thread."""
    return await to_thread.run_sync(partial(work, *args, **options), limiter=_limiter(_limiters))


async def run_preview(
    work: Callable[Parameters, Result], /, *args: Parameters.args, **options: Parameters.kwargs
) -> Result:
    """Run the preview of a plan; previews wait for each other, and never for other work or the other way round."""
    return await to_thread.run_sync(partial(work, *args, **options), limiter=_limiter(_previews))


def _limiter(of: RunVar[CapacityLimiter]) -> CapacityLimiter:
    try:
        return of.get()
    except LookupError:
        limiter = CapacityLimiter(AT_ONCE)
        of.set(limiter)
        return limiter
