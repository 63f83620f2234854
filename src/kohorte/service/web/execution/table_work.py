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
_surveys: RunVar[CapacityLimiter] = RunVar("surveys")
_sketches: RunVar[CapacityLimiter] = RunVar("sketches of surveys")
_explorations: RunVar[CapacityLimiter] = RunVar("explorations")
_assessments: RunVar[CapacityLimiter] = RunVar("assessments")

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


async def run_exploration(
    work: Callable[Parameters, Result], /, *args: Parameters.args, **options: Parameters.kwargs
) -> Result:
    """Run a step of the exploration of a plan, apart from previews and other work."""
    return await to_thread.run_sync(partial(work, *args, **options), limiter=_limiter(_explorations))


async def run_assessment(
    work: Callable[Parameters, Result], /, *args: Parameters.args, **options: Parameters.kwargs
) -> Result:
    """Measure the risk of a release, apart from previews and other work."""
    return await to_thread.run_sync(partial(work, *args, **options), limiter=_limiter(_assessments))


async def run_survey(
    work: Callable[Parameters, Result], /, *args: Parameters.args, **options: Parameters.kwargs
) -> Result:
    """Estimate or plan a survey; surveys wait for each other, and nothing else waits for them."""
    return await to_thread.run_sync(partial(work, *args, **options), limiter=_limiter(_surveys))


async def run_sketch(
    work: Callable[Parameters, Result], /, *args: Parameters.args, **options: Parameters.kwargs
) -> Result:
    """Tell what is known about a survey within a moment, also while another one is planned."""
    return await to_thread.run_sync(partial(work, *args, **options), limiter=_limiter(_sketches))


def _limiter(of: RunVar[CapacityLimiter]) -> CapacityLimiter:
    try:
        return of.get()
    except LookupError:
        limiter = CapacityLimiter(AT_ONCE)
        of.set(limiter)
        return limiter
