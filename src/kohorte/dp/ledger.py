"""The book of what was spent: an interface, and a file that several processes may use at once.

Order
    A question is paid for first (`reserve`), then answered, and the answer is written down (`record`) before anybody
    gets it. A process that ends in between has paid: what it may have shown is covered. Nothing is ever changed or
    removed.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Protocol
from weakref import WeakValueDictionary

from kohorte.dp.budget import NOTHING, Budget, Cost
from kohorte.errors import EngineError, InputError

WAIT_SECONDS = 60.0
ANSWERED_WITHIN_SECONDS = 30
"""A question that was paid for and is not answered after that long has lost its process; the next one pays again."""
SCHEMA = """
CREATE TABLE IF NOT EXISTS spent (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    project TEXT NOT NULL, researcher TEXT NOT NULL, question TEXT NOT NULL,
    composition TEXT NOT NULL, amount TEXT NOT NULL, delta TEXT NOT NULL,
    at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;
CREATE TABLE IF NOT EXISTS answered (
    number INTEGER PRIMARY KEY REFERENCES spent (number), released TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS spent_by ON spent (project, researcher, question);
CREATE TRIGGER IF NOT EXISTS spent_stays BEFORE DELETE ON spent BEGIN SELECT raise(ABORT, 'append only'); END;
CREATE TRIGGER IF NOT EXISTS spent_is_fixed BEFORE UPDATE ON spent BEGIN SELECT raise(ABORT, 'append only'); END;
CREATE TRIGGER IF NOT EXISTS answered_stays BEFORE DELETE ON answered BEGIN SELECT raise(ABORT, 'append only'); END;
CREATE TRIGGER IF NOT EXISTS answered_is_fixed BEFORE UPDATE ON answered BEGIN SELECT raise(ABORT, 'append only'); END;
"""


@dataclass(frozen=True)
class Account:
    """Whose budget is spent: one researcher in one project."""

    project: str
    researcher: str = "researcher"


class Ledger(Protocol):
    """What a book of spent budget does; a service may keep it in its own database."""

    def recorded(self, account: Account, question: str) -> str | None:
        """Return the release that was recorded for a question of this account, if any."""

    def reserve(self, account: Account, question: str, cost: Cost, budget: Budget) -> int | None:
        """Pay for a question and return a number for `record`; refuse it if the budget does not suffice.

        Nothing may come between reading what was spent and writing the cost, and the cost must be on disk on return.
        Return None, and pay nothing, where somebody else has paid for the same question and is answering it, or has
        answered it by now: look for the record again.
        """

    def record(self, number: int, released: str) -> None:
        """Write down what a paid question released."""

    def spent(self, account: Account) -> Cost:
        """Return all that the account has paid."""


_TURNS: WeakValueDictionary[Hashable, threading.Lock] = WeakValueDictionary()
_TAKING_TURNS = threading.Lock()


@contextlib.contextmanager
def in_turn(key: Hashable) -> Iterator[None]:
    """Let the threads of this process that have the same key in one after the other."""
    with _TAKING_TURNS:
        turn = _TURNS.setdefault(key, threading.Lock())
    with turn:
        yield


class NoLedger:
    """No book: every question is held against the whole budget, and forgotten."""

    def recorded(self, account: Account, question: str) -> str | None:
        """Return None: nothing is recorded."""
        del account, question
        return None

    def reserve(self, account: Account, question: str, cost: Cost, budget: Budget) -> int:
        """Refuse a question that alone exceeds the budget."""
        del account, question
        budget.refuse_beyond(NOTHING, cost)
        return 0

    def record(self, number: int, released: str) -> None:
        """Forget the release."""
        del number, released

    def spent(self, account: Account) -> Cost:
        """Return nothing."""
        del account
        return NOTHING


class SqliteLedger:
    """A book in one SQLite file; exact under many processes, and after the loss of any of them."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if self.path.is_dir() or not self.path.parent.is_dir():
            raise InputError(f"{self.path}: the ledger is a file in a folder that exists", code="query-ledger")
        with self._open(writing=True) as connection:
            for statement in SCHEMA.split(";\n"):
                if statement.strip():
                    connection.execute(statement)

    def __repr__(self) -> str:
        return f"SqliteLedger({str(self.path)!r})"

    def recorded(self, account: Account, question: str) -> str | None:
        """Return the first release that was recorded for a question of this account, if any."""
        with self._open(writing=False) as connection:
            found = connection.execute(
                "SELECT released FROM spent JOIN answered USING (number) "
                "WHERE project = ? AND researcher = ? AND question = ? ORDER BY number LIMIT 1",
                (account.project, account.researcher, question),
            ).fetchone()
        return None if found is None else str(found[0])

    def reserve(self, account: Account, question: str, cost: Cost, budget: Budget) -> int | None:
        """Pay for a question in one transaction, and return its number; or None where another process has just paid."""
        with self._open(writing=True) as connection:
            self._refuse_other_composition(connection, account, budget)
            if self._is_being_answered(connection, account, question):
                return None
            budget.refuse_beyond(_spent(connection, account), cost)
            row = (account.project, account.researcher, question, str(budget.composition))
            cursor = connection.execute(
                "INSERT INTO spent (project, researcher, question, composition, amount, delta) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (*row, str(cost.amount), str(cost.delta)),
            )
            assert cursor.lastrowid is not None
            return cursor.lastrowid

    def _is_being_answered(self, connection: sqlite3.Connection, account: Account, question: str) -> bool:
        """Whether the question is on record, or was paid for a moment ago by a process that will put it there."""
        found = connection.execute(
            "SELECT 1 FROM spent LEFT JOIN answered USING (number) "
            "WHERE project = ? AND researcher = ? AND question = ? "
            "AND (released IS NOT NULL OR at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ?)) LIMIT 1",
            (account.project, account.researcher, question, f"-{ANSWERED_WITHIN_SECONDS} seconds"),
        ).fetchone()
        return found is not None

    def record(self, number: int, released: str) -> None:
        """Write down what a paid question released."""
        with self._open(writing=True) as connection:
            connection.execute("INSERT INTO answered (number, released) VALUES (?, ?)", (number, released))

    def spent(self, account: Account) -> Cost:
        """Return all that the account has paid."""
        with self._open(writing=False) as connection:
            return _spent(connection, account)

    def _refuse_other_composition(self, connection: sqlite3.Connection, account: Account, budget: Budget) -> None:
        other = connection.execute(
            "SELECT 1 FROM spent WHERE project = ? AND researcher = ? AND composition <> ? LIMIT 1",
            (account.project, account.researcher, str(budget.composition)),
        ).fetchone()
        if other is not None:
            raise InputError(
                f"{self.path}: this account was spent under another composition, and costs of both do not add up",
                code="query-ledger",
            )

    @contextlib.contextmanager
    def _open(self, *, writing: bool) -> Iterator[sqlite3.Connection]:
        """A connection of its own for one transaction; what it writes is on disk when the block has ended."""
        try:
            connection = sqlite3.connect(self.path, timeout=WAIT_SECONDS, isolation_level=None)
        except sqlite3.Error:
            raise self._failure() from None
        try:
            self._begin(connection, writing=writing)
            yield connection
            connection.execute("COMMIT")
        except sqlite3.Error:
            raise self._failure() from None
        finally:
            connection.close()  # an open transaction is rolled back

    def _begin(self, connection: sqlite3.Connection, *, writing: bool) -> None:
        """Begin a transaction; several processes may be making the file at the same moment."""
        give_up = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("BEGIN IMMEDIATE" if writing else "BEGIN")
                return
            except sqlite3.OperationalError as error:
                busy = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
                if not busy or time.monotonic() > give_up:
                    raise
                time.sleep(0.005)

    def _failure(self) -> EngineError:
        return EngineError(
            f"{self.path}: the ledger could not be read or written; it may be damaged, no ledger at all, or in use",
            code="query-ledger-failed",
        )


def _spent(connection: sqlite3.Connection, account: Account) -> Cost:
    """The exact sum; the same cost occurs often, so that it is multiplied."""
    rows = connection.execute(
        "SELECT amount, delta, count(*) FROM spent WHERE project = ? AND researcher = ? GROUP BY amount, delta",
        (account.project, account.researcher),
    )
    costs = [Cost(Fraction(amount) * times, Fraction(delta) * times) for amount, delta, times in rows]
    return sum(costs, NOTHING)
