"""A ledger in one SQLite file, which several processes may use at once."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from kohorte.dp.budget.budget import NOTHING, Budget, Cost
from kohorte.dp.budget.ledger import ANSWERED_WITHIN_SECONDS, Account
from kohorte.errors import EngineError, InputError

WAIT_SECONDS = 60.0
"""Time after which a file that others keep locked is an error."""
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


class SqliteLedger:
    """An SQLite file with any number of accounts; exact with many processes, also if one of them dies."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if self.path.is_dir() or not self.path.parent.is_dir():
            raise InputError(f"{self.path}: the ledger is a file in a folder that exists", code="query-ledger")
        with self.open(writing=True) as connection:
            for statement in SCHEMA.split(";\n"):
                if statement.strip():
                    connection.execute(statement)

    def __repr__(self) -> str:
        return f"SqliteLedger({str(self.path)!r})"

    def of(self, account: Account) -> SqliteAccount:
        """Return the ledger of one account."""
        return SqliteAccount(self, account)

    @contextlib.contextmanager
    def open(self, *, writing: bool) -> Iterator[sqlite3.Connection]:
        """Open a connection for one transaction, which is on disk when the block ends."""
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
        """Begin a transaction; several processes may be creating the file at the same moment."""
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
            f"{self.path}: the ledger could not be read or written; it may be damaged, not a ledger, or in use",
            code="query-ledger-failed",
        )


@dataclass(frozen=True)
class SqliteAccount:
    """The ledger of one account in a SQLite file (`kohorte.dp.Ledger`)."""

    file: SqliteLedger
    account: Account

    def recorded(self, query: str) -> str | None:
        """Return the first release that was recorded for a query, if any."""
        with self.file.open(writing=False) as connection:
            found = connection.execute(
                "SELECT released FROM spent JOIN answered USING (number) "
                "WHERE project = ? AND researcher = ? AND question = ? ORDER BY number LIMIT 1",
                (*self._own, query),
            ).fetchone()
        return None if found is None else str(found[0])

    def reserve(self, query: str, cost: Cost, budget: Budget) -> int | None:
        """Pay for a query in one transaction and return its number, or None if another process has just paid."""
        with self.file.open(writing=True) as connection:
            self._refuse_other_composition(connection, budget)
            if self._is_being_answered(connection, query):
                return None
            budget.refuse_beyond(self._spent(connection), cost)
            cursor = connection.execute(
                "INSERT INTO spent (project, researcher, question, composition, amount, delta) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (*self._own, query, str(budget.composition), str(cost.amount), str(cost.delta)),
            )
            assert cursor.lastrowid is not None
            return cursor.lastrowid

    def record(self, number: int, released: str) -> None:
        """Record what a paid query released."""
        with self.file.open(writing=True) as connection:
            connection.execute("INSERT INTO answered (number, released) VALUES (?, ?)", (number, released))

    def spent(self) -> Cost:
        """Return the total that the account has paid."""
        with self.file.open(writing=False) as connection:
            return self._spent(connection)

    @property
    def _own(self) -> tuple[str, str]:
        return self.account.project, self.account.researcher

    def _is_being_answered(self, connection: sqlite3.Connection, query: str) -> bool:
        """Whether the query is on record, or was paid for recently by a process that will record it."""
        found = connection.execute(
            "SELECT 1 FROM spent LEFT JOIN answered USING (number) "
            "WHERE project = ? AND researcher = ? AND question = ? "
            "AND (released IS NOT NULL OR at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ?)) LIMIT 1",
            (*self._own, query, f"-{ANSWERED_WITHIN_SECONDS} seconds"),
        ).fetchone()
        return found is not None

    def _refuse_other_composition(self, connection: sqlite3.Connection, budget: Budget) -> None:
        other = connection.execute(
            "SELECT 1 FROM spent WHERE project = ? AND researcher = ? AND composition <> ? LIMIT 1",
            (*self._own, str(budget.composition)),
        ).fetchone()
        if other is not None:
            raise InputError(
                f"{self.file.path}: this account was spent under another composition, whose costs cannot be added",
                code="query-ledger",
            )

    def _spent(self, connection: sqlite3.Connection) -> Cost:
        """The exact sum; equal costs are frequent, so they are multiplied."""
        rows = connection.execute(
            "SELECT amount, delta, count(*) FROM spent WHERE project = ? AND researcher = ? GROUP BY amount, delta",
            self._own,
        )
        costs = [Cost(Fraction(amount) * times, Fraction(delta) * times) for amount, delta, times in rows]
        return sum(costs, NOTHING)
