"""Files whose rows stay in DuckDB: only distinct tuples and counts come into memory."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from copy import copy
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl

from kohorte.data import FormulaCells, Formulas, sha256_of
from kohorte.data.columns import is_coded, quoted
from kohorte.data.formulas import unquote_formulas
from kohorte.data.table import PARQUET, refuse_format
from kohorte.errors import InputError
from kohorte.kernels.arrays import Codes
from kohorte.progress import ProgressCallback
from kohorte.sources.base import Written
from kohorte.sources.batches import TableBatches, fill_table_in_batches
from kohorte.sources.duckdb_database import Database, failures
from kohorte.sources.frame import numbered
from kohorte.sources.parquet_files import ParquetFiles, only
from kohorte.sources.sql import ID, ROW, SqlSource, quoted_name, quoted_text, refuse_own_names


class DuckDbSource(SqlSource):
    """The rows of Parquet files or of a CSV file, counted, generalized and written by DuckDB (extra `query`).

    `path` is a file, a folder or a pattern of Parquet files. A CSV file is read once, in batches, into a Parquet file
    in the spill folder. `memory_limit`, such as 4GB, is what DuckDB may use before it writes to a private folder
    `beside` the output. It does not support what needs single rows: recoders, subsets of flagged rows, pseudonyms,
    decorrelation.
    """

    name: ClassVar[str] = "duckdb"
    place: ClassVar[str] = "DuckDB"

    def __init__(
        self,
        path: str | Path,
        *,
        memory_limit: str | None = None,
        beside: str | Path | None = None,
        progress: ProgressCallback | None = None,
        separator: str | None = None,
        encoding: str | None = None,
    ) -> None:
        self.path = Path(path)
        self.files: tuple[Path, ...] = (self.path,)
        self.separator: str | None = None
        self.notes: tuple[str, ...] = ()
        self._hash: ParquetFiles | None = None
        self._database = Database(
            memory_limit=memory_limit, beside=None if beside is None else Path(beside), progress=progress
        )
        if self.path.is_file() and self.path.suffix.lower() not in PARQUET:
            batches = TableBatches(self.path, separator, encoding)
            if batches.format == "csv":
                self._read_csv(batches)
                return
        found = ParquetFiles.at(self.path)
        self.files, self._hash = found.files, found
        self._open(found, source=self.path.name)

    def _read_csv(self, batches: TableBatches) -> None:
        """Read a CSV file as every CSV file is read, and keep it as Parquet."""
        kept = self._database.spill.file(f"{secrets.token_hex(8)}.parquet")

        def frames() -> Iterator[pl.DataFrame]:
            for batch in batches:
                self.separator, self.notes = batch.separator, (*self.notes, *batch.notes)
                yield batch.frame

        fill_table_in_batches(frames(), kept, kept, separator=",")
        self._open(ParquetFiles.at(kept), source=self.path.name)

    def _open(self, found: ParquetFiles, *, source: str) -> None:
        """Check what DuckDB makes of the columns, and remember how to read them."""
        stated = found.schema
        listed = ", ".join(quoted_text(only(file)) for file in found.files)
        hive = (
            "hive_partitioning = true, hive_types_autocast = false" if found.partitions else "hive_partitioning = false"
        )
        rows = f"read_parquet([{listed}], {hive})"
        with failures(source):
            seen = self._database.fetch(f"SELECT * FROM {rows} LIMIT 0").schema  # noqa: S608 - quoted
        refuse_own_names(list(stated), source=source)
        if sorted(seen) != sorted(stated):
            raise InputError(
                f"{source}: DuckDB cannot tell apart column names that differ in capitals only; rename these columns",
                code="table-duplicate-columns",
            )
        if odd := [name for name, dtype in stated.items() if not _same_type(seen[name], dtype)]:
            raise InputError(
                f"{source}: DuckDB does not keep the type of {quoted(odd)}, such as a time zone; read the file with "
                "read_table, or turn the column into text",
                code="table-column-type",
            )
        cells = ", ".join(_cleaned(name, dtype) for name, dtype in stated.items())
        self._reads(f"SELECT {cells} FROM {rows}", list(stated))  # noqa: S608 - quoted

    @property
    def sha256(self) -> str:
        """The hash of the file; of several, the hash of the list of their hashes and names, as sha256sum prints it."""
        return sha256_of(self.path) if self._hash is None else self._hash.sha256

    # How DuckDB does what all databases do

    def _run(self, statement: str) -> None:
        self._database.run(statement, what="rows in DuckDB")

    def _fetch(self, query: str) -> pl.DataFrame:
        return self._database.fetch(query)

    def _schema(self) -> Mapping[str, pl.DataType]:
        return self._fetch(f"SELECT * FROM ({self._query}) LIMIT 0").schema  # noqa: S608 - quoted

    def _same(self, name: str, one: str, other: str) -> str:
        return f"{one}.{quoted_name(name)} IS NOT DISTINCT FROM {other}.{quoted_name(name)}"

    def _numbered(self, query: str, *, shuffled: bool) -> tuple[str, str]:
        """Number the rows; a random order is that of a keyed hash of the numbers, which only the key could repeat."""
        row = quoted_name(ROW)
        numbered = f"SELECT *, row_number() OVER () AS {row} FROM ({query})"  # noqa: S608 - quoted
        if not shuffled:
            return numbered, f"ORDER BY t.{row}"
        key = secrets.token_hex(16)
        return numbered, f"ORDER BY md5_number('{key}' || CAST(t.{row} AS text)), t.{row}"

    def _store_labels(self, table: str, labels: Mapping[str, pl.Series]) -> None:
        """Send numbers and a list of texts for each column: a text for each tuple would take much memory."""
        coded = {name: _coded(texts) for name, texts in labels.items()}
        rows = len(next(iter(labels.values())))
        texts = [
            f"($t{number}::VARCHAR[])[{quoted_name(name)} + 1] AS {quoted_name(name)}"
            for number, name in enumerate(coded)
        ]
        arrays = {name: codes for name, (_, codes) in coded.items()}
        given = f"given_{secrets.token_hex(8)}"
        with self._database.registered(given, {ID: np.arange(rows), **arrays}):
            self._database.run(
                f"CREATE TEMP TABLE {table} AS SELECT {', '.join([quoted_name(ID), *texts])} FROM {given}",  # noqa: S608
                {f"t{number}": distinct for number, (distinct, _) in enumerate(coded.values())},
            )

    # Where the release is written

    def write(self, target: Path, output: Path, *, separator: str, formulas: Formulas = Formulas.AS_IS) -> None:
        """Write a Parquet or CSV file."""
        refuse_format(output)
        if output.suffix.lower() in PARQUET:
            self._copy(target)
            return
        whole = self._database.spill.file(f"{secrets.token_hex(8)}.parquet")
        self._copy(whole)
        frames = (batch.frame for batch in TableBatches(whole))
        fill_table_in_batches(frames, target, output, separator=separator, formulas=formulas)
        whole.unlink()

    def _copy(self, target: Path) -> None:
        self._run(f"COPY ({self._written}) TO {quoted_text(str(target))} (FORMAT parquet)")

    def reread(self, target: Path, output: Path, *, separator: str, formulas: Formulas = Formulas.AS_IS) -> Written:
        """Open the file as a new table of the same database."""
        kept, cells = target, FormulaCells()
        if output.suffix.lower() not in PARQUET:
            kept = self._database.spill.file(f"{secrets.token_hex(8)}.parquet")
            unquoted = _Unquoted(TableBatches(target, separator), formulas)
            fill_table_in_batches(unquoted.frames(), kept, kept, separator=separator)
            cells = unquoted.cells
        table = copy(self)
        table.path, table.files = target, (target,)
        table._open(ParquetFiles.at(kept), source=output.name)  # noqa: SLF001 - its own class
        return Written(table, sha256_of(target), cells)


class _Unquoted:
    """The batches of a written CSV file without the apostrophes before formulas, and where these were."""

    def __init__(self, batches: TableBatches, formulas: Formulas) -> None:
        self.cells = FormulaCells()
        self._batches, self._formulas = batches, formulas

    def frames(self) -> Iterator[pl.DataFrame]:
        """Read the batches."""
        for batch in self._batches:
            if self._formulas is not Formulas.QUOTE:
                yield batch.frame
                continue
            frame, found = unquote_formulas(batch.frame)
            names = {*self.cells.cells, *found.cells}
            counts = {name: self.cells.cells.get(name, 0) + found.cells.get(name, 0) for name in sorted(names)}
            self.cells = FormulaCells(counts, found.names)
            yield frame


def _same_type(found: pl.DataType, stated: pl.DataType) -> bool:
    """Whether DuckDB has the values of a column as polars has them; categories are text, fractions of seconds alike."""
    if isinstance(found, pl.Datetime) and isinstance(stated, pl.Datetime):
        return found.time_zone == stated.time_zone
    return found == stated or isinstance(stated, pl.Categorical | pl.Enum | pl.Null)


def _cleaned(name: str, dtype: pl.DataType) -> str:
    """A column with one notion of missing and of zero, as `missing_as_null` makes it of a frame.

    Otherwise the written values would tell rows apart that count as equal.
    """
    column = quoted_name(name)
    if isinstance(dtype, pl.Null):
        return f"NULL::VARCHAR AS {column}"
    if dtype.is_float():
        return f"CASE WHEN isnan({column}) THEN NULL WHEN {column} = 0 THEN 0 ELSE {column} END AS {column}"
    return f"nullif({column}, '') AS {column}" if dtype in (pl.String, pl.Categorical, pl.Enum) else column


def _coded(texts: pl.Series) -> tuple[list[str | None], Codes]:
    """The distinct texts, and the position of each among them."""
    if is_coded(texts):
        values, codes = numbered(texts)
        return [*values, None], codes
    distinct = texts.unique()
    positions = pl.DataFrame({"text": distinct}).with_row_index("at")
    found = pl.DataFrame({"text": texts}).join(
        positions, on="text", how="left", nulls_equal=True, maintain_order="left"
    )
    return distinct.to_list(), found["at"].to_numpy()
