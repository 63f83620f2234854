"""Queries with noise: a limited number at a time per user, answered at fixed time steps.

The time that an answer takes must reveal nothing about the table (a timing side channel): an answer is held back until
the next full step after the query arrived.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

AT_ONCE = 6
OF_ONE_USER = 4
STEP_SECONDS = 0.05

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class _Slots:
    """Limits on concurrent queries: in all, and of one user."""

    def __init__(self) -> None:
        self.all = CapacityLimiter(AT_ONCE)
        self._of_user: dict[int, asyncio.Semaphore] = {}
        self._wanted: defaultdict[int, int] = defaultdict(int)

    async def take(self, user_id: int) -> None:
        """Wait until the user has fewer running queries than the limit."""
        self._wanted[user_id] += 1
        await self._of_user.setdefault(user_id, asyncio.Semaphore(OF_ONE_USER)).acquire()

    def give_back(self, user_id: int) -> None:
        """Let the next query of the user begin."""
        self._of_user[user_id].release()
        self._forget(user_id)

    def _forget(self, user_id: int) -> None:
        self._wanted[user_id] -= 1
        if not self._wanted[user_id]:
            del self._wanted[user_id], self._of_user[user_id]


_slots: RunVar[_Slots] = RunVar("queries")


async def run_query(
    user_id: int, work: Callable[Parameters, Result], /, *args: Parameters.args, **options: Parameters.kwargs
) -> Result:
    """Run a query when a slot is free; its answer or its error is returned at a full time step."""
    came = time.monotonic()
    slots = _current()
    await slots.take(user_id)
    try:
        return await to_thread.run_sync(partial(work, *args, **options), limiter=slots.all)
    finally:
        slots.give_back(user_id)
        await asyncio.sleep(until_full_step(time.monotonic() - came))


def until_full_step(seconds: float) -> float:
    """Return the seconds from a duration to the next full step."""
    return STEP_SECONDS - seconds % STEP_SECONDS


def _current() -> _Slots:
    try:
        return _slots.get()
    except LookupError:
        slots = _Slots()
        _slots.set(slots)
        return slots
