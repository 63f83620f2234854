"""Answers at fixed times: how long one takes must reveal nothing (a timing side channel).

An answer, or an error, is held back until the next full step after the call arrived. Queries with noise would tell
something about the table; registrations and pseudonyms whether somebody was in a list, because new people are written
and known ones are read. While an answer is held back, no thread waits for it.
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

AT_ONCE = 48
OF_ONE_USER = 32
"""Queries under way, most of which wait for the disk together; fewer measure (`projects.measuring.turns`)."""
STEP_SECONDS = 0.05
PEOPLE_OF_A_STEP = 250
TEXTS_OF_A_STEP = 1_000
"""So many people, or texts, of one call are given as much time again as a call has."""

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


async def run_discreetly(
    step: float | None, work: Callable[Parameters, Result], /, *args: Parameters.args, **options: Parameters.kwargs
) -> Result:
    """Run work in a thread; its answer or its error is returned at a full step, or at once if there is none."""
    came = time.monotonic()
    try:
        return await to_thread.run_sync(partial(work, *args, **options))
    finally:
        if step is not None:
            await asyncio.sleep(until_full_step(time.monotonic() - came, step))


def until_full_step(seconds: float, step: float | None = None) -> float:
    """Return the seconds from a duration to the next full step."""
    length = STEP_SECONDS if step is None else step
    return length - seconds % length


def _current() -> _Slots:
    try:
        return _slots.get()
    except LookupError:
        slots = _Slots()
        _slots.set(slots)
        return slots
