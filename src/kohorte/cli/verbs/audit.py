"""`kohorte audit`: show and verify the audit log of the research service."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from kohorte.cli.output import print_json, print_table, service_action
from kohorte.errors import InputError
from kohorte.in_words import count
from kohorte.service.processes.opening import opened

EPILOG = """\
examples:
  kohorte audit verify --folder service
  kohorte audit verify --folder service --head "$(cat head.txt)"        a head that was noted before
  kohorte audit show --folder service --limit 50

Note the head that `verify` prints on another machine. Entries that were changed, added or removed are detected by their
codes; if the last entries were cut off, comparison with a head noted before shows it (--head)."""
MOST_SHOWN = 1_000_000


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb and its two actions."""
    parser = verbs.add_parser("audit", help="the audit log of the research service", description=__doc__, epilog=EPILOG)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    verify = service_action(actions, "verify", "verify every entry of the log", EPILOG)
    verify.add_argument("--head", metavar="HEAD", help="a head noted before (NUMBER:CODE), which must still be in it")
    show = service_action(actions, "show", "print the last entries, the newest first", EPILOG)
    show.add_argument("--limit", metavar="N", type=int, default=20, help="how many (20)")
    verify.set_defaults(run=run_verify)
    show.set_defaults(run=run_show)


def run_verify(options: argparse.Namespace) -> int:
    """Verify the chain; exit code 1 if it is not whole."""
    with opened(options.folder) as service:
        from kohorte.service.audit import verify_log
        from kohorte.service.audit_reading import noted_head

        expected = None if options.head is None else noted_head(options.head)
        found = verify_log(service.database, service.log, expected=expected)
    if options.json:
        print_json(found.to_dict())
    elif found.whole:
        print(f"the log is whole: {count(found.entries, 'entry', 'entries')}")
        print(f"head {found.head}")
    elif found.first_wrong is not None:
        print(f"THE LOG IS NOT WHOLE: entry {found.first_wrong} was changed, added or removed")
    else:
        print("THE ACCOUNTS DO NOT AGREE WITH THE LOG of what was spent")
    return 0 if found.whole else 1


def run_show(options: argparse.Namespace) -> int:
    """Print the last entries."""
    if not 0 < options.limit <= MOST_SHOWN:
        raise InputError(f"--limit: is a number from 1 to {MOST_SHOWN}", code="audit-limit")
    with opened(options.folder) as service:
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
