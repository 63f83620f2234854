"""Backup and restore of a service, without its key and without losing later spendings.

A backup contains the database and the encrypted files. It contains neither the key file, which is stored separately,
nor the log of spendings: an old log would hide what was spent since (docs/decisions/0030-backup-and-restore.md). For
the same reason it does not contain state.log (docs/decisions/0032-marked-rows.md). Of the folders of patient list and
pseudonyms it contains everything but their keys and their logs (`trust.copies`), and it knows how far the logs were.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlalchemy import inspect, select

from kohorte.errors import InputError, KohorteError
from kohorte.service.context import How, Service
from kohorte.service.key_rotation import is_unfinished, rotate
from kohorte.service.keyring import KeyFile, flush_folder
from kohorte.service.parts import OF_TRUST
from kohorte.service.projects.spendings import Standing, enter_all, standing
from kohorte.service.settings import Settings
from kohorte.service.storage.database import Database
from kohorte.service.storage.schema import audit_head, now
from kohorte.service.trust.folders import keep_numbers
from kohorte.service.trust.heads import noted_heads, problems
from kohorte.trust.copies.copying import copy_file, copy_sqlite, failure, flush, is_damaged, new_folder, run_postgresql
from kohorte.trust.copies.folder_backup import back_up_folder, needs_content, restore_folder
from kohorte.trust.folder import OWN_KEY, TrustFolder

FORMAT = 1
MANIFEST, FILES, PARTS = "backup.json", "files", "parts"
DUMPS = {"sqlite": "service.db", "postgresql": "service.dump"}
SQLITE_FILES = ("", "-wal", "-shm", "-journal")


@dataclass(frozen=True)
class Backup:
    """The description of a backup."""

    format: int
    made_at: str
    database: str
    key: str
    audit_head: str
    spent_head: str
    files: int
    part_heads: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Restored:
    """The restored backup, the spendings that were added from the log, and what is wrong with folders of parts."""

    backup: Backup
    spendings: Standing
    parts: tuple[str, ...] = ()


def make_backup(service: Service, output: Path) -> Backup:
    """Copy database and encrypted files into a new folder, while the service is running."""
    fingerprint = service.vault.fingerprint
    _refuse_rotation(service, fingerprint)
    with new_folder(output) as folder:
        (folder / FILES).mkdir(mode=0o700)
        _copy_files(service, folder / FILES)  # before: files that are deleted while the database is copied
        kind = "sqlite" if service.database.is_sqlite else "postgresql"
        if service.database.file is not None:
            copy_sqlite(service.database.file, folder / DUMPS[kind])
        else:
            _dump_postgresql(service.database, folder / DUMPS[kind])
        _copy_files(service, folder / FILES)  # after: files that were added
        _refuse_rotation(service, fingerprint)
        with service.database.reading() as connection:
            head = connection.execute(select(audit_head)).one()
        found = Backup(
            format=FORMAT,
            made_at=now().isoformat(timespec="seconds"),
            database=kind,
            key=service.vault.ring.current.id.hex(),
            audit_head=f"{head.number}:{head.mac}",
            spent_head=standing(service).head,
            files=len(list((folder / FILES).iterdir())),
            part_heads=noted_heads(service.settings),
        )
        _copy_parts(service.settings, folder / PARTS)
        (folder / MANIFEST).write_text(json.dumps(asdict(found), indent=2) + "\n")
        flush(folder)
    return found


def restore(settings: Settings, source: Path, *, old_key: Path | None = None) -> Restored:
    """Restore a backup into a folder without a database, then add later spendings from the log in that folder.

    `old_key` is the key file of a backup that was made before the key was replaced; everything is then sealed with the
    new key.
    """
    backup = _read(source)
    _refuse_target(settings, backup, old_key)
    try:
        settings.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            settings.vault_folder.rmdir()  # an empty one; a full one was refused
        with new_folder(settings.vault_folder) as folder:
            shutil.copytree(source / FILES, folder, dirs_exist_ok=True, copy_function=copy_file)
            flush(folder)
    except OSError:
        raise failure("the encrypted files could not be copied") from None
    _restore_database(settings, source / DUMPS[backup.database])
    with Service.opened(settings, create=True, how=How.RESTORED) as service:
        if is_unfinished(service.vault.ring):
            rotate(service, lambda *_: None, settle_seconds=0.0)
        spendings = enter_all(service)
        keep_numbers(service)
        with service.database.writing() as connection:
            service.log.append(
                connection,
                "restore-backup",
                f"backup of {backup.made_at}",
                actor=None,
                entered=spendings.missing,
                log_refused=int(spendings.problem is not None),
            )
    return Restored(
        backup, spendings, (*_restore_parts(settings, source / PARTS), *problems(settings, backup.part_heads))
    )


def _copy_parts(settings: Settings, target: Path) -> None:
    """Copy what the folders of the parts have besides keys and logs."""
    target.mkdir(mode=0o700)
    for part in OF_TRUST:
        if settings.trust_folder(part).is_dir():
            back_up_folder(TrustFolder.opened(settings.trust_folder(part)), target / part)


def _restore_parts(settings: Settings, source: Path) -> Iterator[str]:
    """Complete the folders that have their keys and logs and nothing else; return what is wrong with them."""
    for part in OF_TRUST:
        folder = settings.trust_folder(part)
        if (source / part).is_dir() and (folder / OWN_KEY).is_file() and needs_content(folder):
            try:
                restore_folder(folder, source / part)
            except KohorteError as error:
                yield error.message


def _refuse_rotation(service: Service, fingerprint: str) -> None:
    """Refuse during a rotation: a backup with two keys could not be read without the older one."""
    if is_unfinished(service.vault.ring) or service.vault.fingerprint != fingerprint:
        raise InputError(
            "the key is being replaced; finish that first (kohorte service rotate-key)", code="service-key-conflict"
        )


def _copy_files(service: Service, folder: Path) -> None:
    for name in service.vault.names():
        with suppress(FileNotFoundError):  # deleted meanwhile
            if not (folder / name).exists():
                copy_file(str(service.vault.path(name)), str(folder / name))


def _dump_postgresql(database: Database, target: Path) -> None:
    run_postgresql(database.engine.url, "pg_dump", "--format=custom", "--no-owner", f"--file={target}")


def _restore_database(settings: Settings, dump: Path) -> None:
    database = Database(settings.database_address)
    try:
        if database.file is not None:
            temporary = database.file.with_name(f".{database.file.name}.tmp")
            shutil.copyfile(dump, temporary)
            temporary.chmod(0o600)
            _refuse_damaged(temporary)
            temporary.rename(database.file)
            flush_folder(database.file.parent)
        else:
            options = ("--no-owner", "--single-transaction", "--exit-on-error")
            run_postgresql(database.engine.url, "pg_restore", *options, str(dump))
    except OSError:
        raise failure("the database could not be copied") from None
    finally:
        database.close()


def _refuse_damaged(path: Path) -> None:
    if is_damaged(path):
        path.unlink(missing_ok=True)
        raise _wrong("its database is damaged")


def _read(source: Path) -> Backup:
    try:
        found: dict[str, Any] = json.loads((source / MANIFEST).read_text(encoding="utf-8"))
        backup = Backup(**found)
    except (OSError, ValueError, TypeError):
        raise _wrong(f"there is no {MANIFEST} in it") from None
    if backup.format != FORMAT or backup.database not in DUMPS or not set(OF_TRUST) >= set(backup.part_heads):
        raise _wrong("it was made by another version of Kohorte")
    if not (source / DUMPS[backup.database]).is_file() or not (source / FILES).is_dir():
        raise _wrong("a part of it is missing")
    return backup


def _refuse_target(settings: Settings, backup: Backup, old_key: Path | None) -> None:
    """Refuse a target that is not empty, has another kind of database, or lacks the key."""
    if settings.vault_folder.is_dir() and any(settings.vault_folder.iterdir()):
        raise _occupied()
    database = Database(settings.database_address)
    try:
        if database.is_sqlite != (backup.database == "sqlite"):
            raise _wrong(f"it contains a {backup.database} database; change the settings accordingly")
        if _holds_something(database):
            raise _occupied()
    finally:
        database.close()
    _add_key(KeyFile(settings.key_path), backup, old_key)


def _holds_something(database: Database) -> bool:
    """Whether there is a database; also a journal of one: SQLite would write it into the restored database."""
    if database.file is None:
        return bool(inspect(database.engine).get_table_names())
    return any(database.file.with_name(database.file.name + ending).exists() for ending in SQLITE_FILES)


def _add_key(keys: KeyFile, backup: Backup, old_key: Path | None) -> None:
    """Add the key of an older backup to the key file as a previous key; refuse if no key matches."""
    ring = keys.ring
    if backup.key in {key.id.hex() for key in ring.all}:
        return
    old = None if old_key is None else KeyFile(old_key).ring.current
    if old is None or old.id.hex() != backup.key:
        raise InputError(
            f"{keys.path}: is not the key of this backup, which is {backup.key}; put that key there, or give it "
            "with --old-key if it was replaced since",
            code="service-key",
        )
    keys.replace(replace(ring, previous=(*ring.previous, old)))


def _occupied() -> InputError:
    return InputError(
        "a database (or its -wal, -shm or -journal file) or encrypted files exist already; restore into a folder with "
        "only the key, the settings, spent.log and state.log",
        code="service-restore-target",
    )


def _wrong(reason: str) -> InputError:
    return InputError(f"the backup cannot be used: {reason}", code="service-backup")
