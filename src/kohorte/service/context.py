"""What every part of the service works with: settings, database, vault and audit log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self

from sqlalchemy import select, text

from kohorte.errors import InputError
from kohorte.service.audit import AuditLog
from kohorte.service.settings import Settings
from kohorte.service.storage.database import Database
from kohorte.service.storage.migration import migrate, refuse_other_version
from kohorte.service.storage.schema import master_key
from kohorte.service.vault import Vault

FIRST_KEY = "INSERT INTO master_key (id, fingerprint) VALUES (1, :fingerprint) ON CONFLICT DO NOTHING"


@dataclass(frozen=True)
class Service:
    """An opened service."""

    settings: Settings
    database: Database
    vault: Vault
    log: AuditLog

    @classmethod
    @contextmanager
    def opened(cls, settings: Settings, *, create: bool) -> Iterator[Self]:
        """Open the service of a folder; with `create` the folder, key and tables are made or brought up to date."""
        _refuse_folder(settings, create=create)
        database = Database(settings.database_address)
        try:
            if create:
                migrate(database)
            refuse_other_version(database)
            vault = _vault(settings, database, create=create)
            yield cls(settings, database, vault, AuditLog(vault))
        finally:
            database.close()


def _refuse_folder(settings: Settings, *, create: bool) -> None:
    """Refuse a folder that is not there or cannot be made."""
    if not create:
        if not settings.folder.is_dir():
            raise InputError(f"{settings.folder}: there is no such folder", code="service-missing")
        return
    try:
        settings.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        raise InputError(f"{settings.folder}: the folder cannot be made", code="service-folder") from None


def _vault(settings: Settings, database: Database, *, create: bool) -> Vault:
    """Open the vault with the key that everything was locked with: a new key is made for a new database only."""
    with database.reading() as connection:
        known = connection.execute(select(master_key.c.fingerprint)).scalar_one_or_none()
    vault = Vault.at(settings.vault_folder, settings.key_path, create=create and known is None)
    if known is None:
        with database.writing() as connection:  # of several processes that start at once the first one's counts
            connection.execute(text(FIRST_KEY), {"fingerprint": vault.fingerprint})
            known = connection.execute(select(master_key.c.fingerprint)).scalar_one()
    if known != vault.fingerprint:
        raise InputError(
            f"{settings.key_path}: is not the key of this database; restore the key it was made with",
            code="service-key",
        )
    return vault
