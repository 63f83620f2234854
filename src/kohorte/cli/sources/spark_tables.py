"""Parquet files that the workers of Spark read and write."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from kohorte.cli.output import STANDARD_INPUT
from kohorte.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.cli.progress import TerminalProgress
    from kohorte.sources import SparkSource


def wants_spark(options: argparse.Namespace) -> bool:
    """Whether Spark is to do the work; refuses --master for another engine."""
    wanted: bool = options.engine == "spark"
    if options.master is not None and not wanted:
        raise InputError("--master is for --engine spark", code="spark-master")
    return wanted


def in_spark(
    options: argparse.Namespace, needed: str, progress: TerminalProgress, *, output: str | None
) -> SparkSource:
    """Start Spark, and open the files; `needed` names what works row by row."""
    _refuse(options, needed, output)
    from kohorte.release.sinks.folder import refuse_folder, remove_left_folders
    from kohorte.sources import SparkSource
    from kohorte.sources.spark.session import start_session

    if output is not None:
        refuse_folder(Path(output))
        if left := remove_left_folders(Path(output)):
            print(f"note: what {left:,} killed command{'s' if left > 1 else ''} left was removed", file=sys.stderr)
    progress.reading(options.data)
    session = start_session(options.master)
    return SparkSource.at(Path(options.data), session)


def _refuse(options: argparse.Namespace, needed: str, output: str | None) -> None:
    """Refuse, before Spark is started, what it cannot do."""
    from kohorte.data.table import PARQUET
    from kohorte.sources.parquet_files import is_several
    from kohorte.sources.postgresql_session import is_database

    if needed:
        raise InputError(
            f"{needed} works row by row, which a table in Spark does not support; read one file, with --engine local",
            code="source-row-by-row",
        )
    if options.memory_limit is not None:
        raise InputError("--memory-limit is for --engine duckdb; Spark has its own settings", code="memory-limit")
    if options.query is not None or is_database(options.data) or (output is not None and is_database(output)):
        raise InputError("--engine and --memory-limit are for files; a database has its own", code="database-address")
    if any("://" in one for one in (options.data, output or "")):
        raise InputError(
            "--engine spark reads and writes folders that this machine and all workers share; for an object store or "
            "HDFS, call anonymize in Python with a DataFrame of your own session, and write the result there",
            code="source-remote",
        )
    path = Path(options.data)
    if options.data == STANDARD_INPUT or not (is_several(path) or path.suffix.lower() in PARQUET):
        raise InputError(
            "--engine spark reads Parquet: a file, a folder or a pattern; read a CSV file with --engine duckdb",
            code="source-row-by-row",
        )
