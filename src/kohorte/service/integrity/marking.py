"""Mark many rows: at the first start of this version, after a restore or a new key, or because an operator decides."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Connection, Row, select, update

from kohorte.errors import InputError
from kohorte.service.audit import HEAD, START, AuditLog
from kohorte.service.integrity.guard import Guard
from kohorte.service.integrity.marks import ACCOUNT, MARKED, USER, Marked
from kohorte.service.keyring import MasterKey
from kohorte.service.storage.changes import changes_of
from kohorte.service.storage.database import Database
from kohorte.service.storage.numbers import skip_to
from kohorte.service.storage.schema import audit_head
from kohorte.service.vault import Vault

PORTION = 100
"""Rows per transaction; small, because other writers wait meanwhile."""
LONGEST_REASON = 500


def begin(database: Database, guard: Guard, vault: Vault, log: AuditLog) -> None:
    """Mark the rows of a service that has none yet, and begin state.log; this trusts the database, once.

    state.log is in the way of a second time: with more than its first line it shows that rows were marked before.
    """
    state_log = guard.state_log
    with database.writing() as connection:
        head = connection.execute(HEAD).one()
        if head.state:
            return
        if not state_log.path.exists():
            state_log.rewrite({}, (0, START))
        state_log.refresh()
        if state_log.number > 1:
            return
        count = _mark_where(connection, guard, lambda kind, row: kind is not ACCOUNT or _had_code(vault, row))
        if count:
            log.append(connection, "mark-rows", "database", actor=None, rows=count)
        else:
            connection.execute(update(audit_head).values(state=state_log.number))
        changes = changes_of(connection)
    guard.committed(changes)


def accept_restored(database: Database, guard: Guard, vault: Vault) -> None:
    """Make the genuine rows of a restored backup the latest ones; forged rows stay refused.

    Users who were created after the backup are lost; their numbers are not given again.
    """
    with database.writing() as connection:
        lost = (int(name.partition(" ")[2]) for name in guard.state_log.floors.names(USER.table.name))
        skip_to(connection, USER.table.name, max(lost, default=0))
        _mark_where(connection, guard, lambda kind, row: kind.is_genuine(vault.ring.all, row))
    _begin_again(database, guard)


def confirm(database: Database, guard: Guard, log: AuditLog, *, reason: str) -> int:
    """Accept all rows as they are now, and begin a new state.log; return the number of rows.

    This is the only way to use rows again that were changed outside the service, or a database whose state.log is lost.
    The audit log records the reason.
    """
    if not 0 < len(reason.strip()) <= LONGEST_REASON:
        raise InputError(f"--reason: is a text of 1 to {LONGEST_REASON} characters", code="service-reason")
    with database.writing() as connection:
        count = _mark_where(connection, guard, lambda *_: True)
    _begin_again(database, guard)
    with database.writing() as connection:
        log.append(connection, "confirm-rows", "database", actor=None, reason=reason.strip(), rows=count)
    return count


def mark_again(database: Database, guard: Guard, vault: Vault) -> int:
    """Mark the genuine rows that have a mark of a previous key with the current one; return how many."""
    done = 0
    for kind in MARKED:
        with database.reading() as connection:
            keys = connection.execute(select(*kind.table.primary_key.columns)).all()
        for start in range(0, len(keys), PORTION):
            with database.writing() as connection:
                for key in keys[start : start + PORTION]:
                    done += _marked_again(connection, guard, vault, kind, tuple(key))
    guard.state_log.seal_again()
    return done


def _marked_again(connection: Connection, guard: Guard, vault: Vault, kind: Marked, key: tuple[int, ...]) -> bool:
    row = connection.execute(kind.locked, kind.keyed(key)).one()
    if not kind.is_genuine(vault.ring.previous, row) or guard.problem(connection, kind, row) is not None:
        return False
    guard.mark(connection, kind, *key)
    return True


def _mark_where(connection: Connection, guard: Guard, wanted: Callable[[Marked, Row[Any]], bool]) -> int:
    """Mark the wanted rows of all tables; return how many there are."""
    count = 0
    for kind in MARKED:
        rows: Sequence[Row[Any]] = connection.execute(kind.rows).all()
        for row in rows:
            if wanted(kind, row):
                guard.mark(connection, kind, *kind.key_of(row))
                count += 1
    return count


def _begin_again(database: Database, guard: Guard) -> None:
    """Write a new state.log with the present rows and the present head of the audit log."""
    rows: dict[str, int] = {}
    with database.reading() as connection:
        head = connection.execute(select(audit_head)).one()
        for kind in MARKED:
            if kind.in_state_log:
                key = kind.table.primary_key.columns
                found = connection.execute(select(*key, kind.table.c.version).where(kind.table.c.version.is_not(None)))
                rows |= {kind.name(given): version for *given, version in found}
    guard.state_log.rewrite(rows, (head.number, head.mac), after=head.state or 0)


def _had_code(vault: Vault, row: Row[Any]) -> bool:
    """Whether an account has the authentication code that it had before rows were marked."""
    text = " ".join(map(str, (row.project_id, row.user_id, row.composition, row.amount, row.delta)))
    return any(hmac.compare_digest(row.mark.encode(), _code(key, text)) for key in vault.ring.all)


def _code(key: MasterKey, text: str) -> bytes:
    return hmac.new(key.derived("accounts"), text.encode(), hashlib.sha256).hexdigest().encode()
