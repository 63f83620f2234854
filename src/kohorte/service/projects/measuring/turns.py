"""Turns to work: a query loads its table, and computes exact aggregates, while few others do, in all and of its user.

Queries that wait to be paid for, or whose answers are being recorded, cost nothing, so that many are under way; those
that read a table need a core and memory.

A query that is paid for and has no answer after a while counts as lost, and an equal one in another process pays again
(`dp.budget.ledger`). Therefore queries pay together only while measuring takes no time worth mentioning; otherwise each
waits for its turn first, and pays then.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType

from kohorte.dp import Account, Budget, Ledger
from kohorte.dp.budget.budget import Cost

AT_ONCE = 6
OF_ONE_USER = 4
SHORT_SECONDS = 1.0
"""With as many queries under way as may be, the last one that has paid then waits some eight seconds for its turn."""
FORGOTTEN = 0.1
"""The part of the longest time that is forgotten with every further one."""


class Turns:
    """Limits on what works at the same time: in all, and of one user."""

    def __init__(self, at_once: int = AT_ONCE, of_one_user: int = OF_ONE_USER) -> None:
        self._at_once = at_once
        self._of_one_user = of_one_user
        self._under_way: Counter[int] = Counter()
        self._began: dict[object, float] = {}
        self._longest: float | None = None
        self._changed = threading.Condition()

    @property
    def are_short(self) -> bool:
        """Whether what was timed lately took no time worth mentioning, and neither does what is under way."""
        with self._changed:
            oldest = min(self._began.values(), default=float("inf"))
            under_way = time.monotonic() - oldest
            return self._longest is not None and max(self._longest, under_way) < SHORT_SECONDS

    @contextmanager
    def of(self, user_id: int) -> Iterator[None]:
        """Wait for a turn of a user, and have it."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_free(user_id))
            self._under_way[user_id] += 1
        try:
            yield
        finally:
            with self._changed:
                self._under_way[user_id] -= 1
                self._under_way += Counter()  # without users who have none
                self._changed.notify_all()

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Note how long this takes."""
        work = object()
        with self._changed:
            self._began[work] = time.monotonic()
        try:
            yield
        finally:
            with self._changed:
                took = time.monotonic() - self._began.pop(work)
                self._longest = max(took, (1 - FORGOTTEN) * (self._longest or 0.0))

    def _is_free(self, user_id: int) -> bool:
        return self._under_way.total() < self._at_once and self._under_way[user_id] < self._of_one_user


PREPARING = Turns()
"""Those of this process to load a table or to estimate; nothing that is paid for waits for them."""
MEASURING = Turns()
"""Those of this process to compute exact aggregates and noise."""


class InTurn:
    """A ledger (`kohorte.dp.Ledger`) whose query measures in turn: until its answer is recorded."""

    def __init__(self, ledger: Ledger, user_id: int, turns: Turns = MEASURING) -> None:
        self._ledger = ledger
        self._user_id = user_id
        self._turns = turns
        self._turn = ExitStack()

    def __enter__(self) -> InTurn:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._turn.close()

    @property
    def account(self) -> Account:
        """The account whose budget is spent."""
        return self._ledger.account

    def recorded(self, query: str) -> str | None:
        """Return the release that was recorded for a query, if any."""
        return self._ledger.recorded(query)

    def reserve(self, query: str, cost: Cost, budget: Budget) -> int | None:
        """Pay for a query and wait for a turn, in this order if measuring takes no time worth mentioning."""
        pays_first = self._turns.are_short
        if not pays_first:
            self._turn.enter_context(self._turns.of(self._user_id))
        number = self._ledger.reserve(query, cost, budget)
        if number is None:
            self._turn.close()
            return None
        if pays_first:
            self._turn.enter_context(self._turns.of(self._user_id))
        self._turn.enter_context(self._turns.timed())
        return number

    def record(self, number: int, released: str) -> None:
        """Let another query measure, and record this one's answer."""
        self._turn.close()
        self._ledger.record(number, released)

    def spent(self) -> Cost:
        """Return the total that the account has paid."""
        return self._ledger.spent()
