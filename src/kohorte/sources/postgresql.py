"""A table or a query in PostgreSQL: its rows stay there, and the release is written there."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import polars as pl

from kohorte.data import Formulas
from kohorte.data.columns import check_names, quoted
from kohorte.errors import InputError
from kohorte.sources.base import Written
from kohorte.sources.postgresql_session import Address, Session, TableName
from kohorte.sources.sql import ID, SqlSource, quoted_name, refuse_own_names


@dataclass(frozen=True)
class Kind:
    """A type of PostgreSQL: the type of its values here, how their text is read, and how a column is made comparable.

    `cleaned` turns a column into one with one notion of missing and of zero; `instead` is a value that may stand for
    null in comparisons.
    """

    dtype: pl.DataType
    read: Callable[[pl.Expr], pl.Expr]
    instead: str
    cleaned: str = "{0}"


TEXT = Kind(pl.String(), lambda text: text, "''", "nullif(CAST({0} AS text) COLLATE \"C\", '')")
WHOLE = Kind(pl.Int64(), lambda text: text.cast(pl.Int64), "0")
REAL = "CASE WHEN {0} = 'NaN' THEN NULL WHEN {0} = 0 THEN 0 ELSE {0} END"
NUMERIC = Kind(pl.String(), lambda text: text, "0", "CASE WHEN {0} = 'NaN' THEN NULL ELSE {0} END")
ANY_SCALE = Kind(pl.String(), lambda text: text, "0", "CASE WHEN {0} = 'NaN' THEN NULL ELSE trim_scale({0}) END")

KINDS: Mapping[int, Kind] = {
    16: Kind(pl.Boolean(), lambda text: text == "t", "false"),
    **dict.fromkeys((18, 19, 25, 1042, 1043, 2950), TEXT),  # characters, texts and UUIDs
    **dict.fromkeys((20, 21, 23), WHOLE),
    700: Kind(pl.Float32(), lambda text: text.cast(pl.Float32), "0", REAL),
    701: Kind(pl.Float64(), lambda text: text.cast(pl.Float64), "0", REAL),
    1082: Kind(pl.Date(), lambda text: text.str.to_date("%Y-%m-%d"), "DATE '2000-01-01'"),
    1083: Kind(pl.Time(), lambda text: text.str.to_time("%H:%M:%S%.f"), "TIME '00:00'"),
    1114: Kind(
        pl.Datetime("us"),
        lambda text: text.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us"),
        "TIMESTAMP '2000-01-01'",
    ),
    1700: NUMERIC,
}
"""The types by their numbers in PostgreSQL, which never change."""


class PostgresqlSource(SqlSource):
    """A table in PostgreSQL, or the rows of a query, which are copied into a temporary table first.

    Everything is done in one transaction, which sees the table as it was at its beginning. `address` is
    postgresql://USER@HOST/DATABASE/TABLE, without a table if `query` is given; a password comes from PGPASSWORD or
    .pgpass. It does not support what needs single rows: recoders, subsets of flagged rows, pseudonyms, decorrelation.
    """

    name: ClassVar[str] = "postgresql"
    place: ClassVar[str] = "PostgreSQL"

    def __init__(self, address: str, *, query: str | None = None) -> None:
        at = Address.parse(address)
        if (at.table is None) == (query is None):
            raise InputError(
                "give either the address of a table or, with the address of a database, a query",
                code="database-address",
            )
        self.session = Session(at)
        self.table: TableName | None = None
        if query is None:
            self.table = self._found(at)
            self._open(self.table)
        else:
            self._open(self._copied(query))

    @property
    def shown_name(self) -> str:
        """The name of the table for people; a query has none."""
        return "a query" if self.table is None else str(self.table)

    def _found(self, at: Address) -> TableName:
        name = quoted_name(at.table or "")
        if at.schema is not None:
            return TableName(at.schema, at.table or "")
        find = "SELECT relnamespace::regnamespace::name FROM pg_class WHERE oid = to_regclass(%s)"
        schema = self.session.one(find, (name,))
        if schema is None:
            raise InputError(f"{at.table}: there is no such table", code="database-table")
        return TableName(str(schema), at.table or "")

    def _copied(self, query: str) -> TableName:
        """Keep the rows of a query: asked again, it could give others."""
        table = f"rows_{secrets.token_hex(8)}"
        given = query.strip().rstrip(";")
        copying = f"CREATE TEMP TABLE {table} AS SELECT * FROM ({given}\n) q"  # noqa: S608 - the user's own
        self.session.run(copying, what="the query")
        return TableName("pg_temp", table)

    def _open(self, table: TableName) -> None:
        """Check the columns, and remember how to read them."""
        source = self.shown_name
        rows = f"SELECT * FROM {table.sql}"  # noqa: S608 - quoted
        found = self.session.described(rows, what=source)
        check_names([name for name, _, _ in found], source=source)
        refuse_own_names([name for name, _, _ in found], source=source)
        kinds = {name: self._kind(number, scale) for name, number, scale in found}
        if odd := [name for name, kind in kinds.items() if kind is None]:
            raise InputError(
                f"{source}: the type of {quoted(odd)} is not supported, such as a time zone; leave the column out with "
                "a query, or turn it into text",
                code="table-column-type",
            )
        known = {name: kind for name, kind in kinds.items() if kind is not None}
        cells = ", ".join(
            f"{kind.cleaned.format(quoted_name(name))} AS {quoted_name(name)}" for name, kind in known.items()
        )
        self._reads(f"SELECT {cells} FROM {table.sql}", list(known))  # noqa: S608 - quoted

    def _kind(self, number: int, scale: int | None) -> Kind | None:
        if number == 1700 and scale is None:
            return ANY_SCALE
        if number in KINDS:
            return KINDS[number]
        textual = "SELECT typtype = 'e' OR typname = 'citext' FROM pg_type WHERE oid = %s"
        return TEXT if self.session.one(textual, (number,)) else None

    @property
    def sha256(self) -> str:
        """A hash of the rows, whatever their order: that of the sorted hashes of all rows, in two steps."""
        row = "encode(sha256(convert_to(CAST(q AS text), 'UTF8')), 'hex')"
        whole = "encode(sha256(convert_to(coalesce(string_agg({0}, '' ORDER BY {1}), ''), 'UTF8')), 'hex')"
        return str(
            self.session.one(
                f"SELECT {whole.format('d', 'b')} FROM (SELECT substr(h, 1, 4) AS b, {whole.format('h', 'h')} AS d "  # noqa: S608
                f"FROM (SELECT {row} AS h FROM ({self._query}) q) r GROUP BY 1) s"
            )
        )

    # How PostgreSQL does what all databases do

    def _run(self, statement: str) -> None:
        self.session.run(statement, what=self.shown_name)
        made = statement.split(" ", 4)
        if made[:3] == ["CREATE", "TEMP", "TABLE"]:  # the planner knows nothing of temporary tables
            self.session.run(f"ANALYZE {made[3]}")

    def _kinds(self, query: str) -> dict[str, Kind]:
        found = self.session.described(query, what=self.shown_name)
        return {name: self._kind(number, scale) or TEXT for name, number, scale in found}

    def _fetch(self, query: str) -> pl.DataFrame:
        kinds = self._kinds(query)
        texts = self.session.texts(query, list(kinds), what=self.shown_name)
        try:
            return pl.DataFrame([_read(texts[name], kind) for name, kind in kinds.items()])
        except pl.exceptions.PolarsError:
            raise InputError(
                f"{self.shown_name}: a date or time is outside the years 1 to 9999, such as infinity; replace it",
                code="table-column-type",
            ) from None

    def _schema(self) -> Mapping[str, pl.DataType]:
        return {name: kind.dtype for name, kind in self._kinds(self._query).items()}

    def _same(self, name: str, one: str, other: str) -> str:
        """Compare in a way for which PostgreSQL can use a hash: it cannot for IS NOT DISTINCT FROM."""
        column, instead = quoted_name(name), self._compared(name)
        both = f"coalesce({one}.{column}, {instead}) = coalesce({other}.{column}, {instead})"
        if instead == TEXT.instead:
            return both  # no text is empty
        return f"{both} AND ({one}.{column} IS NULL) = ({other}.{column} IS NULL)"

    def _compared(self, name: str) -> str:
        if not hasattr(self, "_instead"):
            self._instead = {own: kind.instead for own, kind in self._kinds(self._query).items()}
        return self._instead[name]

    def _reads(self, query: str, columns: Sequence[str], *, written: str | None = None) -> None:
        super()._reads(query, columns, written=written)
        if hasattr(self, "_instead"):
            del self._instead

    def _numbered(self, query: str, *, shuffled: bool) -> tuple[str, str]:
        """A random order by numbers from the system; a table has no other order."""
        return query, "ORDER BY gen_random_uuid()" if shuffled else ""

    def _store_labels(self, table: str, labels: Mapping[str, pl.Series]) -> None:
        columns = ", ".join(f"{quoted_name(name)} text" for name in labels)
        self.session.run(f"CREATE TEMP TABLE {table} ({quoted_name(ID)} bigint, {columns})")
        self.session.fill(table, pl.DataFrame([texts.alias(name) for name, texts in labels.items()]).with_row_index(ID))
        self.session.run(f"ANALYZE {table}")

    # Where the release is written

    def write_table(self, target: TableName) -> Written:
        """Write the rows into a new table, which nobody sees before the commit, and return it."""
        self.session.run(f"CREATE TABLE {target.sql} AS {self._written}", what=str(target))
        table = copy(self)
        table.table = target
        table._open(target)  # noqa: SLF001 - its own class
        return Written(table, table.sha256)

    def write(self, target: Path, output: Path, *, separator: str, formulas: Formulas = Formulas.AS_IS) -> None:
        """Refuse: a table in PostgreSQL is released in its database."""
        del target, separator, formulas
        raise InputError(
            f"{output.name}: a table in PostgreSQL is released into a table of the same database; give its address as "
            "--output",
            code="output-elsewhere",
        )

    def reread(self, target: Path, output: Path, *, separator: str, formulas: Formulas = Formulas.AS_IS) -> Written:
        """Refuse, as `write` does."""
        self.write(target, output, separator=separator, formulas=formulas)
        raise AssertionError("not reached")


def _read(texts: pl.Series, kind: Kind) -> pl.Series:
    """The values of a column; its own name could be taken for a pattern."""
    return texts.alias("values").to_frame().select(kind.read(pl.col("values"))).to_series().alias(texts.name)
