"""Turns to measure: a query computes exact aggregates while few others do, in all and of its user.

Queries that wait to be paid for, or whose answers are being recorded, cost nothing, so that many are under way; those
that read a table need a core and memory.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType

from kohorte.dp import Account, Budget, Ledger
from kohorte.dp.budget.budget import Cost

AT_ONCE = 6
OF_ONE_USER = 4


class Turns:
    """Limits on what measures at the same time: in all, and of one user."""

    def __init__(self, at_once: int = AT_ONCE, of_one_user: int = OF_ONE_USER) -> None:
        self._at_once = at_once
        self._of_one_user = of_one_user
        self._under_way: Counter[int] = Counter()
        self._changed = threading.Condition()

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

    def _is_free(self, user_id: int) -> bool:
        return self._under_way.total() < self._at_once and self._under_way[user_id] < self._of_one_user


TURNS = Turns()
"""Those of this process."""


class InTurn:
    """A ledger (`kohorte.dp.Ledger`) whose query measures in turn: from its payment until its answer is recorded."""

    def __init__(self, ledger: Ledger, user_id: int, turns: Turns = TURNS) -> None:
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
        """Pay for a query, then wait for a turn."""
        number = self._ledger.reserve(query, cost, budget)
        if number is not None:
            self._turn.enter_context(self._turns.of(self._user_id))
        return number

    def record(self, number: int, released: str) -> None:
        """Let another query measure, and record this one's answer."""
        self._turn.close()
        self._ledger.record(number, released)

    def spent(self) -> Cost:
        """Return the total that the account has paid."""
        return self._ledger.spent()
