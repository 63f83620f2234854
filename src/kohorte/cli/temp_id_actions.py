"""`kohorte patients temp-id`: tokens that stand for a person for some minutes, once."""

from __future__ import annotations

import argparse
from pathlib import Path

from kohorte.cli.given_pseudonyms import add_pid, entered_line, given_pid
from kohorte.cli.output import add_table_options, add_trust_folder, print_json, read_data
from kohorte.cli.patients_actions import Actions, add_action, opened_list, refuse_missing_libraries
from kohorte.errors import InputError
from kohorte.in_words import count

EPILOG = """\
examples:
  kohorte patients register admissions.csv --temp-ids-for database --output for-database.csv --folder trust
  kohorte patients temp-id issue @pid.txt --for database --folder trust
  kohorte patients temp-id resolve for-database.csv --for database --output with-pids.csv --folder trust
  kohorte patients temp-id resolve --for database --folder trust < token.txt

A TempID is for one recipient, works once, and ends after 15 minutes. 'resolve' without a table reads one TempID from
standard input, so that it is not in the list of processes."""
COLUMN = "temp_id"


def add_temp_id_actions(actions: Actions[argparse.ArgumentParser]) -> None:
    """Add the two actions."""
    text = "tokens that stand for a person for some minutes, once"
    parser = actions.add_parser("temp-id", help=text, description=text, epilog=EPILOG)
    own = parser.add_subparsers(dest="temp_id_action", metavar="ACTION", required=True)
    issue = add_action(own, "issue", "make a TempID for a person", run_issue, epilog=EPILOG)
    add_pid(issue)
    issue.add_argument("--minutes", type=int, default=15, metavar="N", help="how long it is valid (default 15)")
    text = "turn TempIDs into PIDs, all or none, once"
    resolve = own.add_parser("resolve", help=text, description=text, epilog=EPILOG)
    add_table_options(resolve, plan=False, required=False)
    add_trust_folder(resolve)
    resolve.add_argument("--column", default=COLUMN, metavar="C", help=f"the column of TempIDs (default {COLUMN})")
    resolve.add_argument("--output", metavar="OUT", help="the table with PIDs in place of TempIDs")
    resolve.add_argument("--force", action="store_true", help="replace an existing output file")
    resolve.set_defaults(run=run_resolve)
    for action in (issue, resolve):
        action.add_argument("--for", required=True, dest="target", metavar="WHOM", help="the recipient of the TempID")


def run_issue(options: argparse.Namespace) -> int:
    """Print a TempID."""
    with opened_list(options) as patients:
        from kohorte.patients.temp_ids import TempIds

        (token,) = TempIds(patients).issue([given_pid(options.pid)], target=options.target, minutes=options.minutes)
    if options.json:
        print_json({"temp_id": token, "for": options.target, "minutes": options.minutes})
    else:
        print(token)
    return 0


def run_resolve(options: argparse.Namespace) -> int:
    """Turn TempIDs into PIDs."""
    if (options.data is None) != (options.output is None):
        raise InputError("a table needs --output, and --output needs a table", code="temp-id-table")
    return _resolve_one(options) if options.data is None else _resolve_table(options)


def _resolve_one(options: argparse.Namespace) -> int:
    token = entered_line()
    with opened_list(options) as patients:
        from kohorte.patients.temp_ids import TempIds

        (pid,) = TempIds(patients).resolve([token], target=options.target)
    if options.json:
        print_json({"pid": pid})
    else:
        print(pid)
    return 0


def _resolve_table(options: argparse.Namespace) -> int:
    refuse_missing_libraries()
    from kohorte.data import refuse_format, write_table
    from kohorte.data.files import refuse_output
    from kohorte.patients.temp_ids import resolved_table

    refuse_format(Path(options.output))
    refuse_output(Path(options.output), force=options.force)
    table = read_data(options, may_lack_rows=True)
    with opened_list(options) as patients:
        resolved = resolved_table(table.frame, options.column, patients, options.target)
    write_table(resolved, options.output, like=table, force=options.force, private=True)
    if options.json:
        print_json({"rows": resolved.height, "output": options.output})
    else:
        print(f"TempIDs of {count(resolved.height, 'row')} resolved: {options.output}")
    return 0
