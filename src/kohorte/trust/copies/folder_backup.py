"""Backup and restore of a folder of keys and lists, without its keys and without its log.

With the keys in it, a backup would be as good as the lists. With the log of its day in it, a restore would put an old
log beside an old database, and both would agree: forgotten people would be back, and nobody would notice
(docs/decisions/0030-backup-and-restore.md). Keys and log are copied to other places, the log all the time.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from kohorte.data import sha256_of
from kohorte.errors import InputError, KohorteError
from kohorte.trust.copies.copying import copy_file, copy_sqlite, flush, is_damaged, new_folder, run_postgresql
from kohorte.trust.folder import LOG, OWN_KEY, TrustFolder
from kohorte.trust.keys import KeyFile
from kohorte.trust.records.heads import head_of
from kohorte.trust.store import ENVIRONMENT, address_of

FORMAT = 1
MANIFEST, CONTENT, DUMP = "folder-backup.json", "content", "database.dump"
KEYS = (".key", "key.pem")
"""How the names of key files end; key.pem is the key of the house for connections and signatures."""
LEFT_OUT = (*KEYS, ".tmp", ".db-wal", ".db-shm", ".db-journal")
HEAD_FILE = Path(LOG).with_suffix(".head").name
TABLES = ("patients_*", "pseudonyms_*", "disclosures_*", "trust_*")


@dataclass(frozen=True)
class FolderBackup:
    """The description of a backup: how far the log was, and the fingerprint of each key that it needs."""

    format: int
    made_at: str
    database: str
    head: str
    keys: dict[str, str]
    files: int


def back_up_folder(folder: TrustFolder, output: Path) -> FolderBackup:
    """Copy databases, definitions and sealed files of a folder into a new one, while others work with it."""
    with new_folder(output) as target:
        content = target / CONTENT
        content.mkdir(mode=0o700)
        for path in sorted(folder.path.rglob("*")):
            copy = content / path.relative_to(folder.path)
            if path.is_dir():
                copy.mkdir(mode=0o700)
            elif path.name not in (LOG, HEAD_FILE) and not path.name.endswith(LEFT_OUT):
                (copy_sqlite if path.suffix == ".db" else _copy)(path, copy)
        if url := address_of(os.environ.get(ENVIRONMENT)):
            tables = [f"--table={pattern}" for pattern in TABLES]
            run_postgresql(url, "pg_dump", "--format=custom", "--no-owner", *tables, f"--file={target / DUMP}")
        files = sum(path.is_file() for path in content.rglob("*"))
        made = FolderBackup(
            format=FORMAT,
            made_at=datetime.now(UTC).isoformat(timespec="seconds"),
            database="postgresql" if url else "sqlite",
            head=str(folder.log.checked().head),  # after the databases: none of them knows a later entry
            keys=_fingerprints(folder.path),
            files=files,
        )
        (target / MANIFEST).write_text(json.dumps(asdict(made), indent=2) + "\n")
        flush(target)
    return made


def restore_folder(path: Path, source: Path) -> tuple[FolderBackup, tuple[str, ...]]:
    """Put a backup into a folder that has its keys and its log and nothing else; return what is still wrong."""
    backup = read_folder_backup(source)
    missing = {name: mark for name, mark in backup.keys.items() if _fingerprints(path).get(name) != mark}
    if missing:
        raise InputError(
            f"{path}: lacks the key files of this backup: {', '.join(sorted(missing))}; put copies of them, and the "
            f"newest {LOG} and {HEAD_FILE}, there first",
            code="folder-restore-keys",
        )
    if needs_content(path):
        url = address_of(os.environ.get(ENVIRONMENT))
        if (url is None) != (backup.database == "sqlite"):
            raise _wrong(f"it contains a {backup.database} database; set {ENVIRONMENT} accordingly")
        if any(is_damaged(file) for file in (source / CONTENT).glob("*.db")):
            raise _wrong("its database is damaged")
        if url is not None:
            run_postgresql(
                url, "pg_restore", "--no-owner", "--single-transaction", "--exit-on-error", str(source / DUMP)
            )
        shutil.copytree(source / CONTENT, path, dirs_exist_ok=True, copy_function=copy_file)
        flush(path)
    else:
        raise InputError(
            f"{path}: has lists, definitions or requests already; restore into a folder with only the key files and "
            f"the log",
            code="folder-restore-target",
        )
    return backup, tuple(_problems(path, backup))


def needs_content(path: Path) -> bool:
    """Whether a folder has nothing but keys and a log."""
    files = (one for one in path.rglob("*") if not one.is_dir())
    return all(one.name in (LOG, HEAD_FILE) or one.name.endswith((*KEYS, ".tmp")) for one in files)


def read_folder_backup(source: Path) -> FolderBackup:
    """Read the description of a backup; refuse what is none."""
    try:
        backup = FolderBackup(**json.loads((source / MANIFEST).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        raise _wrong(f"there is no {MANIFEST} in it") from None
    if backup.format != FORMAT:
        raise _wrong("it was made by another version of Kohorte")
    files = sum(path.is_file() for path in (source / CONTENT).rglob("*"))
    if files != backup.files or (backup.database == "postgresql") != (source / DUMP).is_file():
        raise _wrong("a part of it is missing")
    return backup


def _problems(path: Path, backup: FolderBackup) -> list[str]:
    folder = TrustFolder.opened(path, unchecked=True)
    try:
        known = folder.log.checked().has(head_of(backup.head))
    except KohorteError as error:
        return [error.message]
    if known:
        return []
    return [f"{path}: the log is older than the backup, or missing; put the newest copy there"]


def _fingerprints(path: Path) -> dict[str, str]:
    """The fingerprint of the current version of each key of a folder."""
    if not (path / OWN_KEY).is_file():
        return {}
    own = {file.name: KeyFile(file, file.name).read().current.fingerprint for file in sorted(path.glob("*.key"))}
    return own | {file.relative_to(path).as_posix(): _of_private(file) for file in sorted(path.rglob("key.pem"))}


def _of_private(file: Path) -> str:
    """The fingerprint of the public part of a private key; empty for what is none."""
    try:
        public = load_pem_private_key(file.read_bytes(), None).public_key()
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm):
        return ""
    return sha256_of(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))


def _copy(source: Path, target: Path) -> None:
    try:
        copy_file(str(source), str(target))
    except FileNotFoundError:
        return  # removed meanwhile


def _wrong(reason: str) -> InputError:
    return InputError(f"the backup cannot be used: {reason}", code="folder-backup")
