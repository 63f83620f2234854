"""PIDs and pseudonyms that are given to a command: one by one, or as a column of a table.

What is an argument is seen in the list of processes; therefore all can also come from standard input or from a file.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kohorte.cli.output import STANDARD_INPUT
from kohorte.errors import InputError

_NUMBERED = re.compile("(?:pseudonym|PID) ([0-9]+)(?=:)")

IN_A_FILE = "@"
BYTE_ORDER_MARK = "\ufeff"
PID_HELP = "the PID; - reads it from a line of standard input, @FILE from the first line of a file"


def add_pseudonym_options(parser: argparse.ArgumentParser) -> None:
    """Add --pseudonym, --file and --column."""
    parser.add_argument(
        "--pseudonym",
        action="append",
        default=[],
        metavar="P",
        help="a pseudonym; may be repeated; - reads all lines of standard input (seen in no list of processes)",
    )
    parser.add_argument("--file", metavar="TABLE", help="CSV or Parquet file that has the pseudonyms")
    parser.add_argument("--column", metavar="C", help="the column of --file that has them")


def given_pseudonyms(options: argparse.Namespace) -> list[str]:
    """All pseudonyms that the options name, in the order of their options and rows."""
    return [text for _, text in _placed(options)]


@contextmanager
def named_places(options: argparse.Namespace) -> Iterator[None]:
    """Let an error about the n-th pseudonym say where it was given: in which row of the file."""
    try:
        yield
    except InputError as error:
        found = _NUMBERED.match(error.message)
        if found is None:
            raise
        place, _ = _placed(options)[int(found[1]) - 1]
        raise InputError(place + error.message[found.end() :], code=error.code) from None


def _placed(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Each pseudonym after its place in words."""
    if (options.file is None) != (options.column is None):
        raise InputError("--file and --column belong together", code="way-back-pseudonyms")
    _read_standard_input(options)
    given = [(f"--pseudonym {number}", text) for number, text in enumerate(options.pseudonym, start=1)]
    if options.file is None:
        return given
    from kohorte.data import read_table

    table = read_table(options.file)
    if options.column not in table.frame.columns:
        raise InputError(f"{options.file}: has no column {options.column!r}", code="way-back-pseudonyms")
    rows = enumerate(table.frame[options.column], start=1)
    return given + [(f"{options.file}, row {row}", str(value)) for row, value in rows if value is not None]


def _read_standard_input(options: argparse.Namespace) -> None:
    """Put the lines of standard input in place of the one `-`; they can be read only once."""
    if STANDARD_INPUT in options.pseudonym:
        lines = [line.removeprefix(BYTE_ORDER_MARK).strip() for line in sys.stdin]
        others = [text for text in options.pseudonym if text != STANDARD_INPUT]
        options.pseudonym = [*others, *filter(None, lines)]


def add_pid(parser: argparse.ArgumentParser, name: str = "pid", *, text: str = "", optional: bool = False) -> None:
    """Add a PID as an argument; `text` says which one."""
    which = f"{text}: {PID_HELP}" if text else PID_HELP
    metavar = "OTHER" if name == "other_pid" else "PID"
    if optional:
        parser.add_argument(name, metavar=metavar, nargs="?", help=which)
    else:
        parser.add_argument(name, metavar=metavar, help=which)


def given_pid(argument: str) -> str:
    """The PID that an argument names."""
    if argument == STANDARD_INPUT:
        if sys.stdin.isatty():
            print("PID:", file=sys.stderr)
        return entered_line()
    if argument.startswith(IN_A_FILE):
        from kohorte.data.files import read_text

        lines = read_text(Path(argument.removeprefix(IN_A_FILE)), what="file with a PID", code="file-unreadable")
        return lines.partition("\n")[0].strip()
    return argument


def entered_line() -> str:
    """A line of standard input, without the mark with which some programs begin a file."""
    return sys.stdin.readline().removeprefix(BYTE_ORDER_MARK).strip()
