"""The database of a room: a SQLite file in the folder, or PostgreSQL by the address in the environment.

Each room brings its own tables. A transaction is on disk when it ends, or did not happen. Messages of the driver are
replaced, because they contain statements and values.
"""

from __future__ import annotations

import os
import sqlite3
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Column,
    Connection,
    Engine,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    create_engine,
    event,
    insert,
    make_url,
    select,
    text,
    update,
)
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import NullPool, QueuePool
from sqlalchemy.types import UserDefinedType

from kohorte.errors import EngineError, InputError
from kohorte.trust.private_files import refuse_open_to_others

ENVIRONMENT = "KOHORTE_TRUST_DATABASE"
WAIT_SECONDS = 60
CACHE_KIBIBYTES = 128 << 10
SCHEMA_LOCK = 0x6B6F686F
"""The number of the lock that two processes use which create the tables at the same time, in PostgreSQL."""


class _Blob(UserDefinedType[bytes]):
    """Bytes for SQLite as they are; SQLAlchemy's own type wraps every value, which takes longer than storing it."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        return "BLOB"


RAW = _Blob().with_variant(LargeBinary(), "postgresql")
"""The type of a column of bytes."""

_OWN = MetaData()
_versions = Table(
    "trust_versions",
    _OWN,
    Column("room", String(40), primary_key=True),
    Column("version", Integer, nullable=False),
)
ties = Table(
    "trust_ties",
    _OWN,
    Column("name", String(100), primary_key=True),
    Column("sealed", RAW, nullable=False),
)
"""The version of each list, and how far the log was, sealed (`trust.ties`)."""


@dataclass(frozen=True)
class Room:
    """The tables of one room, and their version; a database of another version is refused."""

    name: str
    version: int
    tables: MetaData
    upgrades: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """Earlier versions whose databases are brought to this one when they are opened: missing tables are made, after
    these statements."""
    keeps_connections: bool = False
    """Whether connections to a SQLite file stay open. This is faster, but deleted values stay in the write-ahead log
    until the last one is closed."""


class Store:
    """The database of one room; `reading` and `writing` give a connection for one transaction."""

    def __init__(self, folder: Path, room: Room) -> None:
        self._room = room
        address = os.environ.get(ENVIRONMENT)
        url = address_of(address)
        self._file = None if url else folder / f"{room.name}.db"
        with _failures():
            self._engine = _postgresql(url) if url else _sqlite(self._made(folder / f"{room.name}.db"), room)
        weakref.finalize(self, self._engine.dispose)
        self._make_tables()

    def __repr__(self) -> str:
        return f"<Store of {self._room.name}, {self._engine.dialect.name}>"

    @property
    def is_sqlite(self) -> bool:
        """Whether this is a SQLite file, where one transaction writes at a time."""
        return self._file is not None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection whose statements all see the same state."""
        with _failures(), self._engine.connect() as connection:
            if not self.is_sqlite:
                connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection whose changes are stored together, or not at all if the block raises."""
        with _failures(), self._engine.connect() as plain:
            connection = plain.execution_options(kohorte_writes=True)
            with connection.begin():
                yield connection

    def purge(self, table: str) -> None:
        """Remove what the database still remembers of deleted rows of a table, as far as other processes allow it."""
        with _failures(), self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            name = connection.dialect.identifier_preparer.quote(table)
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)" if self.is_sqlite else f"VACUUM {name}")

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def _make_tables(self) -> None:
        with self.writing() as connection:
            if not self.is_sqlite:
                connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": SCHEMA_LOCK})
            _OWN.create_all(connection)
            own = _versions.c.room == self._room.name
            found = connection.execute(select(_versions.c.version).where(own)).scalar()
            if found is None:
                self._room.tables.create_all(connection)
                connection.execute(insert(_versions), {"room": self._room.name, "version": self._room.version})
            elif found in self._room.upgrades:
                for statement in self._room.upgrades[found]:
                    connection.exec_driver_sql(statement)
                self._room.tables.create_all(connection)  # only what is missing
                connection.execute(update(_versions).where(own).values(version=self._room.version))
            elif found != self._room.version:
                raise InputError(
                    f"the database of {self._room.name} has version {found}, this program needs {self._room.version}",
                    code="trust-database-version",
                )

    @staticmethod
    def _made(path: Path) -> Path:
        """Create the file, if missing, for the owner only; SQLite gives its other files the same mode.

        A file that exists is not even opened: to close it would end the locks that other connections of this process
        have on it, and another process would take the database for unused.
        """
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            pass
        except OSError:
            raise InputError(f"{path}: the database cannot be written there", code="trust-database-address") from None
        refuse_open_to_others(path, what="database", mode="600")
        return path


def address_of(address: str | None) -> URL | None:
    """The address of a PostgreSQL database in the environment; None if none is given."""
    if not address:
        return None
    try:
        url = make_url(address)
        known = url.get_backend_name() == "postgresql"
    except (ArgumentError, ValueError):
        known = False
    if not known:
        raise InputError(
            f"{ENVIRONMENT}: is an address such as postgresql://user:password@host/name", code="trust-database-address"
        )
    return url


def _sqlite(path: Path, room: Room) -> Engine:
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        connect_args={"timeout": WAIT_SECONDS},
        poolclass=QueuePool if room.keeps_connections else NullPool,
        hide_parameters=True,
    )
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _postgresql(url: URL) -> Engine:
    return create_engine(
        url.set(drivername="postgresql+psycopg"),
        hide_parameters=True,
        pool_pre_ping=True,
        isolation_level="READ COMMITTED",
        connect_args={"connect_timeout": 10},
    )


def _set_up_sqlite(connection: Any, record: object) -> None:
    del record
    connection.isolation_level = None  # this module begins transactions, not the driver
    connection.execute(f"PRAGMA busy_timeout = {WAIT_SECONDS}000")
    _set_write_ahead(connection)
    for setting in (
        "synchronous = FULL",
        "foreign_keys = ON",
        "secure_delete = ON",  # an entry that is deleted is overwritten
        f"cache_size = -{CACHE_KIBIBYTES}",
    ):
        connection.execute(f"PRAGMA {setting}")


def _set_write_ahead(connection: Any) -> None:
    """Let SQLite write ahead; while another process does the same, it answers that it is busy without waiting."""
    until = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("kohorte_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def _failures() -> Iterator[None]:
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as error:
        cause = getattr(error, "orig", error)
        code = getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None) or ""
        kind = f"{type(error).__name__} {code}".strip()
        raise EngineError(f"the database could not be read or written ({kind})", code="trust-database") from None
