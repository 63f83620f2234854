"""One database, SQLite or PostgreSQL: short transactions that are on disk when they have ended."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DisconnectionError, SQLAlchemyError

from kohorte.errors import EngineError, InputError, InternalError
from kohorte.service.storage.turns import Turns

WAIT_SECONDS = 60
IDLE_SECONDS = 2.0
DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg"}
POSTGRESQL_OPTIONS = "-c timezone=UTC -c idle_in_transaction_session_timeout=300000"
CAME_FIRST = {  # unique, primary and foreign keys; and PostgreSQL's deadlock and serialization failure
    "SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY", "SQLITE_CONSTRAINT_FOREIGNKEY",
    "23505", "23503", "40P01", "40001",
}  # fmt: skip


class Database:
    """A database by its address, for example `sqlite:///folder/service.db` or `postgresql://user@host/name`.

    `reading` and `writing` give a connection for one transaction. Nearly every change ends with an entry of the audit
    log, so that writers wait for each other anyway; those of one process do that here, in turn. SQLite would let them
    sleep between their tries, and neither database is fair to the longest waiting. A thread has one writing
    transaction at a time.
    """

    def __init__(self, address: str) -> None:
        self._url = _url(address)
        self.is_sqlite = self._url.get_backend_name() == "sqlite"
        self.engine = self._sqlite() if self.is_sqlite else self._postgresql()
        self._turn = Turns()
        self._thread = threading.local()

    def __repr__(self) -> str:
        return f"<Database {self._url.get_backend_name()}>"

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that sees one state of the database, however many statements it reads it with."""
        with _failures(), self.engine.connect() as connection:
            if not self.is_sqlite:
                connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection whose changes happen together, or not at all when the block raises.

        In PostgreSQL a statement sees what others wrote before it, whatever the server's default is: who has waited
        for a lock decides by what is there then.
        """
        with _failures(), self._not_within_another(), self._turn, self.engine.connect() as plain:
            connection = plain.execution_options(kohorte_writes=True)
            with connection.begin():
                yield connection

    @property
    def file(self) -> Path | None:
        """The file of an SQLite database."""
        return Path(str(self._url.database)) if self.is_sqlite else None

    def make_file(self) -> None:
        """Make the file of an SQLite database, if there is none, such that only the owner can read it."""
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
        """Refuse what would wait for itself for ever."""
        if getattr(self._thread, "writes", False):
            raise InternalError("a transaction within a transaction", code="service-transaction")
        self._thread.writes = True
        try:
            yield
        finally:
            self._thread.writes = False

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
            max_overflow=4,  # four processes and their workers stay below PostgreSQL's own limit, 100
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
    connection.isolation_level = None  # transactions begin where this module says, not where the driver thinks
    for setting in (
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
        "recursive_triggers = ON",  # else INSERT OR REPLACE would get past the triggers that forbid to delete
        f"busy_timeout = {WAIT_SECONDS}000",
    ):
        connection.execute(f"PRAGMA {setting}")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("kohorte_writes", False)
    driver: Any = connection.connection.driver_connection  # straight: these run before every transaction
    driver.execute(f"PRAGMA query_only = {'OFF' if writes else 'ON'}")
    driver.execute("BEGIN IMMEDIATE" if writes else "BEGIN")


def _note_use(connection: object, record: Any) -> None:
    del connection
    record.info["used"] = time.monotonic()


def _refuse_dead(connection: Any, record: Any, proxy: object) -> None:
    """Let the pool take another connection where one that was idle does not answer; asking every time takes long."""
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
    """Turn what the driver says into an error without its words: they repeat statements and values."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, psycopg.Error) as error:  # the drivers' own from listeners
        code = _code(error)
        if code in CAME_FIRST:
            raise InputError("something else came first; look again, then repeat", code="service-conflict") from None
        kind = f"{type(error).__name__} {code}".strip()
        raise EngineError(f"the database could not be read or written ({kind})", code="service-database") from None


def _code(error: Exception) -> str:
    """Return the code of the database's error."""
    cause = getattr(error, "orig", error)
    return getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None) or ""
