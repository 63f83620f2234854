"""One database, SQLite or PostgreSQL: short transactions that are on disk when they have ended."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from kohorte.errors import EngineError, InputError, InternalError

WAIT_SECONDS = 60
DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg"}
POSTGRESQL_OPTIONS = "-c timezone=UTC -c idle_in_transaction_session_timeout=300000"
CAME_FIRST = {  # unique, primary and foreign keys; and PostgreSQL's deadlock and serialization failure
    "SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY", "SQLITE_CONSTRAINT_FOREIGNKEY",
    "23505", "23503", "40P01", "40001",
}  # fmt: skip


class Database:
    """A database by its address, for example `sqlite:///folder/service.db` or `postgresql://user@host/name`.

    `reading` and `writing` give a connection for one transaction. With SQLite a writer takes the lock when it begins,
    and the writers of one process wait for each other here rather than in SQLite, which lets them sleep between their
    tries. (A lock that is given strictly in turn was measured: no better at p99, and half as fast.) A thread
    has one writing transaction at a time.
    """

    def __init__(self, address: str) -> None:
        self._url = _url(address)
        self.is_sqlite = self._url.get_backend_name() == "sqlite"
        self.engine = self._sqlite() if self.is_sqlite else self._postgresql()
        self._turn = threading.Lock() if self.is_sqlite else nullcontext()
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
        """A connection whose changes happen together, or not at all when the block raises."""
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
        return create_engine(
            self._url.set(drivername=DRIVERS["postgresql"]),
            pool_size=16,
            max_overflow=4,  # four processes and their workers stay below PostgreSQL's own limit, 100
            pool_timeout=WAIT_SECONDS,
            pool_pre_ping=True,
            hide_parameters=True,
            connect_args={"connect_timeout": 10, "options": POSTGRESQL_OPTIONS},
        )


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
    connection.exec_driver_sql(f"PRAGMA query_only = {'OFF' if writes else 'ON'}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def _failures() -> Iterator[None]:
    """Turn what the driver says into an error without its words: they repeat statements and values."""
    try:
        yield
    except SQLAlchemyError as error:
        code = _code(error)
        if code in CAME_FIRST:
            raise InputError("something else came first; look again, then repeat", code="service-conflict") from None
        kind = f"{type(error).__name__} {code}".strip()
        raise EngineError(f"the database could not be read or written ({kind})", code="service-database") from None


def _code(error: SQLAlchemyError) -> str:
    """Return the code of the database's error."""
    cause = getattr(error, "orig", None)
    return getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None) or ""
