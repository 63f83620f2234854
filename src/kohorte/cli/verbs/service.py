"""`kohorte service`: the operation of the research service: its key, its backups, and its log of spendings."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

from kohorte.cli.output import print_json, service_action
from kohorte.service.processes.opening import opened, refuse_missing_libraries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.service.projects.spendings import Standing

EPILOG = """\
examples:
  kohorte service status --folder service
  kohorte service rotate-key --folder service
  kohorte service backup --folder service --output /backups/monday
  kohorte service restore --folder service --from /backups/monday
  kohorte service confirm-spent --folder service --reason "the disk with spent.log was lost on Monday"
  kohorte service confirm-rows --folder service --reason "the disk with state.log was lost on Monday"
  kohorte service confirm-parts --folder service --reason "the patient list of Sunday was put back"

A backup holds neither the key (keys/master.key) nor spent.log and state.log: copy all three to other places. When a
backup is restored, spent.log has to be the newest one: it tells what was spent after the backup was made."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the seven actions of the verb."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    status = service_action(actions, "status", "print the state of key, locked files and log of spendings", EPILOG)
    rotate = service_action(actions, "rotate-key", "replace the master key, or finish replacing it", EPILOG)
    backup = service_action(actions, "backup", "copy database and locked files, while the service goes on", EPILOG)
    backup.add_argument("--output", metavar="DIR", required=True, help="a new folder for the backup")
    restore = service_action(actions, "restore", "put a backup into an empty folder", EPILOG)
    restore.add_argument("--from", metavar="DIR", required=True, dest="source", help="folder of the backup")
    restore.add_argument("--old-key", metavar="F", help="key file of the backup, if the key was replaced since")
    confirm = service_action(actions, "confirm-spent", "begin a new spent.log when the old one is lost", EPILOG)
    rows = service_action(actions, "confirm-rows", "accept the database as it is, and begin a new state.log", EPILOG)
    parts = service_action(actions, "confirm-parts", "take older folders of patient list and pseudonyms", EPILOG)
    for one in (confirm, rows, parts):
        one.add_argument("--reason", metavar="TEXT", required=True, help="why; goes into the audit log")
    runs = (run_rotate_key, run_backup, run_restore, run_status, run_confirm_spent, run_confirm_rows, run_confirm_parts)
    for action, run in zip((rotate, backup, restore, status, confirm, rows, parts), runs, strict=True):
        action.set_defaults(run=run)


def run_rotate_key(options: argparse.Namespace) -> int:
    """Replace the master key."""
    with opened(options.folder) as service:
        from kohorte.service.key_rotation import rotate

        done = rotate(service, _silent if options.json else _progress)
    if options.json:
        print_json(asdict(done))
        return 0
    sealed = f"{done.texts:,} texts and {done.files:,} files were sealed again, {done.rows:,} rows were marked again"
    print(f"the key is now {done.key}; {sealed}")
    if done.damaged:
        print(f"{done.damaged:,} were damaged before and cannot be opened with any key")
    print(f"Copy {service.settings.key_path} to where you keep the key. All users must sign in again.")
    return 0


def run_backup(options: argparse.Namespace) -> int:
    """Make a backup."""
    with opened(options.folder) as service:
        from kohorte.service.backup import make_backup

        made = make_backup(service, Path(options.output))
    if options.json:
        print_json(asdict(made))
    else:
        without = f"without key ({made.key}), spent.log and state.log"
        print(f"{options.output}: the database and {made.files:,} locked files, {without}")
        print(f"audit head {made.audit_head}")
        if made.part_heads:
            names = " and ".join(made.part_heads)
            print(f"note: {names} are in it without key files and logs; copy these separately")
    return 0


def run_restore(options: argparse.Namespace) -> int:
    """Restore a backup; exit code 1 if queries are refused afterwards, or folders of parts do not belong to it."""
    refuse_missing_libraries()
    from kohorte.service.backup import restore
    from kohorte.service.settings import Settings

    old_key = None if options.old_key is None else Path(options.old_key)
    done = restore(Settings.load(Path(options.folder)), Path(options.source), old_key=old_key)
    if options.json:
        print_json(asdict(done))
    else:
        print(f"{options.folder}: the backup of {done.backup.made_at} was restored")
        if done.spendings.problem is None:
            print(f"spendings after the backup, entered from spent.log: {done.spendings.missing:,}")
        _print_problem(done.spendings)
        for problem in done.parts:
            print(f"problem: {problem}")
    return 0 if done.spendings.problem is None and not done.parts else 1


def run_status(options: argparse.Namespace) -> int:
    """Print the state; exit code 1 if something has to be done."""
    with opened(options.folder, lenient=True) as service:
        from kohorte.service.integrity.verification import state_problem
        from kohorte.service.key_rotation import is_unfinished
        from kohorte.service.projects.ruled_projects import broken_rules
        from kohorte.service.projects.spendings import standing
        from kohorte.service.trust.heads import older_parts

        key, unfinished, log = service.vault.ring.current.id.hex(), is_unfinished(service.vault.ring), standing(service)
        files, state = len(service.vault.names()), state_problem(service.guard)
        rules, broken = service.settings.rules.to_dict(), broken_rules(service)
        older = {} if state is not None else {str(part): problem for part, problem in older_parts(service).items()}
    if options.json:
        facts = {"key": key, "rotation_unfinished": unfinished, "files": files, "spent_log": asdict(log)}
        facts |= {"rules": rules, "broken_rules": [one.to_dict() for one in broken]}
        print_json({**facts, "state_log": state, "parts": older})
    else:
        print(f"key {key}" + (", being replaced: run kohorte service rotate-key again" if unfinished else ""))
        print(f"locked files {files:,}")
        print(f"spent.log head {log.head}" + (f", {log.missing:,} not in the database yet" if log.missing else ""))
        for rule, value in rules.items():
            print(f"rule {rule}: {_rule_in_words(value)}")
        for one in broken:
            print(one)
        _print_problem(log)
        if state is not None:
            print(f"THE SERVICE DOES NOT START: {state}")
        for problem in older.values():
            print(f"A PART IS REFUSED: {problem}")
    return int(unfinished or log.problem is not None or bool(broken) or state is not None or bool(older))


def run_confirm_spent(options: argparse.Namespace) -> int:
    """Begin a new log of spendings."""
    with opened(options.folder) as service:
        from kohorte.service.projects.spendings import confirm, standing

        entered = confirm(service, reason=options.reason)
        head = standing(service).head
    if options.json:
        print_json({"head": head, "entered": entered})
    else:
        print(f"spendings entered from the readable part of the old log: {entered:,}")
        print(f"a new spent.log begins with the spendings in the database\nspent.log head {head}")
    return 0


def run_confirm_rows(options: argparse.Namespace) -> int:
    """Accept the rows of the database as they are."""
    with opened(options.folder, lenient=True) as service:
        from kohorte.service.integrity.marking import confirm
        from kohorte.service.integrity.verification import wrong_rows

        wrong = wrong_rows(service.database, service.guard)
        count = confirm(service.database, service.guard, service.log, reason=options.reason)
    if options.json:
        print_json({"rows": count, "wrong": [asdict(row) for row in wrong]})
    else:
        for row in wrong:
            print(f"accepted although it was not as the service wrote it: {row.table} {row.id} ({row.problem})")
        print(f"{count:,} rows are accepted as they are; a new state.log begins")
    return 0


def run_confirm_parts(options: argparse.Namespace) -> int:
    """Take older folders of parts as they are."""
    with opened(options.folder) as service:
        from kohorte.service.trust.confirming import confirm_parts

        done = confirm_parts(service, reason=options.reason)
    if options.json:
        print_json({"parts": {part: asdict(one) for part, one in done.items()}})
        return 0
    for part, one in done.items():
        print(f"{part}: is taken as it is; {one.declined:,} requests for the way back were declined")
        print(f"{one.forgotten_entries + one.forgotten_pids:,} entries were forgotten again\nhead {one.head}")
    if not done:
        print("no part is older than the service knows")
    return 0


def _rule_in_words(value: object) -> str:
    if isinstance(value, list):
        return "; ".join(map(_rule_in_words, value)) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{key} {part}" for key, part in value.items())
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _print_problem(log: Standing) -> None:
    if log.problem is not None:
        print(f"QUERIES ARE REFUSED: {log.problem}")


def _progress(part: str, done: int, of: int) -> None:
    print(f"{part}: {done:,} of {of:,}", file=sys.stderr)


def _silent(part: str, done: int, of: int) -> None:
    del part, done, of
