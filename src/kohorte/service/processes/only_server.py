"""One server at a time for a folder, and for a PostgreSQL database; the locks end with the process, however it ends.

Two servers on one folder would void each other's set-up token and count rate limits twice. Two folders on one database
would have two logs of spendings and two vaults, of which each has only a part. The processes of one server
(`--processes`) and its workers take no lock: they belong to the process that has it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from kohorte.errors import EngineError, InputError
from kohorte.series.memory.lock import take
from kohorte.service.settings import Settings
from kohorte.service.storage.database import Database

LOCK = "serve.lock"
NUMBER = 0x4B6F686F
"""The number of the advisory lock in PostgreSQL."""
PATIENCE_SECONDS = 5.0
"""PostgreSQL notices a moment later that a server was killed."""


@contextmanager
def only_server(settings: Settings) -> Iterator[None]:
    """Hold the locks of a folder and its database while the block runs; refuse if another server has them."""
    with ExitStack() as stack:
        stack.enter_context(_only_in(settings.folder))
        database = Database(settings.database_address)
        stack.callback(database.close)
        if not database.is_sqlite:
            stack.enter_context(_only_at(database))
        yield


@contextmanager
def _only_in(folder: Path) -> Iterator[None]:
    try:
        descriptor = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError:
        raise EngineError(f"{folder / LOCK}: the lock cannot be opened", code="service-lock-failed") from None
    try:
        try:
            take(descriptor)
        except OSError:
            raise InputError(
                f"{folder}: another server is running on this folder; stop it first, or use --processes and --workers "
                "for more load",
                code="service-running",
            ) from None
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _only_at(database: Database) -> Iterator[None]:
    try:
        connection = database.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
    except SQLAlchemyError:
        raise EngineError("PostgreSQL cannot be used", code="service-database") from None
    with connection:
        until = time.monotonic() + PATIENCE_SECONDS
        while not connection.execute(text("SELECT pg_try_advisory_lock(:number)"), {"number": NUMBER}).scalar_one():
            if time.monotonic() > until:
                raise InputError(
                    "another server is running on this database, with another folder; stop it first",
                    code="service-running",
                )
            time.sleep(0.1)
        yield
