"""A connection to PostgreSQL in which one transaction does everything, and addresses of tables without passwords."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from io import BytesIO
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

import polars as pl

from kohorte.errors import EngineError, InputError
from kohorte.sources.sql import quoted_name

SCHEMES = ("postgresql://", "postgres://")
SECRETS = ("password", "sslpassword")
SETTINGS = (
    "SET LOCAL client_encoding = 'UTF8'",
    "SET LOCAL datestyle = 'ISO, YMD'",
    "SET LOCAL timezone = 'UTC'",
    "SET LOCAL extra_float_digits = 1",
    "SET LOCAL statement_timeout = 0",
    "SET LOCAL idle_in_transaction_session_timeout = 0",
)
"""How values are written as text must not depend on the settings of a user."""


def is_database(address: str) -> bool:
    """Whether this is the address of a database, not of a file."""
    return address.lower().startswith(SCHEMES)


@dataclass(frozen=True)
class Address:
    """A database, and a table in it if one is named: postgresql://USER@HOST:PORT/DATABASE/SCHEMA.TABLE.

    There is no password in it: it comes from PGPASSWORD or from the password file of PostgreSQL.
    """

    database: str = field(repr=False)
    schema: str | None
    table: str | None

    @classmethod
    def parse(cls, address: str) -> Address:
        """Read an address; no part of a wrong one is shown, because it may be a password."""
        try:
            parts = urlsplit(address)
            options = parse_qsl(parts.query, keep_blank_values=True)
            secret = parts.password is not None or any(name.lower() in SECRETS for name, _ in options)
            _ = parts.port  # raises if it is no number
        except ValueError:
            raise _no_address() from None
        if secret:
            raise InputError(
                "the address of a database contains a password, which others could read in the list of processes; put "
                "it into PGPASSWORD or into the password file of PostgreSQL (.pgpass)",
                code="database-password",
            )
        names = parts.path.lstrip("/").split("/")
        if len(names) > 2 or not names[0] or not is_database(address):
            raise _no_address()
        at = [unquote(name) for name in names[1].split(".")] if len(names) == 2 else []
        if len(at) > 2 or not all(at):
            raise _no_address()
        query = f"?{urlencode(options, quote_via=quote)}" if options else ""
        database = f"postgresql://{parts.netloc}/{quote(unquote(names[0]), safe='')}{query}"
        return cls(database, at[0] if len(at) == 2 else None, at[-1] if at else None)


def _no_address() -> InputError:
    return InputError(
        "the address of a table is postgresql://USER@HOST/DATABASE/TABLE or .../SCHEMA.TABLE", code="database-address"
    )


@dataclass(frozen=True)
class TableName:
    """A table in a schema of the database."""

    schema: str
    name: str

    @property
    def sql(self) -> str:
        """The name, quoted for SQL."""
        return f"{quoted_name(self.schema)}.{quoted_name(self.name)}"

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"


class Session:
    """One transaction, which sees the database as it was at its beginning; nothing is seen of it before `commit`."""

    def __init__(self, address: Address) -> None:
        self.database = address.database
        self._library = _library()
        try:
            self._connection = self._library.connect(address.database, autocommit=False)
        except self._library.Error:
            raise InputError(
                "the database cannot be reached, or refuses the user: look at host, port, database, user, and the "
                "password in PGPASSWORD or .pgpass",
                code="database-unreachable",
            ) from None
        self._closed = weakref.finalize(self, self._connection.close)
        with self.failures("the database"):
            self._connection.isolation_level = self._library.IsolationLevel.REPEATABLE_READ
            for setting in SETTINGS:
                self._connection.execute(setting)

    def run(self, statement: str, *, what: str = "the database") -> None:
        """Run one statement; two in one text are refused, because one could end the transaction."""
        with self.failures(what), self._connection.cursor() as cursor:
            cursor.execute(statement, binary=True)

    def one(self, query: str, arguments: tuple[object, ...] = (), *, what: str = "the database") -> Any:
        """Return the first value of a query, or None."""
        with self.failures(what):
            row = self._connection.execute(query, arguments).fetchone()
        return None if row is None else row[0]

    def described(self, query: str, *, what: str = "the database") -> list[tuple[str, int, int | None]]:
        """The columns of a query: name, type and, of a numeric column, its scale."""
        with self.failures(what), self._connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM ({query}\n) q LIMIT 0", binary=True)  # noqa: S608 - quoted
            return [(column.name, column.type_code, column.scale) for column in cursor.description or ()]

    def texts(self, query: str, names: list[str], *, what: str = "the database") -> pl.DataFrame:
        """Return the rows of a query as texts, as PostgreSQL writes them."""
        content = BytesIO()
        copying = f"COPY ({query}) TO STDOUT (FORMAT csv)"
        with self.failures(what), self._connection.cursor() as cursor, cursor.copy(copying) as copied:
            for block in copied:
                content.write(block)
        schema = {str(number): pl.String() for number in range(len(names))}
        if not content.tell():
            return pl.DataFrame(schema=dict.fromkeys(names, pl.String()))
        content.seek(0)
        read = pl.read_csv(content, has_header=False, schema=schema, null_values="")
        return read.rename(dict(zip(schema, names, strict=True)))

    def fill(self, table: str, rows: pl.DataFrame) -> None:
        """Write rows into a table; null is null."""
        copying = f"COPY {table} FROM STDIN (FORMAT csv)"
        with self.failures("the database"), self._connection.cursor() as cursor, cursor.copy(copying) as copied:
            for part in rows.iter_slices(100_000):
                copied.write(part.write_csv(include_header=False))

    @property
    def current_schema(self) -> str:
        """The schema of a new table without one."""
        return str(self.one("SELECT current_schema()"))

    def exists(self, table: TableName) -> bool:
        """Whether there is such a table."""
        return bool(self.one("SELECT to_regclass(%s) IS NOT NULL", (table.sql,)))

    def drop(self, table: TableName) -> None:
        """Remove a table if it is there."""
        self.run(f"DROP TABLE IF EXISTS {table.sql}", what=str(table))

    def keep_texts(self, table: TableName, texts: Mapping[str, str]) -> None:
        """Make a table of one row with these texts."""
        columns = ", ".join(f"{quoted_name(name)} text NOT NULL" for name in texts)
        self.run(f"CREATE TABLE {table.sql} ({columns})", what=str(table))
        places = ", ".join(["%s"] * len(texts))
        with self.failures(str(table)):
            self._connection.execute(f"INSERT INTO {table.sql} VALUES ({places})", tuple(texts.values()))  # noqa: S608

    def commit(self, release: str) -> None:
        """Let everybody see what was written, and end the session."""
        try:
            self._connection.commit()
        except self._library.Error:
            raise EngineError(
                f"the connection was lost while the release was made visible: look whether {release} exists; if it "
                "does, it is whole and verified",
                code="database-commit",
            ) from None
        finally:
            self.close()

    def close(self) -> None:
        """End the session; what was not committed is gone."""
        self._closed()

    @contextmanager
    def failures(self, what: str) -> Iterator[None]:
        """Replace an error of PostgreSQL, whose message may contain values, by an error of this package."""
        errors = self._library.errors
        try:
            yield
        except errors.InsufficientPrivilege:
            raise InputError(f"{what}: the user lacks a right; the manual lists them", code="database-rights") from None
        except (errors.UndefinedTable, errors.InvalidSchemaName):
            raise InputError(f"{what}: there is no such table", code="database-table") from None
        except errors.DuplicateTable:
            raise InputError(
                f"{what}: exists already; give another name, or --force to replace it", code="output-exists"
            ) from None
        except (errors.DiskFull, errors.OutOfMemory, errors.ConfigurationLimitExceeded):
            raise EngineError(
                f"{what}: the database has no space left; nothing was written", code="disk-full"
            ) from None
        except (errors.SyntaxError, errors.UndefinedColumn, errors.UndefinedFunction, errors.FeatureNotSupported):
            raise InputError(f"{what}: PostgreSQL does not understand the query", code="database-query") from None
        except pl.exceptions.PolarsError:
            raise EngineError(f"{what}: what PostgreSQL sent could not be read", code="source-failed") from None
        except self._library.Error:
            lost = self._connection.closed or self._connection.broken
            if lost:
                raise EngineError(
                    "the connection to the database was lost; nothing was written", code="database-lost"
                ) from None
            raise EngineError(f"{what}: PostgreSQL could not run a statement", code="source-failed") from None


def _library() -> Any:
    try:
        return import_module("psycopg")
    except ImportError:
        raise InputError(
            "a table in PostgreSQL needs psycopg; install kohorte[postgresql]", code="query-library-missing"
        ) from None
