"""What cannot be undone is confirmed: by a word that is typed on the terminal, or by --yes."""

from __future__ import annotations

import argparse
import sys

from kohorte.errors import InputError


def add_confirmation(parser: argparse.ArgumentParser) -> None:
    """Add --yes and --dry-run."""
    parser.add_argument("--yes", action="store_true", help="do not ask; it cannot be undone")
    parser.add_argument("--dry-run", action="store_true", help="say what would be destroyed, and destroy nothing")


def confirm(options: argparse.Namespace, what: str, word: str, called: str) -> None:
    """Ask for a word, which the question calls so, unless --yes is given."""
    if options.yes:
        return
    if sys.stdin.isatty():
        print(f"{what}; this cannot be undone. Type {called} to go on:", file=sys.stderr)
        if sys.stdin.readline().strip() == word:
            return
    raise InputError(f"{what}; this was not confirmed, and nothing was done (--yes confirms)", code="not-confirmed")
