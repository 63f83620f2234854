"""The opened service that every part works with: settings, database, vault, audit log and log of spendings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from typing import Self

from sqlalchemy import select, text

from kohorte.errors import InputError
from kohorte.service.audit import AuditLog
from kohorte.service.integrity import marking
from kohorte.service.integrity.guard import Guard
from kohorte.service.integrity.state_log import StateLog
from kohorte.service.settings import Settings
from kohorte.service.spent_log import SpentLog
from kohorte.service.storage.database import Database
from kohorte.service.storage.migration import migrate, refuse_other_version
from kohorte.service.storage.schema import audit_head, master_key
from kohorte.service.vault import Vault

FIRST_KEY = "INSERT INTO master_key (id, fingerprint) VALUES (1, :fingerprint) ON CONFLICT DO NOTHING"


class How(Enum):
    """How a service is opened: as usual, to examine or repair it, or with a database that was just restored."""

    STRICT = auto()
    LENIENT = auto()
    RESTORED = auto()


@dataclass(frozen=True)
class Service:
    """An opened service."""

    settings: Settings
    database: Database
    vault: Vault
    log: AuditLog
    spent_log: SpentLog
    guard: Guard

    @classmethod
    @contextmanager
    def opened(cls, settings: Settings, *, create: bool, how: How = How.STRICT) -> Iterator[Self]:
        """Open the service of a folder; with `create` the folder, key and tables are created or updated."""
        if create:
            make_folder(settings)
        elif not settings.folder.is_dir():
            raise InputError(f"{settings.folder}: there is no such folder", code="service-missing")
        database = Database(settings.database_address)
        try:
            if create:
                migrate(database)
            refuse_other_version(database)
            vault = _vault(settings, database, create=create)
            spent_log = SpentLog(settings.spent_log, vault)
            if create:
                with database.writing() as connection:
                    spent_log.begin(connection)
            state_log = StateLog(settings.state_log, vault)
            log = AuditLog(vault, state_log)
            guard = Guard(database, vault, log, state_log, lenient=how is not How.STRICT)
            _watch(database, guard, vault, log, create=create, how=how)
            yield cls(settings, database, vault, log, spent_log, guard)
        finally:
            database.close()


def _watch(database: Database, guard: Guard, vault: Vault, log: AuditLog, *, create: bool, how: How) -> None:
    """Let the guard watch every transaction; refuse a database that does not fit state.log."""
    if create:
        marking.begin(database, guard, vault, log)
    elif not guard.state_log.path.exists() and not _is_marked(database):
        raise InputError("the rows are not marked yet; start kohorte serve once", code="service-version")
    database.watch = guard
    if how is How.RESTORED:
        marking.accept_restored(database, guard, vault)
    elif how is How.STRICT:
        guard.refuse_older_database()


def _is_marked(database: Database) -> bool:
    with database.reading() as connection:
        return bool(connection.execute(select(audit_head.c.state)).scalar_one_or_none())


def make_folder(settings: Settings) -> None:
    """Create the folder of a service unless it exists."""
    try:
        settings.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        raise InputError(f"{settings.folder}: the folder cannot be created", code="service-folder") from None


def _vault(settings: Settings, database: Database, *, create: bool) -> Vault:
    """Open the vault with the keys of the database; a new key is created for a new database only."""
    known = _fingerprints(database)
    vault = Vault.at(settings.vault_folder, settings.key_path, create=create and not known)
    if not known:
        with database.writing() as connection:  # if several processes start at once, the first one wins
            connection.execute(text(FIRST_KEY), {"fingerprint": vault.fingerprint})
        known = _fingerprints(database)
    if not known <= {key.fingerprint for key in vault.ring.all}:
        raise InputError(
            f"{settings.key_path}: is not the key of this database; restore the key that it was created with",
            code="service-key",
        )
    return vault


def _fingerprints(database: Database) -> set[str]:
    with database.reading() as connection:
        return set(connection.execute(select(master_key.c.fingerprint)).scalars())
