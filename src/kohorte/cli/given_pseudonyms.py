"""Pseudonyms that are given to a command: one by one, or as a column of a table."""

from __future__ import annotations

import argparse

from kohorte.errors import InputError


def add_pseudonym_options(parser: argparse.ArgumentParser) -> None:
    """Add --pseudonym, --file and --column."""
    parser.add_argument("--pseudonym", action="append", default=[], metavar="P", help="a pseudonym; may be repeated")
    parser.add_argument("--file", metavar="TABLE", help="CSV or Parquet file that has the pseudonyms")
    parser.add_argument("--column", metavar="C", help="the column of --file that has them")


def given_pseudonyms(options: argparse.Namespace) -> list[str]:
    """All pseudonyms that the options name."""
    if (options.file is None) != (options.column is None):
        raise InputError("--file and --column belong together", code="way-back-pseudonyms")
    if options.file is None:
        return list(options.pseudonym)
    from kohorte.data import read_table

    table = read_table(options.file)
    if options.column not in table.frame.columns:
        raise InputError(f"{options.file}: has no column {options.column!r}", code="way-back-pseudonyms")
    return [*options.pseudonym, *(str(value) for value in table.frame[options.column].drop_nulls())]
