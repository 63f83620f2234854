"""PIDs that are given to a command: as an argument, or, so that no list of processes shows them, from elsewhere."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from kohorte.cli.output import STANDARD_INPUT

IN_A_FILE = "@"
BYTE_ORDER_MARK = "\ufeff"
PID_HELP = "the PID; - reads it from a line of standard input, @FILE from the first line of a file"


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
