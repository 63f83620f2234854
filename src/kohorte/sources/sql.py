"""What all tables in a database share: counted, generalized and released by SQL, where the rows are.

The statements are written once, in the part of SQL that all databases understand; a source adds what differs: how it
is connected, which types it has, how rows are compared and ordered, and how a table is stored.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import polars as pl

from kohorte.data import as_text, categories_as_text
from kohorte.errors import InputError
from kohorte.sources.base import OutsideSource, Tuples
from kohorte.sources.frame import FrameSource

OWN = "\1"
ID, ROW, COUNT = f"{OWN}id", f"{OWN}row", f"{OWN}count"
"""Columns of our own; a table that has such names is refused."""


@dataclass(frozen=True, eq=False)
class Counted:
    """The temporary table with the distinct tuples of some columns, the same in memory, and their number."""

    table: str
    source: FrameSource
    tuples: int


class SqlSource(OutsideSource):
    """A table that is the result of a query; only distinct tuples and counts come into memory.

    It does not support what needs single rows: recoders, subsets of flagged rows, pseudonyms, decorrelation.
    """

    name: ClassVar[str]
    _query: str
    _written: str
    """The query with the rows in the order in which they are written."""
    _grouped: dict[tuple[str, ...], Counted]

    # What differs between databases

    def _run(self, statement: str) -> None:
        """Run a statement."""
        raise NotImplementedError

    def _fetch(self, query: str) -> pl.DataFrame:
        """Return the rows of a query."""
        raise NotImplementedError

    def _schema(self) -> Mapping[str, pl.DataType]:
        """The types of the columns."""
        raise NotImplementedError

    def _store_labels(self, table: str, labels: Mapping[str, pl.Series]) -> None:
        """Make a temporary table with the column `ID`, which counts from 0, and these texts."""
        raise NotImplementedError

    def _same(self, name: str, one: str, other: str) -> str:
        """The condition that two tables have the same value in a column, or both none."""
        raise NotImplementedError

    def _numbered(self, query: str, *, shuffled: bool) -> tuple[str, str]:
        """A query with the additional column `ROW` if that is needed, and the order of its rows `t`."""
        raise NotImplementedError

    # What they share

    def _table(self, query: str, columns: Sequence[str], *, written: str | None = None) -> Self:
        """Another table in the same database."""
        table = copy(self)
        table._reads(query, columns, written=written)  # noqa: SLF001 - its own class
        return table

    def _reads(self, query: str, columns: Sequence[str], *, written: str | None = None) -> None:
        """Set what the table is: a query, which gives these columns."""
        self._query, self.columns, self._grouped = query, tuple(columns), {}
        self._written = query if written is None else written

    @property
    def rows(self) -> int:
        """The number of rows."""
        if self._grouped:
            return next(iter(self._grouped.values())).source.rows
        return int(self._fetch(f"SELECT count(*) AS n FROM ({self._query}) q")["n"].item())  # noqa: S608 - quoted

    def without_marks(self, marks: Sequence[str]) -> Self:
        """Return the table in which cells with one of these texts are missing."""
        if not marks:
            return self
        cells = ", ".join(_unmarked(name, dtype, marks) for name, dtype in self._schema().items())
        return self._table(f"SELECT {cells} FROM ({self._query}) q", self.columns)  # noqa: S608 - quoted

    def distinct(self, columns: Sequence[str]) -> Tuples:
        """Return the distinct tuples of these columns, with their counts."""
        return self._group(columns).source.distinct(columns)

    def count_shown(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return the distinct tuples of these columns as text, with their counts."""
        return self._group(columns).source.count_shown(columns)

    def _group(self, columns: Sequence[str]) -> Counted:
        """Count the tuples by their values in the database; some of them may have the same text.

        If more columns were counted already, their tuples are counted, not the rows.
        """
        names = tuple(columns)
        if names not in self._grouped:
            finer = [counted for known, counted in self._grouped.items() if set(names) <= set(known)]
            rows, total = f"({self._query}) q", "count(*)"
            if finer:
                smallest = min(finer, key=lambda counted: counted.tuples)
                rows, total = smallest.table, f"CAST(sum({quoted_name(COUNT)}) AS bigint)"
            table = f"tuples_{secrets.token_hex(8)}"
            wanted = ", ".join(map(quoted_name, names))
            listed, order = (f"{wanted}, ", f"ORDER BY {wanted}") if names else ("", "")
            grouped = f"GROUP BY {wanted}" if names else ""
            own = quoted_name(COUNT)
            self._run(
                f"CREATE TEMP TABLE {table} AS SELECT row_number() OVER ({order}) - 1 AS {quoted_name(ID)}, c.* FROM "  # noqa: S608 - quoted
                f"(SELECT {listed}{total} AS {own} FROM {rows} {grouped}) c"
            )
            raw = categories_as_text(self._fetch(f"SELECT * FROM {table} ORDER BY {quoted_name(ID)}"))  # noqa: S608 - quoted
            source = FrameSource(raw.drop(ID, COUNT), counts=raw[COUNT].to_numpy().astype(np.int64))
            self._grouped[names] = Counted(table, source, raw.height)
        return self._grouped[names]

    def released(self, tuples: Tuples, shown: pl.DataFrame, *, without: Sequence[str] = (), shuffled: bool) -> Self:
        """Return the table with the columns of `shown` instead of its own."""
        kept = [name for name in self.columns if name not in without]
        shows = {name: f"t.{quoted_name(name)}" for name in kept}
        joined = ""
        if shown.width:
            known, own = self._labelled(tuples, shown)
            shows |= {name: f"v.{quoted_name(column)} AS {quoted_name(name)}" for name, column in own.items()}
            joined = f"JOIN {known} v ON {' AND '.join(self._same(name, 't', 'v') for name in tuples.columns)}"
        cells = ", ".join(shows[name] for name in kept)
        rows, order = self._numbered(self._query, shuffled=shuffled)
        return self._table(
            f"SELECT {cells} FROM ({self._query}) t {joined}",  # noqa: S608 - quoted
            kept,
            written=f"SELECT {cells} FROM ({rows}) t {joined} {order}",  # noqa: S608 - quoted
        )

    def _labelled(self, tuples: Tuples, shown: pl.DataFrame) -> tuple[str, dict[str, str]]:
        """Make a temporary table of the tuples with what they show; return its name, and the columns of the texts."""
        counted = self._group(tuples.columns)
        by_value = counted.source.released(tuples, shown, shuffled=False).cells
        labels, known = f"labels_{secrets.token_hex(8)}", f"known_{secrets.token_hex(8)}"
        own = {name: f"{OWN}c{number}" for number, name in enumerate(shown.columns)}
        self._store_labels(labels, {own[name]: by_value[name] for name in shown.columns})
        texts = ", ".join(f"l.{quoted_name(column)}" for column in own.values())
        self._run(
            f"CREATE TEMP TABLE {known} AS SELECT v.*, {texts} FROM {counted.table} v "  # noqa: S608 - quoted
            f"JOIN {labels} l ON v.{quoted_name(ID)} = l.{quoted_name(ID)}"
        )
        self._run(f"DROP TABLE {labels}")
        return known, own


def quoted_name(name: str) -> str:
    """An identifier, quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def quoted_text(text: str) -> str:
    """A string, quoted for SQL."""
    return "'" + text.replace("'", "''") + "'"


def refuse_own_names(names: Sequence[str], *, source: str) -> None:
    """Refuse columns with names that the statements use themselves."""
    if any(name.startswith(OWN) for name in names):
        raise InputError(
            f"{source}: a column has a name that starts with a control character; rename it",
            code="table-duplicate-columns",
        )


def _unmarked(name: str, dtype: pl.DataType, marks: Sequence[str]) -> str:
    """A column without cells that have one of these texts; a value has the text that `as_text` gives it."""
    column = quoted_name(name)
    if dtype.is_float():
        texts = [float(mark) for mark in marks if _is_number(mark)]
        meant = [repr(number) for number in texts if as_text(pl.Series([number]))[0] in marks]
        which = f"{column} IN ({', '.join(meant)})" if meant else "false"
    else:
        which = f"CAST({column} AS text) IN ({', '.join(map(quoted_text, marks))})"
    return f"CASE WHEN {which} THEN NULL ELSE {column} END AS {column}"


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text))) and "_" not in text
    except ValueError:
        return False
