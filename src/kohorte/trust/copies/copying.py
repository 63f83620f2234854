"""What every backup needs: a folder that appears whole, and copies of files and of databases in use."""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import URL

from kohorte.errors import EngineError, InputError


@contextmanager
def new_folder(output: Path) -> Iterator[Path]:
    """Yield a temporary folder that gets its name if the block succeeds, and is removed otherwise."""
    if output.exists():
        raise InputError(f"{output}: exists already; name a new folder", code="backup-output")
    folder = output.with_name(f".{output.name}.{secrets.token_hex(8)}.tmp")
    try:
        folder.mkdir(mode=0o700)
        yield folder
        folder.rename(output)
        _flush_one(output.parent)
    except OSError:
        raise failure(f"{output}: could not be written") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def copy_file(source: str, target: str) -> None:
    """Copy a file via a temporary name, so that nothing is left if the source vanishes; only the owner can read it."""
    temporary = f"{target}.tmp"
    descriptor = os.open(temporary, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as new, Path(source).open("rb") as old:
            shutil.copyfileobj(old, new)
        Path(temporary).rename(target)
    finally:
        Path(temporary).unlink(missing_ok=True)


def copy_sqlite(source: Path, target: Path) -> None:
    """Copy a consistent state of an SQLite database, with SQLite's own backup."""
    os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
    try:
        with closing(sqlite3.connect(str(source))) as old, closing(sqlite3.connect(target)) as new:
            old.backup(new)
            new.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error:
        raise failure("the database could not be copied") from None


def is_damaged(path: Path) -> bool:
    """Whether a file is no whole SQLite database."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            return bool(connection.execute("PRAGMA integrity_check").fetchone() != ("ok",))
    except sqlite3.Error:
        return True


def run_postgresql(url: URL, program: str, *arguments: str) -> None:
    """Run a program of PostgreSQL; the password is passed so that other users of the machine cannot see it."""
    plain = url.set(drivername="postgresql")
    environment = {**os.environ, **({"PGPASSWORD": plain.password} if plain.password else {})}
    address = plain.set(password=None).render_as_string(hide_password=False)
    command = [program, *arguments[:-1], f"--dbname={address}", arguments[-1]]
    try:
        subprocess.run(command, check=True, env=environment, capture_output=True)  # noqa: S603 - a fixed program
    except FileNotFoundError:
        raise InputError(
            f"{program} is not installed here; install the client programs of PostgreSQL", code="backup-program"
        ) from None
    except subprocess.CalledProcessError:
        raise failure(f"{program} failed; run it by hand to see why") from None


def flush(folder: Path) -> None:
    """Let only the owner read the files of a folder, and wait until they are on disk."""
    for path in folder.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
        _flush_one(path)


def failure(message: str) -> EngineError:
    """The error of a backup that could not be made or restored."""
    return EngineError(message, code="backup-failed")


def _flush_one(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
