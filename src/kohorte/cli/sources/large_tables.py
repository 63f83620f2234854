"""Where the rows of a table stay: in this process, in DuckDB for files that are large, or in a database."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path

from kohorte.cli.output import STANDARD_INPUT
from kohorte.errors import InputError
from kohorte.in_words import size
from kohorte.progress import Stage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.cli.progress import TerminalProgress
    from kohorte.plans import Plan
    from kohorte.sources import DuckDbSource, PostgresqlSource, SparkSource

LARGE = 256 << 20
"""A file of so many bytes is read with DuckDB; our own choice, without a recorded measurement."""

ENGINES = ("local", "duckdb", "spark")


def add_engine_options(parser: argparse.ArgumentParser) -> None:
    """Add --engine, --master, --query and --memory-limit."""
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        help="local reads the table into memory, duckdb leaves it on disk, spark with its workers (default: by the "
        "size of the file)",
    )
    parser.add_argument(
        "--master",
        metavar="URL",
        help="where Spark runs: local[4], spark://HOST:7077, yarn, or sc://HOST:15002 for Spark Connect (default: what "
        "Spark's own settings say)",
    )
    parser.add_argument(
        "--query", metavar="SQL", help="rows to take instead of a table, if DATA is the address of a database"
    )
    parser.add_argument(
        "--memory-limit", metavar="SIZE", help="memory that DuckDB may use before it writes to disk, e.g. 4GB"
    )


def outside_table(
    options: argparse.Namespace, plan: Plan, progress: TerminalProgress, *, output: str | None = None
) -> DuckDbSource | PostgresqlSource | SparkSource | None:
    """The table whose rows do not come into memory; None if it is a file that is read.

    It may be released to `output`; without one, it is only counted.
    """
    from kohorte.cli.sources.spark_tables import in_spark, wants_spark
    from kohorte.sources.postgresql_session import is_database

    if wants_spark(options):
        return in_spark(options, by_row(options, plan), progress, output=output)
    if is_database(options.data):
        return _in_database(options, plan, progress)
    if options.query is not None:
        raise InputError("--query needs the address of a database as DATA", code="database-address")
    if output is not None and is_database(output):
        raise InputError(
            "a release in a database is made from a table of the same database; give its address as DATA",
            code="output-elsewhere",
        )
    return _in_duckdb(options, plan, progress, output=None if output is None else Path(output))


def _in_database(options: argparse.Namespace, plan: Plan, progress: TerminalProgress) -> PostgresqlSource:
    if options.engine is not None or options.memory_limit is not None:
        raise InputError("--engine and --memory-limit are for files; a database has its own", code="database-address")
    if needed := by_row(options, plan):
        raise InputError(
            f"{needed} works row by row, which a table in PostgreSQL does not support; export the table to a file",
            code="source-row-by-row",
        )
    from kohorte.sources import PostgresqlSource

    progress.stage(Stage.READING, "the database")
    return PostgresqlSource(options.data, query=options.query)


def _in_duckdb(
    options: argparse.Namespace, plan: Plan, progress: TerminalProgress, *, output: Path | None
) -> DuckDbSource | None:
    """The table in DuckDB, if the options ask for it or the file is large; None if it is read into memory."""
    if not _wants_duckdb(options, plan):
        return None
    from kohorte.data.files import remove_left_over
    from kohorte.sources import DuckDbSource
    from kohorte.sources.spill import remove_spilled

    beside = None
    if output is not None:
        beside = Path(output).resolve().parent
        remove_left_over(beside, output.name)
        if left := remove_spilled(beside):
            print(f"note: what {left:,} killed command{'s' if left > 1 else ''} left was removed", file=sys.stderr)
    progress.reading(options.data)
    table = DuckDbSource(
        options.data,
        memory_limit=options.memory_limit,
        beside=beside,
        progress=progress,
        separator=options.separator,
        encoding=options.encoding,
    )
    for note in table.notes:
        print(f"note: {note}", file=sys.stderr)
    return table


def _wants_duckdb(options: argparse.Namespace, plan: Plan) -> bool:
    from kohorte.sources.parquet_files import is_remote, is_several

    if is_remote(options.data):
        raise _remote()
    several = options.data != STANDARD_INPUT and is_several(Path(options.data))
    needed = by_row(options, plan)
    if options.engine == "duckdb" or several:
        if options.engine == "local":
            raise InputError("several files are read with --engine duckdb only", code="source-row-by-row")
        if options.data == STANDARD_INPUT:
            raise InputError("standard input is read with --engine local only", code="source-row-by-row")
        if needed:
            raise InputError(
                f"{needed} works row by row, which a table in DuckDB does not support; read one file, with --engine "
                "local",
                code="source-row-by-row",
            )
        return True
    if options.engine == "local":
        if options.memory_limit is not None:
            raise InputError("--memory-limit is for --engine duckdb", code="memory-limit")
        return False
    return not needed and (options.memory_limit is not None or _is_large(options.data))


def by_row(options: argparse.Namespace, plan: Plan) -> str:
    """What needs single rows, of the options and the plan; empty if nothing does."""
    from kohorte.release.algorithms import is_recoder

    given = {
        "verify of a CSV file": options.verb == "verify" and _is_csv(options.data),
        "--population": getattr(options, "population", None) is not None,
        "--report": getattr(options, "report", None) is not None,
        "--ledger": getattr(options, "ledger", None) is not None,
        f"algorithm {plan.search.algorithm}": hasattr(options, "algorithm") and is_recoder(plan.search.algorithm),
        "a plan with pseudonyms": bool(plan.pseudonyms),
        "a subset flagged by a column": plan.subset is not None,
        "decorrelate": plan.decorrelate is not None,
    }
    return next((what for what, is_given in given.items() if is_given), "")


def _is_csv(name: str) -> bool:
    """Whether the table is a CSV file, whose cells may have an apostrophe before formulas."""
    from kohorte.data.table import PARQUET

    path = Path(name)
    return path.is_file() and path.suffix.lower() not in PARQUET


def _is_large(name: str) -> bool:
    """Whether a file is too large for memory; without DuckDB there is no choice."""
    path = Path(name)
    try:
        large = path.is_file() and path.stat().st_size >= LARGE
    except (OSError, ValueError):
        return False
    if large and find_spec("duckdb") is None:
        print(
            f"note: the file is larger than {size(LARGE)} and is read into memory; install kohorte[query] to leave it "
            "on disk",
            file=sys.stderr,
        )
        return False
    return large


def _remote() -> InputError:
    return InputError(
        "the table is in an object store, which needs an extension of DuckDB that is downloaded from the network; "
        "copy the files to this machine, or mount the store as a folder",
        code="source-remote",
    )
