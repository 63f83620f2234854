"""The audit log: who did what to which object; append-only, each entry chained to the one before.

The chain is keyed (HMAC-SHA256) with a key that is not in the database. A person who can write to the database but has
no key cannot add, change or remove an entry unnoticed by `verify_log`. The removal of the last entries is detected by
comparison with state.log, a file, or with a head that was noted before. After a rotation of the master key the next
entries use a new key.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from sqlalchemy import Connection, RowMapping, Text, bindparam, cast, insert, select, update

from kohorte.errors import EngineError
from kohorte.service.storage.changes import changes_of
from kohorte.service.storage.database import Database
from kohorte.service.storage.schema import accounts, audit, audit_head, now
from kohorte.service.vault import Vault

START = "0" * 64
HEAD = select(audit_head).with_for_update()
ENTER = insert(audit)
MOVE_HEAD = update(audit_head).values(number=bindparam("number"), mac=bindparam("mac"), state=bindparam("state"))


@dataclass(frozen=True)
class Note:
    """What an entry says: who (None is the service itself) did what to which object."""

    action: str
    about: str
    actor: int | None
    details: Mapping[str, str | int | float | None]


class Outside(Protocol):
    """The record outside the database: its last line, and the last entry of the audit log that it knows."""

    @property
    def number(self) -> int:
        """The number of the last line."""

    @property
    def audit(self) -> tuple[int, str]:
        """Number and code of the entry."""


class AuditLog:
    """Writes entries in the same transaction as the action they record: both are stored, or neither."""

    def __init__(self, vault: Vault, outside: Outside | None = None) -> None:
        self._vault = vault
        self._outside = outside

    def append(
        self, connection: Connection, action: str, about: str, *, actor: int | None, **details: str | int | float | None
    ) -> None:
        """Add an entry as the last step of a transaction; `about` is, say, "project 4". No cell values, no tokens."""
        self.append_all(connection, [Note(action, about, actor, details)])

    def append_all(self, connection: Connection, notes: Sequence[Note]) -> None:
        """Add several entries as the last step of a transaction, each chained to the one before."""
        head = connection.execute(HEAD).one()
        if self._outside is not None and head.number < self._outside.audit[0]:
            raise older_database()
        number, mac, entries = head.number, head.mac, []
        for note in notes:
            number += 1
            entry = {
                "number": number,
                "at": now().isoformat(timespec="microseconds"),
                "actor_id": note.actor,
                "action": note.action,
                "object": note.about,
                "details": note.details,
                "previous": mac,
            }
            mac = self.mac(entry)
            entries.append({**entry, "mac": mac})
        connection.execute(ENTER, entries)
        state = max(head.state or 0, 0 if self._outside is None else self._outside.number)
        connection.execute(MOVE_HEAD, {"number": number, "mac": mac, "state": state})
        changes_of(connection).audit = (number, mac)

    def mac(self, entry: Mapping[str, Any]) -> str:
        """Return the message authentication code of an entry, with the key that is valid for its number."""
        text = json.dumps(entry, sort_keys=True, separators=(",", ":"))
        key = self._vault.ring.chain_key("audit", entry["number"])
        return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class LogCheck:
    """The result of a verification: the number of entries, the head, and the first wrong entry."""

    entries: int
    head: str
    first_wrong: int | None
    accounts_fit: bool = True
    """Whether every account agrees with the spendings in the log."""

    @property
    def whole(self) -> bool:
        """Whether nothing is wrong."""
        return self.first_wrong is None and self.accounts_fit

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "whole": self.whole,
            "entries": self.entries,
            "head": self.head,
            "first_wrong": self.first_wrong,
            "accounts_fit": self.accounts_fit,
        }


def verify_log(database: Database, log: AuditLog, *, expected: tuple[int, str] | None = None) -> LogCheck:
    """Verify the whole chain; `expected` is a head (number and code) noted before, which it must still contain."""
    number, code = expected or (0, START)
    previous, count, wrong, books = START, 0, False, _Books()
    noted = number != 0 or code == START
    texts = [cast(column, Text).label(column.name) if column is audit.c.details else column for column in audit.c]
    with database.reading() as connection:
        head = connection.execute(select(audit_head.c.number, audit_head.c.mac)).one_or_none()
        streamed = connection.execution_options(yield_per=1000)
        with closing(streamed.execute(select(*texts).order_by(audit.c.number))) as rows:
            for row in rows.mappings():
                if not _fits(row, log, count, previous) or (row["number"] == number and row["mac"] != code):
                    wrong = True
                    break
                previous, count = row["mac"], count + 1
                books.add(row)
        fit = books.fit(connection)
    whole = not wrong and noted and number <= count and head is not None and tuple(head) == (count, previous)
    return LogCheck(count, f"{count}:{previous}", None if whole else count + 1, accounts_fit=fit)


class _Books:
    """The spendings, added up from the entries of the log."""

    def __init__(self) -> None:
        self._spent: defaultdict[tuple[str, int], Fraction] = defaultdict(Fraction)

    def add(self, row: RowMapping) -> None:
        """Add an entry, if it records a spending."""
        if row["action"] == "spend":
            self._spent[row["object"], row["actor_id"]] += Fraction(json.loads(row["details"])["amount"])

    def fit(self, connection: Connection) -> bool:
        """Whether the accounts agree with the log."""
        rows = connection.execute(select(accounts)).all()
        told = {(f"project {row.project_id}", row.user_id): row.amount for row in rows}
        try:
            return {whose: Fraction(amount) for whose, amount in told.items() if amount != "0"} == dict(self._spent)
        except ValueError:
            return False


def _fits(row: RowMapping, log: AuditLog, count: int, previous: str) -> bool:
    """Whether an entry is the next one; the row may contain anything that an attacker wrote to the database."""
    try:
        entry = {**row, "details": json.loads(row["details"])}
        mac = entry.pop("mac")
        return bool(entry["number"] == count + 1 and entry["previous"] == previous and mac == log.mac(entry))
    except (TypeError, ValueError, RecursionError):
        return False


def older_database() -> EngineError:
    """Return the error for a database that lacks entries which it had before."""
    return EngineError(
        "the database is older than state.log: an older copy was put in its place, or the end of its audit log was "
        "removed. Put the newest database back, or restore a backup with kohorte service restore",
        code="service-database-older",
    )
