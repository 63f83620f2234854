"""`kohorte pseudonymize`: replace a column of a table by pseudonyms of a domain."""

from __future__ import annotations

import argparse
from pathlib import Path

from kohorte.cli.output import add_table_options, print_json, table_in_batches
from kohorte.cli.progress import TerminalProgress
from kohorte.cli.verbs.domain import opened_domains

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl

EPILOG = """\
examples:
  kohorte pseudonymize visits.csv --domain study --column patient --output visits-study.csv --folder trust
  kohorte pseudonymize visits.parquet --domain study --column patient --drop name address --output out.parquet
  kohorte pseudonymize visits.csv --domain study --column patient --shift-dates admission discharge --within 30 \\
      --output out.csv --folder trust

The same value gets the same pseudonym within a domain and key, in every table and on every machine with that key.
Blanks around a value do not count; a row without a value has no pseudonym. All dates of a person are shifted by the
same number of days. Large tables are read in batches. Pseudonymous data are still personal data: to share a table,
anonymize it."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    add_table_options(parser, plan=False)
    parser.add_argument("--domain", required=True, metavar="NAME", help="the domain of the pseudonyms")
    parser.add_argument("--column", required=True, metavar="C", help="the column that names people")
    parser.add_argument("--output", required=True, metavar="OUT", help="where the table goes (.csv or .parquet)")
    parser.add_argument("--folder", metavar="FOLDER", help="folder of keys and lists (default: KOHORTE_FOLDER)")
    parser.add_argument(
        "--only", metavar="TABLE", help="write only rows whose value is in the column of this name of another table"
    )
    parser.add_argument("--drop", nargs="+", default=[], metavar="COLUMN", help="columns that are left out")
    parser.add_argument("--shift-dates", nargs="+", default=[], metavar="COLUMN", help="columns of dates to shift")
    parser.add_argument("--within", type=int, metavar="DAYS", help="dates move by at most so many days (default 365)")
    parser.add_argument("--date-format", metavar="F", help="how dates are written, such as %%d.%%m.%%Y, if not certain")
    parser.add_argument(
        "--key-version", type=int, metavar="N", help="an older version of the key (default: the current)"
    )
    parser.add_argument("--force", action="store_true", help="replace an existing output")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, pseudonymize and write."""
    from kohorte.errors import InputError

    if options.shift_dates == [] and (options.within is not None or options.date_format is not None):
        raise InputError("--within and --date-format can only be used with --shift-dates", code="pseudonym-within")
    domains = opened_domains(options.folder)
    from kohorte.pseudonyms.bulk import Wish, pseudonymize, summary
    from kohorte.trust.log import account

    wish = Wish(
        options.column,
        tuple(options.drop),
        tuple(options.shift_dates),
        365 if options.within is None else options.within,
        options.date_format,
        options.key_version,
        None if options.only is None else _only(options),
    )
    domain = domains.open(options.domain)
    with TerminalProgress.of(options) as progress:
        progress.reading(options.data)
        outcome = pseudonymize(
            table_in_batches(options),
            Path(options.output),
            domain,
            wish,
            force=options.force,
            actor=account(),
            progress=progress,
        )
    if options.json:
        print_json(outcome.to_dict() | {"output": options.output})
        return 0
    for note in outcome.notes:
        print(f"note: {note}")
    for line in summary(outcome):
        print(line)
    print(f"written: {options.output}")
    return 0


def _only(options: argparse.Namespace) -> pl.Series:
    from kohorte.data import read_table
    from kohorte.errors import InputError

    frame = read_table(options.only).frame
    if options.column not in frame.columns:
        raise InputError(f"{options.only}: has no column {options.column!r}", code="pseudonym-column")
    chosen: pl.Series = frame[options.column]
    return chosen
