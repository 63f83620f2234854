"""Parquet files that Spark reads and writes: in folders that this machine and all workers see."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from kohorte.data.columns import quoted
from kohorte.data.table import PARQUET
from kohorte.errors import InputError
from kohorte.sources.parquet_files import ParquetFiles
from kohorte.sources.spark.columns import Column

UNFINISHED = "_temporary"
"""The folder of Hadoop for files of tasks; it is removed when a job has ended, also by an error."""


def read_files(found: ParquetFiles, session: Any) -> Any:
    """The rows of files, as a frame of Spark."""
    reading = session.read
    if found.partitions:
        reading = reading.option("basePath", address(found.root))
    frame = reading.parquet(*map(_only, found.files))
    return frame.selectExpr(*(_read_as(name, dtype) for name, dtype in found.schema.items()))


def refuse_changed_types(found: ParquetFiles, columns: Iterable[Column], *, source: str) -> None:
    """Refuse columns whose values have another text in Spark than in the files."""
    both = zip(found.schema.items(), columns, strict=True)
    if odd := [name for (name, dtype), column in both if not _same_text(column.dtype, dtype)]:
        raise InputError(
            f"{source}: Spark does not keep the type of {quoted(odd)}; read the file into memory, or turn the column "
            "into text",
            code="table-column-type",
        )


def refuse_spark_output(output: Path) -> None:
    """Refuse a name that is not one of a folder of Parquet files."""
    if output.suffix.lower() not in PARQUET:
        raise InputError(
            f"{output.name}: Spark writes a folder of Parquet files; give a name that ends with .parquet",
            code="file-format",
        )


def wait_for_workers(folder: Path) -> None:
    """Wait until an interrupted job has removed its temporary files, for ten seconds at most.

    A worker that still writes would make the folder again after it was removed.
    """
    gone = 0
    for _ in range(100):
        gone = 0 if (folder / UNFINISHED).exists() else gone + 1
        if gone == 10:
            return
        time.sleep(0.1)


def _read_as(name: str, dtype: pl.DataType) -> str:
    """A column of a file; one without values has no type of its own."""
    column = "`" + name.replace("`", "``") + "`"
    return f"CAST(NULL AS STRING) AS {column}" if isinstance(dtype, pl.Null) else column


def _same_text(found: pl.DataType, stated: pl.DataType) -> bool:
    """Whether values have the same text in Spark as in the file."""
    if found.is_integer() and stated.is_integer():
        return True
    if isinstance(found, pl.Datetime) and isinstance(stated, pl.Datetime):
        return stated.time_zone is None
    textual = (pl.String, pl.Categorical, pl.Enum, pl.Null)
    whole = isinstance(stated, pl.UInt64) and isinstance(found, pl.Decimal) and found.scale == 0
    return found == stated or whole or (found == pl.String and isinstance(stated, textual))


def address(path: Path) -> str:
    """The address of a path on the disks that all machines share; a cluster may have another file system by default."""
    return f"file://{path.resolve()}"


def _only(path: Path) -> str:
    """The address as a pattern that only this file fits."""
    return "".join(f"\\{character}" if character in r"\{}[]*?," else character for character in address(path))
