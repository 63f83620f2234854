"""Passwords that the command asks for: on the terminal, or on standard input, never as an argument."""

from __future__ import annotations

import argparse
import getpass
import sys

from kohorte.errors import InputError


def add_password_option(parser: argparse.ArgumentParser) -> None:
    """Add --password-stdin."""
    parser.add_argument(
        "--password-stdin", action="store_true", help="read the password from the first line of standard input"
    )


def new_password(options: argparse.Namespace) -> str:
    """Ask for a new password, twice on a terminal."""
    password = known_password(options)
    if not options.password_stdin and password != getpass.getpass("once more: "):
        raise InputError("the two passwords differ", code="password-differs")
    return password


def known_password(options: argparse.Namespace) -> str:
    """Ask for a password that the person knows."""
    if options.password_stdin:
        return _first_line()
    if not sys.stdin.isatty():
        raise InputError("there is no terminal to ask on; use --password-stdin", code="password-unasked")
    return getpass.getpass("password: ")


def _first_line() -> str:
    try:
        line = sys.stdin.readline().rstrip("\r\n")
        line.encode()
    except UnicodeError:
        raise InputError("the password on standard input is not in UTF-8", code="password-encoding") from None
    return line
