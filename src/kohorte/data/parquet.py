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


def read_parquet(data: bytes, *, source: str, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Read the bytes of a Parquet file, or some of its columns; `source` is its name in messages."""
    try:
        frame = pl.read_parquet(io.BytesIO(data), columns=None if columns is None else list(columns))
    except pl.exceptions.DuplicateError:
        raise InputError(
            f"{source}: several columns have the same name; column names must differ",
            code="table-duplicate-columns",
        ) from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError):
        raise InputError(
            f"{source}: is not a Parquet file, or is damaged; write it again, or save the table as CSV",
            code="parquet-damaged",
        ) from None
    check_names(frame.columns, source=source)
    check_types(frame, source=source)
    check_rows(frame, source=source)
    return missing_as_null(categories_as_text(frame))


def write_parquet(frame: pl.DataFrame, target: Path | BinaryIO) -> None:
    """Write a table, with categories as text, so that the values of removed rows are not written."""
    check_types(frame, source="the table")
    categories_as_text(missing_as_null(frame)).write_parquet(target)
