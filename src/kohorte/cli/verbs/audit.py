"""`kohorte audit`: show and verify the audit log of the research service."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from kohorte.cli.output import print_json, print_table, service_action
from kohorte.errors import InputError
from kohorte.in_words import count
from kohorte.service.processes.opening import opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.service.audit import LogCheck
    from kohorte.service.integrity.verification import Verification

EPILOG = """\
examples:
  kohorte audit verify --folder service
  kohorte audit verify --folder service --head "$(cat head.txt)"        a head that was noted before
  kohorte audit show --folder service --limit 50

`verify` checks every entry of the log, and every account, role, project, dataset, approval and budget: it names the
rows that were changed, put back to an older state, or removed outside the service. Note the head that it prints on
another machine: if database, spent.log and state.log were put back together, only a head noted before shows it."""
MOST_SHOWN = 1_000_000


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the two actions of the verb."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    verify = service_action(actions, "verify", "verify every entry of the log, and every marked row", EPILOG)
    verify.add_argument("--head", metavar="HEAD", help="a head noted before (NUMBER:CODE), which must still be in it")
    show = service_action(actions, "show", "print the last entries, the newest first", EPILOG)
    show.add_argument("--limit", metavar="N", type=int, default=20, help="how many (20)")
    verify.set_defaults(run=run_verify)
    show.set_defaults(run=run_show)


def run_verify(options: argparse.Namespace) -> int:
    """Verify the chain and the marked rows; exit code 1 if something is not as the service wrote it."""
    with opened(options.folder, lenient=True) as service:
        from kohorte.service.audit_reading import noted_head
        from kohorte.service.integrity.verification import verify
        from kohorte.service.key_rotation import SEALED

        expected = None if options.head is None else noted_head(options.head)
        found = verify(service.database, service.log, service.guard, SEALED, expected=expected)
    if options.json:
        print_json(found.to_dict())
    else:
        _print_log(found.log)
        _print_rows(found)
    return 0 if found.whole else 1


def _print_log(log: LogCheck) -> None:
    if log.whole:
        print(f"the log is whole: {count(log.entries, 'entry', 'entries')}")
        print(f"head {log.head}")
    elif log.first_wrong is not None:
        print(f"THE LOG IS NOT WHOLE: entry {log.first_wrong} was changed, added or removed")
    else:
        print("THE ACCOUNTS DO NOT AGREE WITH THE LOG of what was spent")


def _print_rows(found: Verification) -> None:
    if found.state is not None:
        print(f"STATE.LOG AND DATABASE DO NOT FIT: {found.state}")
    for row in found.rows:
        print(f"NOT AS THE SERVICE WROTE IT: {row.table} {row.id} ({row.problem})")


def run_show(options: argparse.Namespace) -> int:
    """Print the last entries."""
    if not 0 < options.limit <= MOST_SHOWN:
        raise InputError(f"--limit: is a number from 1 to {MOST_SHOWN}", code="audit-limit")
    with opened(options.folder, lenient=True) as service:
        from kohorte.service.audit_reading import listed

        entries, total = listed(service.database, limit=options.limit)
    if options.json:
        print_json({"entries": entries, "total": total})
    elif entries:
        shown = ("number", "at", "actor_id", "action", "object", "details")
        lines = [[_cell(entry[name]) for name in shown] for entry in entries]
        print_table(["number", "at", "actor", "action", "object", "details"], lines)
    else:
        print("the log is empty")
    return 0


def _cell(value: object) -> object:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={_cell(part)}" for name, part in value.items())
    return "" if value is None else value
