"""Read and write Parquet files."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import polars as pl

from kohorte.data.columns import categories_as_text, check_names, check_rows, check_types, missing_as_null
from kohorte.errors import InputError

MAGIC = b"PAR1"


def read_parquet(
    data: bytes, *, source: str, columns: Sequence[str] | None = None, may_lack_rows: bool = False
) -> pl.DataFrame:
    """Read the bytes of a Parquet file, or some of its columns; `source` is its name in messages."""
    try:
        frame = pl.read_parquet(io.BytesIO(data), columns=None if columns is None else list(columns))
    except pl.exceptions.DuplicateError:
        raise duplicate_columns(source) from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError):
        raise damaged_parquet(source) from None
    check_names(frame.columns, source=source)
    check_types(frame, source=source)
    if not may_lack_rows:
        check_rows(frame, source=source)
    return missing_as_null(categories_as_text(frame))


def duplicate_columns(source: str) -> InputError:
    """The error for a file in which column names are not unique."""
    return InputError(
        f"{source}: several columns have the same name; column names must differ", code="table-duplicate-columns"
    )


def damaged_parquet(source: str) -> InputError:
    """The error for a file that cannot be read as Parquet."""
    return InputError(
        f"{source}: is not a Parquet file, or is damaged; write it again, or save the table as CSV",
        code="parquet-damaged",
    )


def bytes_of_texts(data: bytes) -> int:
    """Return how many bytes the texts of a Parquet file have if each cell is written out; 0 if it cannot be read.

    A text that is read from a dictionary is in memory once, however many rows have it. Nothing is copied here.
    """
    try:
        schema = pl.read_parquet_schema(io.BytesIO(data))
        textual = [name for name, kind in schema.items() if isinstance(kind, pl.String | pl.Categorical | pl.Enum)]
        frame = pl.read_parquet(io.BytesIO(data), columns=textual)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError):
        return 0  # reading the file reports what is wrong with it
    return sum(map(_bytes_of_cells, frame.iter_columns()))


def _bytes_of_cells(column: pl.Series) -> int:
    counted = column.alias("text").value_counts(name="rows") if column.dtype != pl.String else None
    texts = column if counted is None else counted["text"].cast(pl.String)
    lengths = texts.str.len_bytes().cast(pl.UInt64)
    return int((lengths if counted is None else lengths * counted["rows"].cast(pl.UInt64)).sum())


def write_parquet(frame: pl.DataFrame, target: Path | BinaryIO) -> None:
    """Write a table, with categories as text, so that the values of removed rows are not written."""
    check_types(frame, source="the table")
    categories_as_text(missing_as_null(frame)).write_parquet(target)
