"""Remove encrypted files that no row refers to, left behind by failed attempts."""

from __future__ import annotations

import re
import stat
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from sqlalchemy import Connection, select

from kohorte.errors import EngineError
from kohorte.service.context import Service
from kohorte.service.storage.schema import datasets, projects
from kohorte.service.vault import Vault

OLD_SECONDS = 3600.0
PORTION = 500
OURS = re.compile(r"[0-9a-f]{32}|\.[0-9a-f]{32}\.tmp")
NAMING = (datasets.c.uploaded_file, datasets.c.table_file, projects.c.release_file, projects.c.report_file)


def discard(service: Service, names: Collection[str]) -> None:
    """Remove encrypted files, complete or not, unless a row refers to them."""
    if not names:
        return
    with service.database.reading() as connection:
        kept = named(connection, names)
    for name in set(names) - kept:
        remove(service.vault, name)


def named(connection: Connection, names: Collection[str]) -> set[str]:
    """Return the files that a row refers to."""
    listed = list(names)
    found: set[str] = set()
    for start in range(0, len(listed), PORTION):  # the number of parameters of a statement is limited
        portion = listed[start : start + PORTION]
        for column in NAMING:
            found.update(connection.execute(select(column).where(column.in_(portion))).scalars())
    return found


def remove(vault: Vault, name: str) -> None:
    """Remove an encrypted file, also one that is still being written."""
    vault.remove(name)
    with suppress(OSError):  # the sweep tries again
        temporary(vault, name).unlink(missing_ok=True)


def temporary(vault: Vault, name: str) -> Path:
    """Return the path of an encrypted file while it is being written."""
    return vault.folder / f".{name}.tmp"


def sweep(service: Service, seconds: float = OLD_SECONDS) -> int:
    """Remove files of the service that are old and that no row refers to; return how many."""
    old = _old(service.vault, time.time() - seconds)
    with service.database.reading() as connection:
        kept = named(connection, [path.name for path in old])
    return sum(_removed(path) for path in old if path.name not in kept)


def _old(vault: Vault, moment: float) -> list[Path]:
    """Return the files of the service, complete or not, that were last written before a moment."""
    try:
        ours = [path for path in vault.folder.iterdir() if OURS.fullmatch(path.name)]
    except OSError:
        raise EngineError("the folder of encrypted files could not be read", code="service-file") from None
    return [path for path in ours if _is_old(path, moment)]


def _is_old(path: Path, moment: float) -> bool:
    with suppress(OSError):
        status = path.lstat()
        return stat.S_ISREG(status.st_mode) and status.st_mtime < moment
    return False


def _removed(path: Path) -> bool:
    with suppress(OSError):  # removed by another process, or by the next sweep
        path.unlink()
        return True
    return False
