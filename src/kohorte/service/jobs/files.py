"""Locked files that nobody names: what attempts left that came to nothing."""

from __future__ import annotations

import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from sqlalchemy import Connection, select

from kohorte.service.context import Service
from kohorte.service.storage.schema import datasets, projects
from kohorte.service.vault import Vault

OLD_SECONDS = 3600.0
NAMING = (datasets.c.uploaded_file, datasets.c.table_file, projects.c.release_file, projects.c.report_file)


def discard(service: Service, names: Collection[str]) -> None:
    """Remove locked files, whole or half written, unless a row names them."""
    if not names:
        return
    with service.database.reading() as connection:
        kept = named(connection, names)
    for name in set(names) - kept:
        remove(service.vault, name)


def named(connection: Connection, names: Collection[str]) -> set[str]:
    """Return those of the files that a row names."""
    found = (connection.execute(select(column).where(column.in_(names))).scalars() for column in NAMING)
    return {name for column in found for name in column}


def remove(vault: Vault, name: str) -> None:
    """Remove a locked file, also one that is still being written."""
    vault.remove(name)
    temporary(vault, name).unlink(missing_ok=True)


def temporary(vault: Vault, name: str) -> Path:
    """Return where a locked file lies while it is written."""
    return vault.folder / f".{name}.tmp"


def sweep(service: Service, seconds: float = OLD_SECONDS) -> int:
    """Remove files that nobody has touched for a while and that no row names; return how many."""
    old = [path for path in service.vault.folder.iterdir() if _age(path) > seconds]
    names = [path.name for path in old if not path.name.startswith(".")]
    with service.database.reading() as connection:
        kept = named(connection, names)
    orphans = [path for path in old if path.name not in kept]
    for path in orphans:
        path.unlink(missing_ok=True)
    return len(orphans)


def _age(path: Path) -> float:
    with suppress(OSError):
        return time.time() - path.stat().st_mtime
    return 0.0
