"""Questions in threads of their own, a few for each user, and answers that come at even times.

How long an answer took must tell nothing about the table: it is held until the next full step since the question came.
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


class _Turns:
    """Who may ask at the same time: some in all, and fewer of one user."""

    def __init__(self) -> None:
        self.all = CapacityLimiter(AT_ONCE)
        self._of_user: dict[int, asyncio.Semaphore] = {}
        self._wanted: defaultdict[int, int] = defaultdict(int)

    async def take(self, user_id: int) -> None:
        """Wait until the user has less than so many questions under way."""
        self._wanted[user_id] += 1
        await self._of_user.setdefault(user_id, asyncio.Semaphore(OF_ONE_USER)).acquire()

    def give_back(self, user_id: int) -> None:
        """Let the next question of the user begin."""
        self._of_user[user_id].release()
        self._forget(user_id)

    def _forget(self, user_id: int) -> None:
        self._wanted[user_id] -= 1
        if not self._wanted[user_id]:
            del self._wanted[user_id], self._of_user[user_id]


_turns: RunVar[_Turns] = RunVar("questions")


async def asked(
    user_id: int, work: Callable[Parameters, Result], /, *args: Parameters.args, **options: Parameters.kwargs
) -> Result:
    """Do the work of a question in its turn; whatever comes of it, an answer or an error, comes at a full step."""
    came = time.monotonic()
    turns = _current()
    await turns.take(user_id)
    try:
        return await to_thread.run_sync(partial(work, *args, **options), limiter=turns.all)
    finally:
        turns.give_back(user_id)
        await asyncio.sleep(until_full_step(time.monotonic() - came))


def until_full_step(seconds: float) -> float:
    """Return how long it is from so many seconds to the next full step."""
    return STEP_SECONDS - seconds % STEP_SECONDS


def _current() -> _Turns:
    try:
        return _turns.get()
    except LookupError:
        turns = _Turns()
        _turns.set(turns)
        return turns
