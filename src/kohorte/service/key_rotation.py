"""Replace the master key of a running service (docs/decisions/0029-key-rotation.md).

Each step can be repeated; the key file and the table `master_key` record which ones are done:

1. The key file gets the new key as `next`: every process can unseal with it.
2. The database accepts what is sealed with either key.
3. The new key becomes the current one, the old one `previous`: every process seals with the new key from now on.
4. In one transaction the database stops accepting the old key, and the chained logs continue with keys derived from
   the new one.
5. Everything that is still sealed or marked with the old key is sealed or marked again, row by row and file by file.
6. The old key is removed from the key file, once everybody who has read something sealed with it has unsealed it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Row, Table, and_, delete, func, insert, select, text, update

from kohorte.errors import EngineError, InputError
from kohorte.service.approvals.requests import values_label
from kohorte.service.context import Service
from kohorte.service.datasets.hierarchies import hierarchy_label
from kohorte.service.integrity.marking import mark_again
from kohorte.service.integrity.marks import MARKED
from kohorte.service.jobs.queue import request_label
from kohorte.service.keyring import ID_BYTES, KeyRing, MasterKey
from kohorte.service.projects.ledger import answer_label, sql_label
from kohorte.service.projects.store import config_label, summary_label
from kohorte.service.reviews import rows as reviews
from kohorte.service.spent_log import Head
from kohorte.service.storage.schema import (
    answered,
    approvals,
    audit_head,
    draft_steps,
    drafts,
    hierarchies,
    jobs,
    master_key,
    projects,
    spent,
)

SETTLE_SECONDS = 2.0
"""How long the old key is still accepted, for texts that were sealed but not yet stored.

The old key also stays that long after everything was sealed again, for texts that were read but not yet unsealed.
"""
PORTION = 20
"""Rows per transaction; small, because other writers wait meanwhile."""

Report = Callable[[str, int, int], None]


@dataclass(frozen=True)
class SealedColumn:
    """A column of sealed texts, and the label of the text of a row."""

    column: Column[Any]
    label: Callable[[Connection, Row[Any]], str]

    @property
    def table(self) -> Table:
        """The table of the column."""
        table: Table = self.column.table
        return table

    def stale(self, key: MasterKey) -> ColumnElement[bool]:
        """The condition that a text is sealed with another key."""
        return and_(func.length(self.column) > 0, func.substr(self.column, 1, ID_BYTES) != key.id)


SEALED = (
    SealedColumn(hierarchies.c.sealed, lambda _, row: hierarchy_label(row.dataset_id, row.attribute)),
    SealedColumn(projects.c.sealed_config, lambda _, row: config_label(row.id)),
    SealedColumn(projects.c.sealed_summary, lambda _, row: summary_label(row.id)),
    SealedColumn(spent.c.sealed_sql, lambda _, row: sql_label(row.project_id, row.user_id)),
    SealedColumn(answered.c.sealed_release, lambda _, row: answer_label(row.spent_id)),
    SealedColumn(jobs.c.sealed_request, request_label),
    SealedColumn(approvals.c.sealed_values, lambda _, row: values_label(row._asdict())),
    SealedColumn(drafts.c.sealed_plan, lambda _, row: reviews.plan_label(row.id, row.revision)),
    SealedColumn(drafts.c.sealed_reviewed, lambda _, row: reviews.plan_label(row.id, row.reviewed_revision)),
    SealedColumn(drafts.c.sealed_figures, lambda _, row: reviews.figures_label(row.id, row.revision)),
    SealedColumn(draft_steps.c.sealed_comment, lambda _, row: reviews.comment_label(row._asdict())),
)


@dataclass(frozen=True)
class Rotation:
    """The result of a rotation: how much was sealed or marked again, and what no key can unseal (damaged before)."""

    key: str
    texts: int
    rows: int
    files: int
    damaged: int


def is_unfinished(ring: KeyRing) -> bool:
    """Whether a rotation has begun and not ended."""
    return len(ring.all) > 1


def rotate(service: Service, report: Report, *, settle_seconds: float = SETTLE_SECONDS) -> Rotation:
    """Replace the master key, or finish a rotation that was interrupted."""
    vault = service.vault
    with _only_one(service):
        if not is_unfinished(vault.ring):
            vault.replace_keys(replace(vault.ring, next=MasterKey.new()))
        if vault.ring.next is not None:
            _accept(service, vault.ring.next)
            vault.replace_keys(vault.ring.with_next_as_current())
            time.sleep(settle_seconds)
        _accept_only_current(service)
        texts, damaged_texts = _reseal_texts(service, report)
        count = mark_again(service.database, service.guard, service.vault)
        files, damaged_files = _reseal_files(service, report)
        time.sleep(settle_seconds)
        vault.replace_keys(replace(vault.ring, previous=()))
    return Rotation(vault.ring.current.id.hex(), texts, count, files, damaged_texts + damaged_files)


@contextlib.contextmanager
def _only_one(service: Service) -> Iterator[None]:
    """Lock the folder of the key; a second command is refused at once."""
    _refuse_other_owner(service.settings.key_path)
    descriptor = os.open(service.settings.key_path.parent, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError("another command is replacing the key right now", code="service-key-conflict") from None
        yield
    finally:
        os.close(descriptor)


def _refuse_other_owner(key_path: Path) -> None:
    """New files belong to the user who runs this: a service of another user could read neither key nor locked files."""
    if key_path.stat().st_uid != os.geteuid():
        raise InputError(
            f"{key_path}: belongs to another user; run this as that user, as the service does (sudo -u)",
            code="service-key-owner",
        )


def _accept(service: Service, key: MasterKey) -> None:
    """Let the database accept texts that are sealed with a key, in addition to the accepted keys."""
    with service.database.writing() as connection:
        known = connection.execute(select(master_key)).all()
        if key.fingerprint not in {row.fingerprint for row in known}:
            number = max((row.id for row in known), default=0) + 1
            connection.execute(insert(master_key), {"id": number, "fingerprint": key.fingerprint})


def _accept_only_current(service: Service) -> None:
    """Stop accepting other keys, and derive new keys for the chained logs, unless that was done before."""
    key = service.vault.ring.current
    _accept(service, key)
    with service.database.writing() as connection:
        spendings = service.spent_log.last_number(Head.locked(connection))
        _wait_for_writers(connection)
        known = set(connection.execute(select(master_key.c.fingerprint)).scalars())
        if known == {key.fingerprint}:
            return
        number = connection.execute(select(audit_head.c.number).with_for_update()).scalar_one()
        connection.execute(delete(master_key).where(master_key.c.fingerprint != key.fingerprint))
        first = {"audit": number + 1, "spent": spendings + 1}
        service.vault.replace_keys(service.vault.ring.with_chain_keys_from(first))
        service.log.append(connection, "rotate-key", f"key {key.id.hex()}", actor=None)


def _wait_for_writers(connection: Connection) -> None:
    """Wait until no transaction of PostgreSQL writes to sealed or marked tables; SQLite has only one writer."""
    if connection.dialect.name == "postgresql":
        names = ", ".join(sorted({entry.table.name for entry in (*SEALED, *MARKED)}))
        connection.execute(text(f"LOCK TABLE {names} IN SHARE MODE"))


def _reseal_texts(service: Service, report: Report) -> tuple[int, int]:
    done = damaged = 0
    for sealed in SEALED:
        stale = _stale_rows(service, sealed)
        for start in range(0, len(stale), PORTION):
            with service.database.writing() as connection:
                for row in stale[start : start + PORTION]:
                    whole = _resealed(service, connection, sealed, row)
                    done, damaged = done + whole, damaged + (not whole)
            report(f"{sealed.table.name}.{sealed.column.name}", min(start + PORTION, len(stale)), len(stale))
    return done, damaged


def _stale_rows(service: Service, sealed: SealedColumn) -> Sequence[Row[Any]]:
    """The keys of the rows that have to be sealed again."""
    statement = select(*sealed.table.primary_key.columns).where(sealed.stale(service.vault.ring.current))
    with service.database.reading() as connection:
        return connection.execute(statement).all()


def _resealed(service: Service, connection: Connection, sealed: SealedColumn, key: Row[Any]) -> bool:
    """Seal one text again; False if no key can unseal it."""
    this = and_(*(column == key._asdict()[column.name] for column in sealed.table.primary_key.columns))
    row = connection.execute(select(sealed.table).where(this).with_for_update()).one_or_none()
    if row is None:
        return True  # removed meanwhile
    label = sealed.label(connection, row)
    try:
        found = service.vault.unseal(row._asdict()[sealed.column.name], label=label)
    except EngineError:
        return False
    again = {sealed.column.name: service.vault.seal(found, label=label)}
    connection.execute(update(sealed.table).where(this).values(again))
    return True


def _reseal_files(service: Service, report: Report) -> tuple[int, int]:
    names, done, damaged = service.vault.names(), 0, 0
    for count, name in enumerate(names, 1):
        try:
            done += service.vault.reseal(name)
        except EngineError as error:
            if error.code != "service-damaged":
                raise
            damaged += 1
        report("files", count, len(names))
    return done, damaged
