"""`kohorte patients`: the patient list; one PID per person, also if people are described with errors."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kohorte.cli.confirmation import add_confirmation, confirm
from kohorte.cli.consent_actions import add_consent_actions
from kohorte.cli.given_pseudonyms import add_pid, given_pid
from kohorte.cli.output import add_table_options, add_trust_folder, print_json, read_data
from kohorte.cli.patients_actions import Actions, add_action, opened_list, refuse_missing_libraries
from kohorte.cli.patients_output import (
    print_case,
    print_cases,
    print_history,
    print_registrations,
    print_side_by_side,
)
from kohorte.cli.progress import TerminalProgress
from kohorte.cli.temp_id_actions import add_temp_id_actions
from kohorte.errors import InputError
from kohorte.in_words import count
from kohorte.progress import Stage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.patients.patient_list import PatientList

EPILOG = """\
examples:
  kohorte patients register admissions.csv --folder trust --output with-pids.csv
  kohorte patients register admissions.csv --folder trust --dry-run                  what would happen
  kohorte patients register old.csv --folder trust --field last_name=FAMNAME --field birth_date=GEB
  kohorte patients match --folder trust                                              cases for a person to decide
  kohorte patients match 17 --show --folder trust                                    both descriptions side by side
  kohorte patients decide 17 same --folder trust                                     or different
  kohorte patients history - --folder trust                                          asks for the PID
  kohorte patients split @pid.txt --record 2 --folder trust                          undo a wrong 'same'
  kohorte patients merge - - --folder trust < two-pids.txt                           undo a wrong 'different'
  kohorte patients forget @pid.txt --folder trust                                    for good; asks before
  kohorte patients register admissions.csv --temp-ids-for database --output for-database.csv --folder trust
  kohorte patients temp-id resolve for-database.csv --for database --output with-pids.csv --folder trust
  kohorte patients consent give @pid.txt --purpose diabetes-research --until 2031-12-31 --folder trust
  kohorte patients consent filter with-pids.csv --purpose diabetes-research --project p7 --output out.csv --folder trust
  kohorte patients consent withdraw @pid.txt --folder trust
  kohorte patients encode --secret shared.key --output ours.csv --keep ids.csv --folder trust
  kohorte patients compare ours.csv theirs.csv --output pairs.csv                    by a third party, without names

The folder has the key (patients.key) and the list. Without --folder it is the one in KOHORTE_FOLDER. Names are shown by
'match CASE --show' only. The output of 'register' has the PIDs in place of the columns that say who a person is."""


COMPARE = "find people who are in two encoded lists; needs no key and no folder"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the actions of the verb."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _add_register(actions)
    match = _action(actions, "match", "list the cases that a person has to decide, or show one", run_match)
    match.add_argument("case", metavar="CASE", type=int, nargs="?", help="number of a case")
    match.add_argument("--show", action="store_true", help="show the identity data of the case side by side")
    decide = _action(actions, "decide", "decide whether a case is about one person", run_decide)
    decide.add_argument("case", metavar="CASE", type=int, help="number of a case")
    decide.add_argument("verdict", choices=("same", "different"), help="one person or two")
    decide.add_argument("--show", action="store_true", help="show the identity data of the case side by side, too")
    decide.add_argument("--dry-run", action="store_true", help="say what would follow, and decide nothing")
    split = _action(actions, "split", "give records of a person to a person of their own", run_split)
    add_pid(split)
    split.add_argument(
        "--record", metavar="N", type=int, action="append", required=True, help="number of a record in 'history'"
    )
    merge = _action(actions, "merge", "make two people one", run_merge)
    add_pid(merge, text="stays")
    add_pid(merge, "other_pid", text="stands for the same person from now on")
    history = _action(actions, "history", "show what happened to a PID, without names", run_history)
    add_pid(history)
    forget = _action(actions, "forget", "destroy identity data and link of a person for good", run_forget)
    add_pid(forget)
    add_confirmation(forget)
    _action(actions, "rotate-key", "seal the list with a new version of its key", run_rotate_key)
    encode = _action(
        actions, "encode", "encode the list, so that a third party can compare it with another", run_encode
    )
    encode.add_argument("--secret", metavar="FILE", required=True, help="key that both houses share; made if missing")
    encode.add_argument("--output", metavar="OUT", required=True, help="encoded list for the third party (.csv)")
    encode.add_argument("--keep", metavar="IDS", required=True, help="PID of each identifier, which stays here (.csv)")
    encode.add_argument("--force", action="store_true", help="replace existing output files")
    compare = actions.add_parser("compare", help=COMPARE, description=COMPARE, epilog=EPILOG)
    compare.add_argument("one", metavar="ONE", help="encoded list of one house")
    compare.add_argument("other", metavar="OTHER", help="encoded list of the other house")
    compare.add_argument("--output", metavar="OUT", required=True, help="pairs of identifiers (.csv)")
    compare.add_argument("--force", action="store_true", help="replace an existing output file")
    compare.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    compare.set_defaults(run=run_compare)
    add_temp_id_actions(actions)
    add_consent_actions(actions)


def _add_register(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = "give every person of a table a PID: new, known, or grey until somebody decides"
    register = actions.add_parser("register", help=text, description=text, epilog=EPILOG)
    add_table_options(register, plan=False)
    add_trust_folder(register)
    register.add_argument(
        "--field", metavar="FIELD=COLUMN", action="append", default=[], help="which column holds a field"
    )
    goal = register.add_mutually_exclusive_group()
    goal.add_argument("--output", metavar="OUT", help="write the table with PIDs, without identity data")
    goal.add_argument("--dry-run", action="store_true", help="compare and count, and store nothing")
    register.add_argument(
        "--temp-ids-for", metavar="WHOM", help="the output has TempIDs for this recipient in place of PIDs"
    )
    register.add_argument("--force", action="store_true", help="replace an existing output file")
    register.set_defaults(run=run_register)


def _action(
    actions: Actions[argparse.ArgumentParser], name: str, text: str, run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    return add_action(actions, name, text, run, epilog=EPILOG)


@contextmanager
def _opened_to_register(options: argparse.Namespace) -> Iterator[PatientList]:
    """Open the list; a dry run on a folder that does not exist yet uses an empty one that vanishes."""
    if not options.dry_run or not _is_to_be_made(options.folder):
        with opened_list(options, create=not options.dry_run) as patients:
            yield patients
        return
    with tempfile.TemporaryDirectory() as folder:
        options.folder = str(Path(folder) / "empty")
        with opened_list(options, create=True) as patients:
            yield patients


def _is_to_be_made(folder: str | None) -> bool:
    """Whether the folder does not exist yet, and its list would not be in a database elsewhere."""
    from kohorte.trust import folder as folders
    from kohorte.trust import store

    name = folder if folder is not None else os.environ.get(folders.ENVIRONMENT)
    return bool(name) and not Path(str(name)).exists() and not os.environ.get(store.ENVIRONMENT)


def run_register(options: argparse.Namespace) -> int:
    """Register a table; exit code 1 if rows got no PID because they say too little."""
    with TerminalProgress.of(options) as progress:
        progress.stage(Stage.CHECKING, "the patient list")
        refuse_missing_libraries()
        from kohorte.data import write_table
        from kohorte.data.files import refuse_output
        from kohorte.patients.identity import columns_of, fields_given
        from kohorte.patients.table_with_pids import refuse_taken_names, table_with_pids
        from kohorte.patients.temp_ids import checked_target, table_with_temp_ids

        if options.temp_ids_for is not None and options.output is None:
            raise InputError("--temp-ids-for: needs --output", code="temp-id-target")
        if options.output is not None:
            refuse_output(Path(options.output), force=options.force)
        table = read_data(options, progress, may_lack_rows=True)
        columns = columns_of(table.frame.columns, fields_given(options.field))
        refuse_taken_names(table.frame, columns)
        if options.temp_ids_for is not None:
            checked_target(options.temp_ids_for)
        with _opened_to_register(options) as patients:
            found = patients.register(
                table.frame, columns, source=table.sha256, dry_run=options.dry_run, progress=progress
            )
            if options.temp_ids_for is not None:
                released = table_with_temp_ids(table.frame, columns, found.rows, patients, options.temp_ids_for)
            else:
                released = table_with_pids(table.frame, columns, found.rows)
        if options.output is not None:
            progress.stage(Stage.WRITING, Path(options.output).name)
            write_table(released, options.output, like=table, force=options.force, private=True)
    if options.json:
        print_json(found.to_dict())
    else:
        print_registrations(found, options.output)
    return 1 if found.insufficient else 0


def run_match(options: argparse.Namespace) -> int:
    """List the open cases, or show one of them."""
    if options.show and options.case is None:
        raise InputError("--show needs the number of a case; 'kohorte patients match' lists them", code="patients-case")
    if options.case is None:
        with opened_list(options) as patients:
            found = patients.cases()
        if options.json:
            print_json({"cases": [case.to_dict() for case in found]})
        else:
            print_cases(found)
        return 0
    with opened_list(options) as patients:
        case = patients.case(options.case)
        shown = patients.identities(options.case) if options.show and not options.json else None
    if options.json:
        print_json(case.to_dict())
        return 0
    print_case(case)
    if shown is not None:
        print_side_by_side(*shown)
    return 0


def run_decide(options: argparse.Namespace) -> int:
    """Decide a case; with --dry-run only say what would follow."""
    same = options.verdict == "same"
    with opened_list(options) as patients:
        case = patients.case(options.case)
        shown = patients.identities(options.case) if options.show and not options.json else None
        kept, other = (case.other_pid, case.pid) if options.dry_run else patients.decide(options.case, same=same)
    if options.json:
        print_json({"case": options.case, "verdict": options.verdict, "pid": kept, "other_pid": other} | _dry(options))
        return 0
    if shown is not None:
        print_side_by_side(*shown)
    would = "would be" if options.dry_run else "is"
    if same:
        print(f"case {options.case} {would} one person: {kept}; {other} stands for the same person")
    else:
        print(f"case {options.case} {would} two people: {kept} and {other}")
    return 0


def run_split(options: argparse.Namespace) -> int:
    """Split records off."""
    with opened_list(options) as patients:
        stays, new = patients.split(given_pid(options.pid), options.record)
    if options.json:
        print_json({"pid": stays, "new_pid": new, "records": len(set(options.record))})
    else:
        records = count(len(set(options.record)), "record")
        print(f"another person has {records} of {stays} from now on: {new}")
    return 0


def run_merge(options: argparse.Namespace) -> int:
    """Make two people one."""
    with opened_list(options) as patients:
        kept, gone = patients.merge(given_pid(options.pid), given_pid(options.other_pid))
    if options.json:
        print_json({"pid": kept, "other_pid": gone})
    else:
        print(f"one person: {kept}; {gone} stands for the same person")
    return 0


def run_history(options: argparse.Namespace) -> int:
    """Show what happened to a PID."""
    with opened_list(options) as patients:
        found = patients.history(given_pid(options.pid))
    if options.json:
        print_json(found.to_dict())
        return 0
    print_history(found)
    return 0


def run_forget(options: argparse.Namespace) -> int:
    """Destroy a person's data and link."""
    pid = given_pid(options.pid)
    with opened_list(options) as patients:
        records = patients.forget(pid, dry_run=True)
        if not options.dry_run:
            confirm(
                options, f"{count(records, 'record')} and the link of a person will be destroyed", "forget", "forget"
            )
            records = patients.forget(pid)
    if options.json:
        print_json({"records": records} | _dry(options))
    elif options.dry_run:
        print(f"dry run: {count(records, 'record')} would be destroyed; nothing was")
    else:
        print(f"forgotten: {count(records, 'record')} and the link are destroyed, and the log says so")
        print("note: copies and backups of the database still have them until they are destroyed, too")
    return 0


def run_rotate_key(options: argparse.Namespace) -> int:
    """Seal the list with a new key."""
    with opened_list(options) as patients:
        version = patients.rotate_key()
    if options.json:
        print_json({"version": version})
    else:
        print(f"the list is sealed with version {version} of its key")
        print("note: keep a copy of the key file; earlier versions stay in it, because backups need them")
    return 0


def run_encode(options: argparse.Namespace) -> int:
    """Encode the list for a comparison."""
    refuse_missing_libraries()
    from kohorte.data import write_csv
    from kohorte.data.files import atomic_write, refuse_output
    from kohorte.patients.encodings.exchange import refuse_own_key, shared_secret

    outputs = (Path(options.output), Path(options.keep))
    for path in outputs:
        refuse_output(path, force=options.force)
    if outputs[0].resolve() == outputs[1].resolve():
        raise InputError(
            "--output and --keep: are one file, and the third party would get PIDs", code="patients-secret"
        )
    with opened_list(options) as patients:
        refuse_own_key(Path(options.secret), patients.folder.path)
        secret, made = shared_secret(Path(options.secret))
        tables = patients.encoded(secret)
    for table, path in zip(tables, outputs, strict=True):
        with atomic_write(path, force=options.force, private=True) as temporary:
            write_csv(table, temporary, separator=",")
    figures = {"people": tables[1].height, "records": tables[0].height, "secret_made": made}
    if options.json:
        print_json(figures)
        return 0
    people, records = count(figures["people"], "person", "people"), count(figures["records"], "record")
    print(f"{people} in {records} encoded: {options.output}")
    if made:
        print(
            f"note: {options.secret} is new; give a copy to the other house on a safe way, before it encodes its list"
        )
    print(f"note: a third party compares who gets neither {options.secret} nor {options.keep}")
    return 0


def run_compare(options: argparse.Namespace) -> int:
    """Compare two encoded lists."""
    refuse_missing_libraries()
    import polars as pl

    from kohorte.data import read_table, write_table
    from kohorte.data.files import refuse_output
    from kohorte.patients.encodings.exchange import compared

    refuse_output(Path(options.output), force=options.force)
    tables = [read_table(path, may_lack_rows=True) for path in (options.one, options.other)]
    pairs = compared(tables[0].frame, tables[1].frame)
    columns: dict[str, list[object]] = {
        "id": [pair.id for pair in pairs],
        "other_id": [pair.other_id for pair in pairs],
        "keys": [pair.keys for pair in pairs],
        "similarity": [round(pair.similarity, 4) for pair in pairs],
        "verdict": [pair.verdict for pair in pairs],
    }
    write_table(pl.DataFrame(columns), options.output, like=None, force=options.force, private=True)
    matches = columns["verdict"].count("match")
    if options.json:
        print_json({"match": matches, "grey": len(pairs) - matches})
    else:
        print(f"{count(matches, 'match', 'matches')}, {count(len(pairs) - matches)} grey: {options.output}")
    return 0


def _dry(options: argparse.Namespace) -> dict[str, bool]:
    return {"dry_run": options.dry_run}
