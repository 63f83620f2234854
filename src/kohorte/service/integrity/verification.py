"""Verify everything that the database must not have lost: the audit log, the accounts, and every marked row."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, Protocol

from sqlalchemy import Column, Connection, Row, Table, Text, cast, func, select

from kohorte.errors import EngineError
from kohorte.service.audit import AuditLog, LogCheck, verify_log
from kohorte.service.integrity.guard import Guard, Problem
from kohorte.service.integrity.marks import MARKED, SPENDING, Marked
from kohorte.service.storage.database import Database
from kohorte.service.storage.schema import audit
from kohorte.service.vault import Content

FILES: Mapping[str, Mapping[str, Content]] = MappingProxyType(
    {
        "datasets": {"uploaded_file": Content.UPLOAD, "table_file": Content.TABLE},
        "projects": {"release_file": Content.RELEASE, "report_file": Content.REPORT},
    }
)
"""The columns that name encrypted files, and what the files are."""


@dataclass(frozen=True)
class WrongRow:
    """A row that is not as the service wrote it last: its table, its key, and what is wrong."""

    table: str
    id: str
    problem: Problem


@dataclass(frozen=True)
class Verification:
    """The result of a verification; `state` says why state.log and the database do not fit, if they do not."""

    log: LogCheck
    rows: tuple[WrongRow, ...]
    state: str | None

    @property
    def whole(self) -> bool:
        """Whether nothing is wrong."""
        return self.log.whole and not self.rows and self.state is None

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        rows = [asdict(row) for row in self.rows]
        return {**self.log.to_dict(), "whole": self.whole, "wrong_rows": rows, "state_log": self.state}


class Sealed(Protocol):
    """A column of sealed texts."""

    @property
    def column(self) -> Column[Any]:
        """The column."""

    @property
    def table(self) -> Table:
        """Its table."""

    @property
    def label(self) -> Callable[[Connection, Row[Any]], str]:
        """Returns the label of the text of a row."""


def verify(
    database: Database,
    log: AuditLog,
    guard: Guard,
    sealed: Iterable[Sealed],
    *,
    expected: tuple[int, str] | None = None,
) -> Verification:
    """Verify the audit log, state.log, every marked row and every sealed text; `expected` is a head noted before."""
    rows = wrong_rows(database, guard)
    named = {(row.table, row.id) for row in rows}
    unreadable = [row for row in _not_unsealed(database, guard, sealed) if (row.table, row.id) not in named]
    checked = verify_log(database, log, expected=expected)
    return Verification(checked, (*rows, *dict.fromkeys(unreadable)), state_problem(guard))


def wrong_rows(database: Database, guard: Guard) -> tuple[WrongRow, ...]:
    """Return all marked rows that were changed, put back to an older state, or removed outside the service."""
    with database.reading() as connection:
        return tuple(wrong for kind in MARKED for wrong in _wrong(connection, guard, kind))


def _not_unsealed(database: Database, guard: Guard, sealed: Iterable[Sealed]) -> Iterator[WrongRow]:
    """Find the rows with a text that is not sealed for them: it was changed, or comes from another row."""
    with database.reading() as connection:
        for one in sealed:
            rows = connection.execute(select(one.table).where(func.length(one.column) > 0)).all()
            for row in rows:
                values = row._asdict()
                try:
                    guard.vault.unseal(values[one.column.name], label=one.label(connection, row))
                except EngineError:
                    key = " ".join(str(values[column.name]) for column in one.table.primary_key.columns)
                    yield WrongRow(one.table.name, key, Problem.CHANGED)


def _wrong(connection: Connection, guard: Guard, kind: Marked) -> list[WrongRow]:
    keys = [tuple(key) for key in connection.execute(select(*kind.table.primary_key.columns)).all()]
    problems = {kind.name(key): problem for key, problem in _problems(connection, guard, kind, keys)}
    present = {kind.name(key) for key in keys}
    problems |= dict.fromkeys(_expected(connection, guard, kind) - present, Problem.MISSING)
    found = [(name.partition(" ")[2], problem) for name, problem in problems.items()]
    return [WrongRow(kind.table.name, key, problem) for key, problem in sorted(found, key=_in_order)]


def _in_order(found: tuple[str, Problem]) -> list[int]:
    return [int(part) for part in found[0].split()]


def _problems(
    connection: Connection, guard: Guard, kind: Marked, keys: list[tuple[Any, ...]]
) -> list[tuple[tuple[Any, ...], Problem]]:
    try:
        rows = connection.execute(kind.rows).all()
    except (TypeError, ValueError):  # a value that its column cannot contain, which SQLite lets in: look one by one
        found = [(key, _problem_of(connection, guard, kind, key)) for key in keys]
    else:
        found = [(kind.key_of(row), _examined(connection, guard, kind, row)) for row in rows]
    return [(key, problem) for key, problem in found if problem is not None]


def _problem_of(connection: Connection, guard: Guard, kind: Marked, key: tuple[Any, ...]) -> Problem | None:
    try:
        return _examined(connection, guard, kind, connection.execute(kind.one, kind.keyed(key)).one())
    except (TypeError, ValueError):
        return Problem.CHANGED


def _examined(connection: Connection, guard: Guard, kind: Marked, row: Row[Any]) -> Problem | None:
    """What is wrong with a row, or with the encrypted files that it names."""
    problem = guard.problem(connection, kind, row)
    names = row._asdict()
    files = [(names[column], content) for column, content in FILES.get(kind.table.name, {}).items() if names[column]]
    if problem is None and any(guard.vault.is_another(name, content) for name, content in files):
        return Problem.FILE
    return problem


def _expected(connection: Connection, guard: Guard, kind: Marked) -> set[str]:
    """The names of the rows that must be there: state.log knows them; the audit log knows the spendings."""
    if kind is not SPENDING:
        return guard.state_log.floors.names(kind.table.name)
    paid = connection.execute(select(cast(audit.c.details, Text)).where(audit.c.action == "spend")).scalars()
    return {kind.name((number,)) for number in map(_paid, paid) if number is not None}


def _paid(details: str) -> int | None:
    """The number of the spending in an entry of the audit log; whether the entry is genuine is checked elsewhere."""
    try:
        found = json.loads(details)["question"]
    except (TypeError, ValueError, KeyError, RecursionError):
        return None
    return found if isinstance(found, int) else None


def state_problem(guard: Guard) -> str | None:
    """Return why state.log and the database do not fit, or None."""
    try:
        guard.state_log.refresh()
        guard.refuse_older_database()
    except EngineError as error:
        return error.message
    return None
