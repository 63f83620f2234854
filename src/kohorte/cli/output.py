"""What the command prints: results on standard output, progress and errors on standard error."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from kohorte.cli.progress import add_quiet_option
from kohorte.errors import KohorteError
from kohorte.in_words import ROWS, Unit, cost, count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.cli.progress import TerminalProgress
    from kohorte.data import TableFile
    from kohorte.sources.batches import TableBatches


STANDARD_INPUT = "-"


def print_json(data: object) -> None:
    """Print one JSON object."""
    print(json.dumps(data, ensure_ascii=not _supports_unicode()))


def _supports_unicode() -> bool:
    return str(getattr(sys.stdout, "encoding", None)).lower().startswith("utf")


def print_error(error: KohorteError, *, as_json: bool) -> None:
    """Print an error: for people on standard error, with --json also as one object on standard output."""
    if sys.stderr is not None:
        print(f"kohorte: {error.message} [{error.code}]", file=sys.stderr)
    if as_json:
        print_json({"error": error.code, "message": error.message})


def print_table(header: Sequence[str], rows: Sequence[Sequence[object]], *, data: bool = False) -> None:
    """Print an aligned table; numbers are right-aligned, and formatted for people unless the cells are `data`."""
    cells = [[str(cell) if data else _in_words(cell) for cell in row] for row in rows]
    widths = [max(len(line[column]) for line in [list(header), *cells]) for column in range(len(header))]
    numeric = [all(isinstance(row[column], int | float) for row in rows) for column in range(len(header))]
    for line in [list(header), *cells]:
        text = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        )
        print("  ".join(text).rstrip())


def _in_words(cell: object) -> str:
    """An integer with separated thousands, any other number as a cost, a text unchanged."""
    return count(cell) if isinstance(cell, int) else cost(cell) if isinstance(cell, float) else str(cell)


def class_sizes(classes: int, smallest: int | None, unit: Unit = ROWS) -> str:
    """The number of classes and the size of the smallest, as text."""
    if smallest is None:
        return "no classes: every row is suppressed"
    rows = unit.count(smallest)
    return f"1 class of {rows}" if classes == 1 else f"{count(classes)} classes, the smallest with {rows}"


def service_action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser], name: str, text: str, epilog: str
) -> argparse.ArgumentParser:
    """Add an action on a service, with --folder and --json."""
    parser = actions.add_parser(name, help=text, description=text, epilog=epilog)
    parser.add_argument("--folder", metavar="FOLDER", required=True, help="folder of the service")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    return parser


def trust_action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser], name: str, text: str, epilog: str
) -> argparse.ArgumentParser:
    """Add an action on a folder of keys and lists, with --folder and --json."""
    parser = actions.add_parser(name, help=text, description=text, epilog=epilog)
    add_trust_folder(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    return parser


def add_trust_folder(parser: argparse.ArgumentParser) -> None:
    """Add --folder, the folder of keys and lists."""
    parser.add_argument("--folder", metavar="FOLDER", help="folder of keys and lists (default: KOHORTE_FOLDER)")


def add_table_options(
    parser: argparse.ArgumentParser, *, plan: bool = True, json: bool = True, required: bool = True
) -> None:
    """Add the options of most verbs: a table and how to read it, a plan, and --json."""
    parser.add_argument(
        "data", metavar="DATA", nargs=None if required else "?", help="CSV or Parquet file; - is standard input"
    )
    if plan:
        parser.add_argument("--plan", required=True, metavar="PLAN", help="plan file (YAML)")
    parser.add_argument("--separator", metavar="S", help="separator of a CSV file (detected if not given): , ; | tab")
    parser.add_argument("--encoding", metavar="E", help="encoding of a CSV file (UTF-8 if not given), e.g. cp1252")
    if json:
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    add_quiet_option(parser)


def read_data(
    options: argparse.Namespace,
    progress: TerminalProgress | None = None,
    *,
    may_lack_rows: bool = False,
    coded: Collection[str] = (),
) -> TableFile:
    """Read the table as the options say; `-` is standard input. What was understood about its layout is told.

    Columns in `coded` are stored as numbers of texts, for a `FrameSource`.
    """
    if progress is not None:
        progress.reading(options.data)
    from kohorte.data import parse_table, read_table

    layout: Any = {"separator": options.separator, "encoding": options.encoding, "may_lack_rows": may_lack_rows}
    if options.data == STANDARD_INPUT:
        table = parse_table(sys.stdin.buffer.read(), Path("standard input"), **layout, coded=coded)
    else:
        table = read_table(options.data, **layout, coded=coded)
    for note in table.notes:
        print(f"note: {note}", file=sys.stderr)
    return table


def table_in_batches(options: argparse.Namespace) -> TableBatches:
    """The table that the options name, to be read in batches; `-` is standard input."""
    from kohorte.sources.batches import TableBatches

    if options.data == STANDARD_INPUT:
        content = sys.stdin.buffer.read()
        return TableBatches(Path("standard input"), options.separator, options.encoding, content)
    path = Path(options.data)
    content = path.read_bytes() if path.is_fifo() else None  # it can be read only once
    return TableBatches(path, options.separator, options.encoding, content)
