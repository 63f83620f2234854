"""Ledgers of spent budget: the protocol, and a ledger without storage.

Order
    A query is paid for first (`reserve`), then answered, and the answer is recorded (`record`) before anyone gets it. A
    process that dies in between has already paid for anything it may have shown. Entries are never changed or removed.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Protocol
from weakref import WeakValueDictionary

from kohorte.dp.budget.budget import NOTHING, Budget, Cost

ANSWERED_WITHIN_SECONDS = 30
"""If a paid query has no answer after this time, its process has died; the next one pays again."""


@dataclass(frozen=True)
class Account:
    """The owner of a budget: one researcher in one project."""

    project: str
    researcher: str = "researcher"


class Ledger(Protocol):
    """The record of what one account has spent; a service may keep it in its own database.

    A ledger is bound to its account when it is created, so that no call can name another one. A query is identified by
    the hash of everything that determines its noise.
    """

    @property
    def account(self) -> Account:
        """The account whose budget is spent."""

    def recorded(self, query: str) -> str | None:
        """Return the release that was recorded for a query, if any."""

    def reserve(self, query: str, cost: Cost, budget: Budget) -> int | None:
        """Pay for a query and return a number for `record`; refuse it if the budget is not sufficient.

        Reading what was spent and writing the cost must be atomic, and the cost must be on disk on return. If another
        process has paid for the same query and is answering it, or has answered it, pay nothing and return None: the
        caller then looks for the record again.
        """

    def record(self, number: int, released: str) -> None:
        """Record what a paid query released."""

    def spent(self) -> Cost:
        """Return the total that the account has paid."""


_LOCKS: WeakValueDictionary[Hashable, threading.Lock] = WeakValueDictionary()
_MAKING_A_LOCK = threading.Lock()


@contextlib.contextmanager
def one_at_a_time(key: Hashable) -> Iterator[None]:
    """Let only one thread of this process in for each key."""
    with _MAKING_A_LOCK:
        lock = _LOCKS.setdefault(key, threading.Lock())
    with lock:
        yield


class NoLedger:
    """A ledger without storage: each query is compared with the whole budget."""

    def __init__(self, account: Account) -> None:
        self.account = account
        self._spent = NOTHING

    def recorded(self, query: str) -> str | None:
        """Return None: nothing is recorded."""
        del query
        return None

    def reserve(self, query: str, cost: Cost, budget: Budget) -> int:
        """Refuse a query that exceeds the budget on its own."""
        del query
        budget.refuse_beyond(NOTHING, cost)
        self._spent = cost
        return 0

    def record(self, number: int, released: str) -> None:
        """Forget the release."""
        del number, released

    def spent(self) -> Cost:
        """Return the cost of the query, once it is paid."""
        return self._spent
