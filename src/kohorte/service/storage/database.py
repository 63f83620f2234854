"""The database, SQLite or PostgreSQL: short transactions that are on disk when they end."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DisconnectionError, SQLAlchemyError

from kohorte.errors import EngineError, InputError, InternalError, KohorteError
from kohorte.service.storage.changes import Changes, Watch, changes_of, set_changes
from kohorte.service.storage.fair_lock import FairLock

WAIT_SECONDS = 60
IDLE_SECONDS = 2.0
DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg"}
POSTGRESQL_OPTIONS = "-c timezone=UTC -c idle_in_transaction_session_timeout=300000"
CAME_FIRST = {  # unique, primary and foreign keys; and PostgreSQL's deadlock and serialization failure
    "SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY", "SQLITE_CONSTRAINT_FOREIGNKEY",
    "23505", "23503", "40P01", "40001",
}  # fmt: skip
WRITES = "kohorte writes"
"""Under this name a connection of SQLite remembers whether it may write."""


class Database:
    """A database by its address, for example `sqlite:///folder/service.db` or `postgresql://user@host/name`.

    `reading` and `writing` give a connection for one transaction. Nearly every change adds an entry to the audit log,
    so writers wait for each other anyway; those of one process wait here, in order of arrival. SQLite would let them
    sleep between retries, and neither database is fair to the longest waiting. A thread has one writing transaction at
    a time.
    """

    def __init__(self, address: str) -> None:
        self._url = _url(address)
        self.is_sqlite = self._url.get_backend_name() == "sqlite"
        self.engine = self._sqlite() if self.is_sqlite else self._postgresql()
        self.watch: Watch | None = None
        self._fair_lock = FairLock()
        self._thread = threading.local()

    def __repr__(self) -> str:
        return f"<Database {self._url.get_backend_name()}>"

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection whose statements all see the same state of the database.

        Within another reading of the same thread it is the same connection: the state is that of the outer one.
        """
        outer: Connection | None = getattr(self._thread, "reading", None)
        if outer is not None:
            yield outer
            return
        changes = self._fresh_changes()
        with _failures(), self.engine.connect() as connection:
            set_changes(connection, changes)
            if not self.is_sqlite:
                connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            self._thread.reading = connection
            try:
                yield connection
            finally:
                self._thread.reading = None

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection whose changes are stored together, or not at all if the block raises.

        In PostgreSQL the isolation level is READ COMMITTED, regardless of the server's default: a statement that waited
        for a lock sees what others wrote meanwhile.
        """
        with self._not_within_another():
            with _failures(), self._fair_lock, self.engine.connect() as plain:
                connection = plain.execution_options(kohorte_writes=True)
                changes = self._fresh_changes()
                set_changes(connection, changes)
                with connection.begin():
                    yield connection
            if self.watch is not None:
                self.watch.committed(changes)

    @contextmanager
    def trial(self, connection: Connection) -> Iterator[None]:
        """A part of a writing transaction that is rolled back at its end; the rest of the transaction goes on."""
        before = changes_of(connection).copy()
        trial = connection.begin_nested()
        yield
        trial.rollback()
        changes_of(connection).restore(before)

    def when_free(self, write: Callable[[], None]) -> None:
        """Call a function that writes: now, or as soon as this thread's writing transaction has ended, either way."""
        if getattr(self._thread, "writes", False):
            self._thread.waiting = [*getattr(self._thread, "waiting", []), write]
        else:
            write()

    @property
    def file(self) -> Path | None:
        """The file of an SQLite database."""
        return Path(str(self._url.database)) if self.is_sqlite else None

    def make_file(self) -> None:
        """Create the file of an SQLite database, if missing, readable by the owner only."""
        if self.file is None or self.file.exists():
            return
        try:
            os.close(os.open(self.file, os.O_CREAT | os.O_WRONLY, 0o600))
        except OSError:
            raise InputError(
                f"{self.file}: the database cannot be written there", code="service-database-address"
            ) from None

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @contextmanager
    def _not_within_another(self) -> Iterator[None]:
        """Refuse a nested writing transaction, which would wait for itself forever."""
        if getattr(self._thread, "writes", False):
            raise InternalError("a transaction within a transaction", code="service-transaction")
        self._thread.writes = True
        try:
            yield
        finally:
            self._thread.writes = False
            waiting, self._thread.waiting = getattr(self._thread, "waiting", []), []
            for write in waiting:
                with suppress(KohorteError):  # the transaction has its own outcome, which this must not hide
                    write()

    def _fresh_changes(self) -> Changes:
        return Changes(0 if self.watch is None else self.watch.begin())

    def _sqlite(self) -> Engine:
        engine = create_engine(
            self._url, connect_args={"timeout": WAIT_SECONDS}, pool_size=64, max_overflow=64, hide_parameters=True
        )
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine

    def _postgresql(self) -> Engine:
        engine = create_engine(
            self._url.set(drivername=DRIVERS["postgresql"]),
            pool_size=16,
            max_overflow=4,  # four processes and their workers stay below PostgreSQL's default limit of 100
            pool_timeout=WAIT_SECONDS,
            hide_parameters=True,
            isolation_level="READ COMMITTED",
            connect_args={"connect_timeout": 10, "options": POSTGRESQL_OPTIONS},
        )
        event.listen(engine, "checkin", _note_use)
        event.listen(engine, "checkout", _refuse_dead)
        return engine


def _url(address: str) -> URL:
    try:
        url = make_url(address)
        backend = url.get_backend_name()
    except (ArgumentError, ValueError):
        backend = ""
    if backend not in DRIVERS or (backend == "sqlite" and url.database in (None, "", ":memory:")):
        raise InputError(
            "database: is an address such as sqlite:///folder/service.db or postgresql://user:password@host/name",
            code="service-database-address",
        )
    return url


def _set_up_sqlite(connection: Any, record: object) -> None:
    del record
    connection.isolation_level = None  # this module begins transactions, not the driver
    _use_write_ahead_log(connection)
    for setting in (
        "synchronous = FULL",
        "foreign_keys = ON",
        "recursive_triggers = ON",  # otherwise INSERT OR REPLACE would bypass the triggers that forbid DELETE
        f"busy_timeout = {WAIT_SECONDS}000",
    ):
        connection.execute(f"PRAGMA {setting}")


def _use_write_ahead_log(connection: Any) -> None:
    """Switch a new file to the write-ahead log, which SQLite refuses without waiting while somebody writes to it."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("kohorte_writes", False)
    driver: Any = connection.connection.driver_connection  # direct, because these run before every transaction
    if connection.info.get(WRITES) is not writes:
        driver.execute(f"PRAGMA query_only = {'OFF' if writes else 'ON'}")
        connection.info[WRITES] = writes
    driver.execute("BEGIN IMMEDIATE" if writes else "BEGIN")


def _note_use(connection: object, record: Any) -> None:
    del connection
    record.info["used"] = time.monotonic()


def _refuse_dead(connection: Any, record: Any, proxy: object) -> None:
    """Make the pool replace an idle connection that does not answer; testing every connection would be slow."""
    del proxy
    if time.monotonic() - record.info.get("used", 0.0) < IDLE_SECONDS:
        return
    try:
        connection.execute("SELECT 1")
        connection.rollback()
    except psycopg.Error:
        raise DisconnectionError from None


@contextmanager
def _failures() -> Iterator[None]:
    """Replace errors of the driver, because their messages contain statements and values."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, psycopg.Error) as error:  # listeners raise the driver's own errors
        code = _code(error)
        if code in CAME_FIRST:
            raise InputError("another change came first; reload, then try again", code="service-conflict") from None
        kind = f"{type(error).__name__} {code}".strip()
        raise EngineError(f"the database could not be read or written ({kind})", code="service-database") from None


def _code(error: Exception) -> str:
    """Return the code of the database's error."""
    cause = getattr(error, "orig", error)
    return getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None) or ""
