"""A Parquet file whose rows stay in DuckDB: only distinct tuples and counts come into memory."""

from __future__ import annotations

import secrets
import shutil
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, ClassVar

import numpy as np
import polars as pl

from kohorte.data import Formulas, as_text, categories_as_text, sha256_of
from kohorte.data.columns import check_names, check_types, quoted
from kohorte.data.files import unreadable
from kohorte.errors import EngineError, InputError
from kohorte.kernels.arrays import Bools, Codes
from kohorte.sources.base import Tuples, Written
from kohorte.sources.frame import FrameSource

LOCKED = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
"""DuckDB must not download extensions: a hospital's machine may be offline, and Parquet needs none."""

OWN = "\1"
ID, ROW, COUNT = f"{OWN}id", f"{OWN}row", f"{OWN}count"
"""Columns of our own; a table that has such names is refused."""


class DuckDbSource:
    """The rows of a Parquet file, counted, generalized and written by DuckDB (extra `query`).

    It does not support what needs single rows: recoders, subsets of flagged rows, decorrelation.
    """

    name: ClassVar[str] = "duckdb"

    def __init__(self, path: str | Path) -> None:
        self.path = path = Path(path)
        if not path.is_file():
            raise unreadable(path, FileNotFoundError())
        self._spilled = _SpillFolder()
        with _failures(path.name):
            self._connection = _library().connect(":memory:", config=LOCKED | {"temp_directory": self._spilled.name})
            rows = f"FROM read_parquet({_text(_only(path))}, hive_partitioning = false)"
            found = pl.DataFrame(self._connection.sql(f"SELECT * {rows} LIMIT 0")).schema
            with path.open("rb") as file:  # its name would be a pattern to polars, too
                stated = pl.read_parquet_schema(file)
        check_names(list(stated), source=path.name)
        check_types(pl.DataFrame(schema=stated), source=path.name)
        if list(found) != list(stated) or any(name.startswith(OWN) for name in found):
            raise InputError(
                f"{path.name}: DuckDB cannot tell apart column names that differ in capitals only, and uses names that "
                "start with a control character itself; rename these columns",
                code="table-duplicate-columns",
            )
        if odd := [name for name, dtype in stated.items() if not _same_type(found[name], dtype)]:
            raise InputError(
                f"{path.name}: DuckDB does not keep the type of {quoted(odd)}, such as a time zone; read the file with "
                "read_table, or turn the column into text",
                code="table-column-type",
            )
        self.columns: tuple[str, ...] = tuple(stated)
        self._query = f"SELECT {', '.join(_cleaned(name, dtype) for name, dtype in stated.items())} {rows}"
        self._grouped: dict[tuple[str, ...], tuple[str, FrameSource]] = {}

    def _table(self, query: str, columns: Sequence[str]) -> DuckDbSource:
        """Another table in the same database."""
        table = object.__new__(DuckDbSource)
        table._connection, table._spilled = self._connection, self._spilled
        table.path, table._query, table.columns, table._grouped = self.path, query, tuple(columns), {}
        return table

    @property
    def sha256(self) -> str:
        """The hash of the file."""
        return sha256_of(self.path)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self._fetch(f"SELECT count(*) AS n FROM ({self._query})")["n"].item())  # noqa: S608 - quoted

    def without_marks(self, marks: Sequence[str]) -> DuckDbSource:
        """Return the table in which cells with one of these texts are missing."""
        if not marks:
            return self
        schema = self._fetch(f"SELECT * FROM ({self._query}) LIMIT 0").schema  # noqa: S608 - quoted
        cells = ", ".join(_unmarked(name, dtype, marks) for name, dtype in schema.items())
        return self._table(f"SELECT {cells} FROM ({self._query})", self.columns)  # noqa: S608 - quoted

    def distinct(self, columns: Sequence[str]) -> Tuples:
        """Return the distinct tuples of these columns, with their counts."""
        _, counted = self._group(columns)
        return counted.distinct(columns)

    def count_shown(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return the distinct tuples of these columns as text, with their counts."""
        _, counted = self._group(columns)
        return counted.count_shown(columns)

    def _group(self, columns: Sequence[str]) -> tuple[str, FrameSource]:
        """Count the tuples by their values in DuckDB; some of them may have the same text."""
        names = tuple(columns)
        if names not in self._grouped:
            table = f"tuples_{secrets.token_hex(8)}"
            wanted = ", ".join(map(_name, names))
            self._run(
                f"CREATE TEMP TABLE {table} AS SELECT row_number() OVER (ORDER BY {wanted}) - 1 AS {_name(ID)}, * FROM "  # noqa: S608 - quoted
                f"(SELECT {wanted}, count(*) AS {_name(COUNT)} FROM ({self._query}) GROUP BY ALL)"
            )
            raw = categories_as_text(self._fetch(f"SELECT * FROM {table} ORDER BY {_name(ID)}"))  # noqa: S608 - quoted
            source = FrameSource(raw.drop(ID, COUNT), counts=raw[COUNT].to_numpy().astype(np.int64))
            self._grouped[names] = table, source
        return self._grouped[names]

    def where(self, tuples: Tuples, selected: Bools) -> str:
        """Say how many rows have the selected tuples."""
        count = int(tuples.counts[selected].sum())
        return f"{count:,} row{'' if count == 1 else 's'}"

    def in_memory(self, purpose: str) -> pl.DataFrame:
        """Refuse, because the rows stay in DuckDB."""
        raise InputError(
            f"{purpose} works row by row, which a table in DuckDB does not support; read the file instead",
            code="source-row-by-row",
        )

    def released(
        self, tuples: Tuples, shown: pl.DataFrame, *, without: Sequence[str] = (), shuffled: bool
    ) -> DuckDbSource:
        """Return the table with the columns of `shown` instead of its own."""
        table, counted = self._group(tuples.columns)
        by_value = counted.released(tuples, shown, shuffled=False).in_memory("")
        labels = f"labels_{secrets.token_hex(8)}"
        coded = {name: _coded(by_value[name]) for name in shown.columns}  # a text for each tuple would take much memory
        arrays = {f"c{number}": codes for number, (_, codes) in enumerate(coded.values())}
        texts = [f"($t{number}::VARCHAR[])[c{number} + 1] AS c{number}" for number in range(len(coded))]
        with _failures(self.name):
            self._connection.register("kohorte_labels", {ID: np.arange(by_value.height), **arrays})
            self._connection.execute(
                f"CREATE TEMP TABLE {labels} AS SELECT {', '.join([_name(ID), *texts])} FROM kohorte_labels",  # noqa: S608
                {f"t{number}": distinct for number, (distinct, _) in enumerate(coded.values())} or None,
            )
            self._connection.unregister("kohorte_labels")
        column_of = {name: f"l.c{number} AS {_name(name)}" for number, name in enumerate(shown.columns)}
        kept = [name for name in self.columns if name not in without]
        same = " AND ".join(f"t.{_name(name)} IS NOT DISTINCT FROM v.{_name(name)}" for name in tuples.columns)
        key = secrets.token_hex(16)
        order = f"ORDER BY sha256('{key}' || t.{_name(ROW)}::VARCHAR)" if shuffled else f"ORDER BY t.{_name(ROW)}"
        return self._table(
            f"SELECT {', '.join(column_of.get(name, f't.{_name(name)}') for name in kept)} "  # noqa: S608 - quoted
            f"FROM (SELECT *, row_number() OVER () AS {_name(ROW)} FROM ({self._query})) t "
            f"JOIN {table} v ON {same} JOIN {labels} l ON v.{_name(ID)} = l.{_name(ID)} {order}",
            kept,
        )

    def write(self, target: Path, output: Path, *, separator: str, formulas: Formulas = Formulas.AS_IS) -> None:
        """Write a Parquet file."""
        del separator, formulas
        if output.suffix.lower() not in (".parquet", ".pq"):
            raise InputError(f"{output.name}: a table in DuckDB is written as .parquet", code="file-format")
        self._run(f"COPY ({self._query}) TO {_text(str(target))} (FORMAT parquet)")

    def reread(self, target: Path, output: Path, *, separator: str, formulas: Formulas = Formulas.AS_IS) -> Written:
        """Open the file as a new source."""
        del output, separator, formulas
        return Written(DuckDbSource(target), sha256_of(target))

    def _run(self, statement: str) -> None:
        with _failures(self.name):
            self._connection.execute(statement)

    def _fetch(self, query: str) -> pl.DataFrame:
        with _failures(self.name):
            return pl.DataFrame(self._connection.sql(query))


class _SpillFolder:
    """A private folder for rows that do not fit into memory, removed with the last table that uses it.

    DuckDB would put them into the working directory.
    """

    def __init__(self) -> None:
        self.name = mkdtemp(prefix="kohorte-")
        weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)


def _library() -> Any:
    try:
        return import_module("duckdb")
    except ImportError:
        raise InputError(
            "a table in DuckDB needs duckdb; install kohorte[query]", code="query-library-missing"
        ) from None


@contextmanager
def _failures(source: str) -> Iterator[None]:
    """Replace an error of DuckDB, whose message may contain values, by an error of this package."""
    library = _library()
    try:
        yield
    except library.InterruptException:
        raise KeyboardInterrupt from None
    except (library.InvalidInputException, library.IOException, pl.exceptions.PolarsError):
        raise InputError(f"{source}: is not a Parquet file that can be read", code="parquet-damaged") from None
    except library.Error:
        raise EngineError(f"{source}: DuckDB could not run a statement", code="source-failed") from None


def _name(name: str) -> str:
    """An identifier, quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    """A string, quoted for SQL."""
    return "'" + text.replace("'", "''") + "'"


def _only(path: Path) -> str:
    """The path as a pattern that only this file fits: DuckDB takes `*`, `?` and `[` for parts of a pattern."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in str(path))


def _same_type(found: pl.DataType, stated: pl.DataType) -> bool:
    """Whether DuckDB has the values of a column as polars has them; categories are text, fractions of seconds alike."""
    if isinstance(found, pl.Datetime) and isinstance(stated, pl.Datetime):
        return found.time_zone == stated.time_zone
    return found == stated or isinstance(stated, pl.Categorical | pl.Enum | pl.Null)


def _cleaned(name: str, dtype: pl.DataType) -> str:
    """A column with one notion of missing and of zero, as `missing_as_null` makes it of a frame.

    Otherwise the written values would tell rows apart that count as equal.
    """
    column = _name(name)
    if isinstance(dtype, pl.Null):
        return f"NULL::VARCHAR AS {column}"
    if dtype.is_float():
        return f"CASE WHEN isnan({column}) THEN NULL WHEN {column} = 0 THEN 0 ELSE {column} END AS {column}"
    return f"nullif({column}, '') AS {column}" if dtype in (pl.String, pl.Categorical, pl.Enum) else column


def _unmarked(name: str, dtype: pl.DataType, marks: Sequence[str]) -> str:
    """A column without cells that have one of these texts; a value has the text that `as_text` gives it."""
    column = _name(name)
    if dtype.is_float():
        texts = [float(mark) for mark in marks if _is_number(mark)]
        meant = [repr(number) for number in texts if as_text(pl.Series([number]))[0] in marks]
        which = f"{column} IN ({', '.join(meant)})" if meant else "false"
    else:
        which = f"{column}::VARCHAR IN ({', '.join(map(_text, marks))})"
    return f"CASE WHEN {which} THEN NULL ELSE {column} END AS {column}"


def _is_number(text: str) -> bool:
    try:
        return np.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False


def _coded(texts: pl.Series) -> tuple[list[str | None], Codes]:
    """The distinct texts, and the position of each among them."""
    distinct = texts.unique()
    positions = pl.DataFrame({"text": distinct}).with_row_index("at")
    found = pl.DataFrame({"text": texts}).join(
        positions, on="text", how="left", nulls_equal=True, maintain_order="left"
    )
    return distinct.to_list(), found["at"].to_numpy()
