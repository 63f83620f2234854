"""The actions of `kohorte exchange statistics`: import tables of frequencies, list them, say what is old or missing."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from kohorte.cli.output import print_json, print_table, trust_action
from kohorte.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.exchange.statistics import StatisticsFolder, StatisticsTable

NEEDED = ("name", "kind", "source", "licence", "date", "reference")


def add_statistics_actions(actions: argparse._SubParsersAction[argparse.ArgumentParser], epilog: str) -> None:
    """Add `statistics` with its three actions."""
    text = "statistics of the world"
    below = actions.add_parser("statistics", help=text, description=text, epilog=epilog)
    own = below.add_subparsers(dest="statistics_action", metavar="ACTION", required=True)
    add = trust_action(own, "import", "import a table of frequencies as a new version", epilog)
    add.add_argument("file", metavar="FILE", nargs="?", help="CSV file")
    add.add_argument("--shipped", action="store_true", help="import the tables that come with Kohorte")
    add.add_argument("--name", metavar="NAME", help="name of the table, such as diseases-at")
    add.add_argument("--kind", metavar="KIND", help="what its values are, such as disease")
    add.add_argument("--source", metavar="TEXT", help="who publishes the figures")
    add.add_argument("--licence", metavar="TEXT", help="under which licence")
    add.add_argument("--date", metavar="DATE", help="day to which the figures refer")
    add.add_argument("--reference", metavar="TEXT", help="whom the figures are about")
    add.add_argument("--population", type=int, metavar="N", help="size of the reference population, for counts")
    add.add_argument("--precision", metavar="TEXT", help="how the figures are rounded, and what is an estimate")
    add.add_argument("--layout", metavar="LAYOUT", help="layout of an official table: icd10, age-pyramid, occupations")
    add.set_defaults(run=run_import)
    trust_action(own, "list", "list all tables and versions", epilog).set_defaults(run=run_list)
    check = trust_action(own, "check", "say what is old and what is missing; exit code 1 if anything is", epilog)
    check.add_argument("--policy", default="default", metavar="POLICY", help="policy that says what is too old")
    check.set_defaults(run=run_check)


def run_import(options: argparse.Namespace) -> int:
    """Import a table, or those that come with Kohorte."""
    from kohorte.exchange.statistics import shipped_statistics

    tables = list(shipped_statistics().tables) if options.shipped else [_table(options)]
    folder = _folder(options, create=True)
    made = [folder.add(table) for table in tables]
    if options.json:
        print_json({"imported": [one.to_dict() for one in made]})
    else:
        for one in made:
            print(f"{one.origin.name} version {one.version}: {one.entries} entries of the kind {one.origin.kind}")
    return 0


def _table(options: argparse.Namespace) -> StatisticsTable:
    from kohorte.exchange.statistics import Origin, kind_of_layout, read_official, read_statistics

    if options.layout is not None:
        options.kind = options.kind or kind_of_layout(options.layout)
    missing = [name for name in NEEDED if getattr(options, name) is None]
    if options.file is None or missing:
        raise InputError(
            f"give a FILE and {', '.join('--' + name for name in missing or NEEDED)}, or --shipped",
            code="exchange-statistics-origin",
        )
    origin = Origin.from_dict({name: getattr(options, name) for name in (*NEEDED, "population", "precision")})
    if options.layout is None:
        return read_statistics(options.file, origin)
    return read_official(options.file, options.layout, origin)


def run_list(options: argparse.Namespace) -> int:
    """List all versions."""
    versions = _folder(options).versions()
    if options.json:
        print_json({"versions": [one.to_dict() for one in versions]})
        return 0
    rows = [(one.origin.name, one.version, one.origin.kind, one.entries, one.origin.date) for one in versions]
    if rows:
        print_table(["name", "version", "kind", "entries", "figures of"], rows)
    else:
        print("no statistics were imported")
    return 0


def run_check(options: argparse.Namespace) -> int:
    """Say what is old and what is missing."""
    from pathlib import Path

    from kohorte.exchange.policies import POLICIES, CheckPolicy

    named = options.policy in POLICIES or not Path(options.policy).exists()
    policy = CheckPolicy.named(options.policy) if named else CheckPolicy.from_yaml(options.policy)
    folder = _folder(options)
    folder.statistics()  # reads every table and compares it with its hash
    problems = folder.problems(oldest_years=policy.statistics_years, today=datetime.now(UTC).date())
    if options.json:
        print_json({"problems": problems})
    else:
        for problem in problems or ["nothing is old, and no kind is missing"]:
            print(problem)
    return 1 if problems else 0


def _folder(options: argparse.Namespace, *, create: bool = False) -> StatisticsFolder:
    from kohorte.exchange.statistics import StatisticsFolder
    from kohorte.trust.folder import TrustFolder
    from kohorte.trust.libraries import refuse_missing_libraries

    refuse_missing_libraries()
    return StatisticsFolder(TrustFolder.opened(options.folder, create=create).path / "statistics")
