"""`kohorte folder`: verify, back up and repair a folder of keys and lists, whatever is in it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from kohorte.cli.output import print_json, trust_action
from kohorte.errors import KohorteError
from kohorte.in_words import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.trust.folder import TrustFolder

EPILOG = """\
examples:
  kohorte folder verify --folder trust
  kohorte folder verify --folder trust --head "$(cat head.txt)"          a head that was noted before
  kohorte folder backup --folder trust --output backup-1
  kohorte folder restore --folder restored --from backup-1
  kohorte folder confirm --folder trust --reason "the disk with the database was lost on Monday"

`verify` checks every entry of the log, and that databases and keys are those that the log knows. Note the head that it
prints on another machine: if the whole folder was put back to an older copy, only a head noted before shows it.

A backup has neither the key files nor log.jsonl and log.head: copy these to other places, the log as often as you can.
`restore` needs all of them in the folder, because the log tells who was forgotten after the backup was made.

`confirm` takes a folder as it is after an older copy of its database or log was put back, because nothing newer is
left. Everybody whom the log knows as forgotten is forgotten again, no number is given twice, and TempIDs and requests
for the way back end."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the actions of the verb."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    verify = trust_action(actions, "verify", "verify the log, and what databases and keys say about it", EPILOG)
    verify.add_argument("--head", metavar="HEAD", help="a head noted before (NUMBER:CODE), which must still be in it")
    verify.set_defaults(run=run_verify)
    backup = trust_action(actions, "backup", "copy lists, definitions and requests, without keys and log", EPILOG)
    backup.add_argument("--output", metavar="DIR", required=True, help="a new folder for the backup")
    backup.set_defaults(run=run_backup)
    restore = trust_action(actions, "restore", "put a backup into a folder that has its keys and its log", EPILOG)
    restore.add_argument("--from", metavar="DIR", required=True, dest="source", help="folder of the backup")
    restore.set_defaults(run=run_restore)
    confirm = trust_action(actions, "confirm", "take a folder as it is after an older copy was put back", EPILOG)
    confirm.add_argument("--reason", metavar="TEXT", required=True, help="why; goes into the log")
    confirm.set_defaults(run=run_confirm)


def run_verify(options: argparse.Namespace) -> int:
    """Verify a folder; exit code 1 if something is not as it was written."""
    folder = _opened(options)
    from kohorte.trust.records.heads import head_of

    found = folder.log.verify(None if options.head is None else head_of(options.head))
    problems = list(_problems(folder)) if found.whole else []
    whole = found.whole and not problems
    if options.json:
        print_json({**found.to_dict(), "whole": whole, "problems": problems})
        return 0 if whole else 1
    if found.whole:
        print(f"the log is whole: {count(found.entries, 'entry', 'entries')}")
        if found.first_at is not None and found.last_at is not None:
            print(f"first {found.first_at[:19]} UTC, last {found.last_at[:19]} UTC")
        print(f"head {found.head}")
    else:
        print(f"THE LOG IS NOT WHOLE: entry {found.first_wrong} was changed, added or removed")
    for problem in problems:
        print(f"NOT AS THE LOG SAYS: {problem}")
    return 0 if whole else 1


def run_backup(options: argparse.Namespace) -> int:
    """Make a backup."""
    _opened(options)
    from kohorte.trust.copies.folder_backup import back_up_folder
    from kohorte.trust.folder import TrustFolder

    made = back_up_folder(TrustFolder.opened(options.folder), Path(options.output))
    if options.json:
        print_json(asdict(made))
        return 0
    print(f"{options.output}: {count(made.files, 'file')}, without key files and log")
    print(f"copy these to other places: {', '.join(made.keys)}, log.jsonl and log.head")
    print(f"head {made.head}")
    return 0


def run_restore(options: argparse.Namespace) -> int:
    """Restore a backup; exit code 1 if the folder is not as its log says afterwards."""
    folder = _opened(options)
    from kohorte.trust.copies.folder_backup import restore_folder

    backup, found = restore_folder(folder.path, Path(options.source))
    problems = [*found, *_problems(folder)]
    if options.json:
        print_json({**asdict(backup), "problems": problems})
    else:
        print(f"{folder.path}: the backup of {backup.made_at} was restored")
        for problem in problems:
            print(f"problem: {problem}")
    return 1 if problems else 0


def run_confirm(options: argparse.Namespace) -> int:
    """Take a folder as it is."""
    folder = _opened(options)
    from kohorte.service.trust.confirming import confirm_folder

    done = confirm_folder(folder, reason=options.reason)
    if options.json:
        print_json(asdict(done))
        return 0
    print("the folder is taken as it is, and the log says so")
    entries = count(done.forgotten_entries, "entry", "entries")
    print(f"forgotten again: {entries} of lists, {count(done.forgotten_pids, 'PID')}")
    print(f"declined: {count(done.declined, 'request')} for the way back")
    print(f"head {done.head}")
    return 0


def _opened(options: argparse.Namespace) -> TrustFolder:
    from kohorte.trust.libraries import refuse_missing_libraries

    refuse_missing_libraries()
    from kohorte.trust.folder import TrustFolder

    return TrustFolder.opened(options.folder, unchecked=True)


def _problems(folder: TrustFolder) -> Iterator[str]:
    """What is not as the log says: of domains, patient list and disclosure ledger, as far as they are there."""
    for check in (_check_domains, _check_patients, _check_ledger):
        for step in check(folder):
            try:
                step()
            except KohorteError as error:
                yield f"{error.message} [{error.code}]"


def _check_domains(folder: TrustFolder) -> Iterator[Callable[[], object]]:
    from kohorte.pseudonyms.domains import Domains

    domains = Domains(folder)
    for name in [*domains.names(), *domains.lost()]:
        yield lambda name=name: domains.verify(name)  # type: ignore[misc]


def _check_patients(folder: TrustFolder) -> Iterator[Callable[[], object]]:
    from kohorte.patients.list.tables import NAME
    from kohorte.patients.patient_list import PatientList

    def whole() -> None:
        patients = PatientList(folder)
        try:
            patients.verify()
        finally:
            patients.close()

    if (folder.path / f"{NAME}.key").exists():
        yield whole


def _check_ledger(folder: TrustFolder) -> Iterator[Callable[[], object]]:
    from kohorte.disclosures.ledger import Ledger
    from kohorte.disclosures.tables import NAME

    def whole() -> None:
        ledger = Ledger.open(folder)
        try:
            ledger.refuse_changed()
        finally:
            ledger.close()

    if (folder.path / f"{NAME}.key").exists():
        yield whole
