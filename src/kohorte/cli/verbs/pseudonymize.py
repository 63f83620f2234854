"""`kohorte pseudonymize`: pseudonyms of a domain in a column of a table, or by rules in resources of FHIR."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from kohorte.cli.output import STANDARD_INPUT, add_table_options, print_json, table_in_batches
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
  kohorte pseudonymize export.ndjson --rules rules.yaml --output study.ndjson --folder trust
  kohorte pseudonymize bundle.json --rules rules.yaml --output study.json --folder trust
  kohorte pseudonymize bundle.json --rules rules.yaml --dry-run --folder trust            what the rules keep

The same value gets the same pseudonym within a domain and key, in every table and on every machine with that key.
Blanks around a value do not count; a row without a value has no pseudonym. All dates of a person are shifted by the
same number of days. Large tables are read in batches. Resources of FHIR (.json, .ndjson) need a rule file instead of
--domain and --column. Pseudonymous data are still personal data: to share a table, anonymize it."""
TABLE_ONLY = (
    "domain",
    "column",
    "only",
    "drop",
    "shift_dates",
    "within",
    "date_format",
    "key_version",
    "separator",
    "encoding",
)
"""Options of tables, which a rule file replaces."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    add_table_options(parser, plan=False)
    parser.add_argument("--domain", metavar="NAME", help="the domain of the pseudonyms, for a table")
    parser.add_argument("--column", metavar="C", help="the column that names people, for a table")
    parser.add_argument("--rules", metavar="FILE", help="rule file, for resources of FHIR (.json or .ndjson)")
    goal = parser.add_mutually_exclusive_group(required=True)
    goal.add_argument("--output", metavar="OUT", help="where the table (.csv, .parquet) or the resources go")
    goal.add_argument("--dry-run", action="store_true", help="with --rules: say what the rules keep, and write nothing")
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

    if options.rules is not None:
        return _run_fhir(options)
    if options.dry_run:
        raise InputError("--dry-run is for resources of FHIR, with --rules", code="pseudonym-column")
    if options.domain is None or options.column is None:
        raise InputError(
            "give --domain and --column for a table, or --rules for resources of FHIR", code="pseudonym-column"
        )
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
    return _told(options, outcome.to_dict(), [*(f"note: {note}" for note in outcome.notes), *summary(outcome)])


def _run_fhir(options: argparse.Namespace) -> int:
    """Pseudonymize resources by rules."""
    from kohorte.errors import InputError

    given = [name for name in TABLE_ONLY if getattr(options, name) not in (None, [])]
    if given:
        raise InputError(
            f"--{given[0].replace('_', '-')} is for tables; with --rules, the rule file says what happens",
            code="fhir-rules",
        )
    domains = opened_domains(options.folder)
    from kohorte.pseudonyms.fhir.files import pseudonymize_fhir, rehearse_fhir
    from kohorte.pseudonyms.fhir.rules import Rules
    from kohorte.trust.log import account

    rules = Rules.from_yaml(Path(options.rules))
    is_piped = options.data == STANDARD_INPUT
    path, content = (None, sys.stdin.buffer) if is_piped else (Path(options.data), None)
    with TerminalProgress.of(options) as progress:
        progress.reading(options.data)
        if options.dry_run:
            outcome = rehearse_fhir(path, rules, domains, content=content, progress=progress)
        else:
            outcome = pseudonymize_fhir(
                path,
                Path(options.output),
                rules,
                domains,
                content=content,
                force=options.force,
                actor=account(),
                progress=progress,
            )
    _told(options, outcome.to_dict(), outcome.in_words)
    return 1 if outcome.kept.verdict == "red" else 0


def _told(options: argparse.Namespace, figures: dict[str, object], lines: list[str]) -> int:
    """Tell what was done, as JSON or in sentences."""
    if options.json:
        print_json(figures | ({"dry_run": True} if options.dry_run else {"output": options.output}))
        return 0
    for line in (*lines, "dry run: nothing was written" if options.dry_run else f"written: {options.output}"):
        print(line)
    return 0


def _only(options: argparse.Namespace) -> pl.Series:
    from kohorte.data import read_table
    from kohorte.errors import InputError

    frame = read_table(options.only, may_lack_rows=True).frame
    if options.column not in frame.columns:
        raise InputError(f"{options.only}: has no column {options.column!r}", code="pseudonym-column")
    chosen: pl.Series = frame[options.column]
    return chosen
