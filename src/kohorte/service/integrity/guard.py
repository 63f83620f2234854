"""The guard: marks rows when they are written and checks them when they are used.

A row is used only if its mark is genuine and its version is not older than state.log says. Otherwise the use is
refused, the audit log gets an entry, and `kohorte audit verify` names the row.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, Update, select

from kohorte.errors import EngineError, KohorteError
from kohorte.service.audit import AuditLog, older_database
from kohorte.service.integrity.marks import Marked
from kohorte.service.integrity.state_log import StateLog
from kohorte.service.storage.changes import Changes, changes_of
from kohorte.service.storage.database import Database
from kohorte.service.storage.schema import audit, audit_head
from kohorte.service.vault import Vault

AnyRow = TypeVar("AnyRow", bound=Row[Any])


class Problem(StrEnum):
    """What is wrong with a row."""

    CHANGED = "changed"
    OLDER = "older"
    MISSING = "missing"
    FILE = "its file is another one"


class Guard:
    """Watches over the marked rows of a service.

    `lenient` is for commands that examine or repair a service: they can open it without state.log.
    """

    def __init__(self, database: Database, vault: Vault, log: AuditLog, state_log: StateLog, *, lenient: bool) -> None:
        self.state_log = state_log
        self._database = database
        self.vault = vault
        self._log = log
        self._lenient = lenient
        self._reported: set[str] = set()

    def begin(self) -> int:
        """Read what was added to state.log, before a transaction begins."""
        try:
            self.state_log.refresh()
        except EngineError:
            if not self._lenient:
                raise
        return self.state_log.number

    def committed(self, changes: Changes) -> None:
        """Add what a transaction has changed to state.log."""
        if not changes.rows and changes.audit is None:
            return
        try:
            self.state_log.append(changes)
        except EngineError:
            if not self._lenient:
                raise

    def refuse_older_database(self) -> None:
        """Refuse a database that does not contain what state.log says that it contained.

        Others may write meanwhile, first to the database and then to the file: what the file says is read before the
        database for what must be in there, and again afterwards for how far the file must be.
        """
        self.begin()
        number, mac = self.state_log.audit
        with self._database.reading() as connection:
            head = connection.execute(select(audit_head)).one()
            known = connection.execute(select(audit.c.mac).where(audit.c.number == number)).scalar_one_or_none()
        if self.begin() < (head.state or 0):
            raise EngineError(
                "state.log is older than the database: it was truncated or replaced; put the newest copy back, or let "
                "an operator confirm the rows of the database (kohorte service confirm-rows)",
                code="service-state-log",
            )
        if number and (head.number < number or known != mac):
            raise older_database()

    def problem(self, connection: Connection, kind: Marked, row: Row[Any]) -> Problem | None:
        """Return what is wrong with a row, or None."""
        if not kind.is_genuine(self.vault.ring.all, row):
            return Problem.CHANGED
        least = self.state_log.floors.at(kind.name(kind.key_of(row)), changes_of(connection).position)
        return Problem.OLDER if row.version < least else None

    def checked(self, connection: Connection, kind: Marked, row: AnyRow) -> AnyRow:
        """Return a row if it is as the service wrote it last; otherwise refuse it."""
        problem = self.problem(connection, kind, row)
        if problem is not None:
            raise self.refused(kind, row, problem)
        return row

    def refused(self, kind: Marked, row: Row[Any], problem: Problem) -> EngineError:
        """Return the error for a row with a problem; the audit log gets an entry."""
        return self.refused_key(kind, kind.key_of(row), problem)

    def refused_key(self, kind: Marked, key: Iterable[int], problem: Problem) -> EngineError:
        """Return the error for the row with a primary key; the audit log gets an entry."""
        return self._refused(kind.name(key), problem)

    def refuse_known(self, connection: Connection, kind: Marked, *key: int) -> None:
        """Refuse if a row that was not found should be there."""
        name = kind.name(key)
        if self.state_log.floors.at(name, changes_of(connection).position):
            raise self._refused(name, Problem.MISSING)

    def refuse_removed(self, connection: Connection, kind: Marked, keys: Iterable[tuple[int, ...]]) -> None:
        """Refuse if a table lacks a row that should be there; `keys` are those of all rows that were found."""
        position = changes_of(connection).position
        for name in sorted(self.state_log.floors.names(kind.table.name) - {kind.name(key) for key in keys}):
            if self.state_log.floors.at(name, position):
                raise self._refused(name, Problem.MISSING)

    @contextmanager
    def changing(self, connection: Connection, kind: Marked, *key: int) -> Iterator[None]:
        """Check a row, let the caller change it, and mark it again; a row that was forged does not become genuine."""
        row = connection.execute(kind.locked, kind.keyed(key)).one_or_none()
        if row is not None:
            self.checked(connection, kind, row)
        else:
            self.refuse_known(connection, kind, *key)
        yield
        if row is not None:
            self.mark(connection, kind, *key)

    def mark(self, connection: Connection, kind: Marked, *key: int) -> None:
        """Mark a row that the caller has just inserted or found to be genuine."""
        row = connection.execute(kind.one, kind.keyed(key)).one()
        connection.execute(kind.marking, self._marked(connection, kind, key, row._asdict()))

    def mark_all(self, connection: Connection, kind: Marked, rows: Sequence[Mapping[str, Any]]) -> None:
        """Mark rows that the caller has just inserted; each has its primary key and all columns that a mark covers."""
        columns = [column.name for column in kind.table.primary_key.columns]
        keys = [tuple(row[name] for name in columns) for row in rows]
        marked = [self._marked(connection, kind, key, row) for key, row in zip(keys, rows, strict=True)]
        connection.execute(kind.marking, marked)

    def rewrite(self, connection: Connection, kind: Marked, row: Row[Any], statement: Update, **values: object) -> None:
        """Change and mark a row in one statement; the caller has locked and checked it in this transaction.

        `statement` writes `values`, `new_version` and `new_mark` into the row of `kind.keyed`.
        """
        marked = self._marked(connection, kind, kind.key_of(row), {**row._asdict(), **values})
        connection.execute(statement, {**marked, **values})

    def _marked(
        self, connection: Connection, kind: Marked, key: tuple[int, ...], row: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The parameters that mark a row; the transaction notes its version."""
        name = kind.name(key)
        version = max(time.time_ns() // 1000, (row["version"] or 0) + 1, self.state_log.floors.newest(name) + 1)
        if kind.in_state_log:
            changes_of(connection).rows[name] = version
        mark = kind.mark(self.vault.ring.current, row, version)
        return {**kind.keyed(key), "new_version": version, "new_mark": mark}

    def _refused(self, name: str, problem: Problem) -> EngineError:
        """Return the error for a row, after a note in the audit log: once for each row and process."""
        if name not in self._reported:
            self._reported.add(name)
            with suppress(KohorteError):
                self._database.when_free(lambda: self._report(name, problem))
        return EngineError(
            f"{name}: this row of the database is not as the service wrote it last ({problem}); see kohorte audit "
            "verify",
            code="service-row-changed",
        )

    def _report(self, name: str, problem: Problem) -> None:
        with self._database.writing() as connection:
            self._log.append(connection, "refuse-row", name, actor=None, problem=str(problem))
