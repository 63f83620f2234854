"""`kohorte patients consent`: what people agreed to, and exports that follow it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kohorte.cli.given_pseudonyms import add_pid, given_pid
from kohorte.cli.output import add_table_options, add_trust_folder, print_json, print_table, table_in_batches
from kohorte.cli.patients_actions import Actions, add_action, opened_list, refuse_missing_libraries
from kohorte.errors import InputError
from kohorte.in_words import NOBODY, count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.patients.consents.exports import Released
    from kohorte.patients.consents.filtering import Outcome
    from kohorte.patients.consents.register import Consents

EPILOG = """\
examples:
  kohorte patients consent give @pid.txt --purpose diabetes-research --until 2031-12-31 --folder trust
  kohorte patients consent give --file new.csv --column pid --purpose research --category lab --folder trust
  kohorte patients consent show @pid.txt --folder trust
  kohorte patients consent filter data.csv --purpose diabetes-research --project p7 --output p7.csv --folder trust
  kohorte patients consent filter data.csv --purpose research --project p8 --category lab=crp,hb --output p8.csv
  kohorte patients consent list --purpose research --project p9 --output covered.csv --folder trust
  kohorte patients consent confirm 3 --folder trust                    is everybody in export 3 still covered?
  kohorte patients consent withdraw @pid.txt --folder trust            lists what was exported before
  kohorte patients consent released @pid.txt --folder trust

A consent without --category is for all kinds of data. 'filter' and 'list' check consents again before the output
appears, and note who was in it."""
SHORT = 12


def add_consent_actions(actions: Actions[argparse.ArgumentParser]) -> None:
    """Add the actions."""
    text = "what people agreed to, and exports that follow it"
    parser = actions.add_parser("consent", help=text, description=text, epilog=EPILOG)
    own = parser.add_subparsers(dest="consent_action", metavar="ACTION", required=True)
    give = add_action(own, "give", "note that people agreed", run_give, epilog=EPILOG)
    add_pid(give, optional=True)
    give.add_argument("--file", metavar="TABLE", help="CSV or Parquet file with PIDs, instead of one PID")
    give.add_argument("--column", default="pid", metavar="C", help="the column of --file that has them (default pid)")
    give.add_argument("--purpose", action="append", required=True, metavar="P", help="for what; may be repeated")
    give.add_argument("--category", action="append", default=[], metavar="K", help="only this kind of data; repeatable")
    give.add_argument("--from", dest="start", metavar="DATE", help="first day (default: now)")
    give.add_argument("--until", metavar="DATE", help="last day (default: no end)")
    withdraw = add_action(
        own, "withdraw", "take a consent back, for good or for a purpose", run_withdraw, epilog=EPILOG
    )
    add_pid(withdraw)
    withdraw.add_argument("--purpose", action="append", default=[], metavar="P", help="only for this (default: all)")
    show = add_action(own, "show", "the consents of a person, with their history", run_show, epilog=EPILOG)
    add_pid(show)
    show.add_argument("--fhir", action="store_true", help="print FHIR resources (R4, Consent) in a Bundle")
    released = add_action(own, "released", "the exports that a person was in", run_released, epilog=EPILOG)
    add_pid(released)
    confirm = add_action(
        own, "confirm", "check that everybody in an export is still covered", run_confirm, epilog=EPILOG
    )
    confirm.add_argument("number", type=int, metavar="EXPORT", help="number of the export")
    _add_exports(own)


def _add_exports(own: Actions[argparse.ArgumentParser]) -> None:
    text = "write the rows of the people who agreed to a purpose"
    filter_ = own.add_parser("filter", help=text, description=text, epilog=EPILOG)
    add_table_options(filter_, plan=False)
    add_trust_folder(filter_)
    filter_.add_argument("--column", default="pid", metavar="C", help="the column of PIDs (default pid)")
    filter_.add_argument(
        "--category", action="append", default=[], metavar="K=C,C", help="kind of data of some columns; repeatable"
    )
    filter_.set_defaults(run=run_filter)
    list_ = add_action(own, "list", "write the PIDs of all people who agreed to a purpose", run_list, epilog=EPILOG)
    list_.add_argument("--category", action="append", default=[], metavar="K", help="who agreed to this kind, too")
    for action in (filter_, list_):
        action.add_argument("--purpose", required=True, metavar="P", help="for what the data is")
        action.add_argument("--project", required=True, metavar="NAME", help="who gets it; noted for each person")
        action.add_argument("--output", required=True, metavar="OUT", help="where the table goes (.csv or .parquet)")
        action.add_argument("--force", action="store_true", help="replace an existing output file")


@contextmanager
def _consents(options: argparse.Namespace) -> Iterator[Consents]:
    with opened_list(options) as patients:
        from kohorte.patients.consents.register import Consents

        yield Consents(patients)


def run_give(options: argparse.Namespace) -> int:
    """Note consents."""
    refuse_missing_libraries()
    if (options.pid is None) == (options.file is None):
        raise InputError("give a PID, or --file with a table of PIDs", code="consent-people")
    pids = [given_pid(options.pid)] if options.file is None else _pids_of(options)
    with _consents(options) as consents:
        people = consents.give(
            pids, options.purpose, categories=options.category, start=options.start, until=options.until
        )
    if options.json:
        print_json({"people": people})
    else:
        print(f"consent of {count(people, 'person', 'people')} noted for {', '.join(options.purpose)}")
    return 0


def _pids_of(options: argparse.Namespace) -> list[str]:
    from kohorte.data import as_text, read_table

    table = read_table(options.file)
    if options.column not in table.frame.columns:
        raise InputError(f"{options.file}: has no column {options.column!r}", code="consent-column")
    return as_text(table.frame[options.column]).drop_nulls().unique(maintain_order=True).to_list()


def run_withdraw(options: argparse.Namespace) -> int:
    """Take a consent back."""
    with _consents(options) as consents:
        released = consents.withdraw(given_pid(options.pid), options.purpose)
    if options.json:
        print_json(released.to_dict())
        return 0
    what = f"for {', '.join(options.purpose)}" if options.purpose else "for everything"
    print(f"withdrawn {what}; from now on no export has this person")
    _print_exports(released)
    return 0


def run_show(options: argparse.Namespace) -> int:
    """Show the consents of a person."""
    with _consents(options) as consents:
        found, now = consents.show(given_pid(options.pid)), consents.now
    if options.fhir:
        resources = [consent.to_fhir(found.pid, now) for consent in found.consents]
        entries = [{"resource": resource} for resource in resources]
        print_json({"resourceType": "Bundle", "type": "collection", "entry": entries})
        return 0
    if options.json:
        print_json(found.to_dict(now))
        return 0
    for consent in found.consents:
        data = consent.to_dict(now)
        kinds = f", only {', '.join(consent.categories)}" if consent.categories else ""
        end = f" until {consent.until}" if consent.until else ""
        gone = "; ".join(f"{purpose} withdrawn on {at}" for purpose, at in consent.withdrawn.items())
        words = f"{data['status']}: {', '.join(consent.purposes)}{kinds}{end}, given on {consent.given_at}"
        print(words + (f"; {gone}" if gone else ""))
    if found.lost:
        print(
            f"note: the database lacks {count(found.lost, 'event')} that the log has; nothing is covered until "
            "consent is given again"
        )
    if not found.consents and not found.lost:
        print("no consent")
    return 0


def run_released(options: argparse.Namespace) -> int:
    """List former exports."""
    with _consents(options) as consents:
        released = consents.released(given_pid(options.pid))
    if options.json:
        print_json(released.to_dict())
    else:
        _print_exports(released)
    return 0


def run_confirm(options: argparse.Namespace) -> int:
    """Check an export again."""
    with _consents(options) as consents:
        people = consents.confirm(options.number)
    if options.json:
        print_json({"export": options.number, "people": people})
    else:
        print(f"export {options.number}: {count(people, 'person', 'people')}, all still covered")
    return 0


def run_filter(options: argparse.Namespace) -> int:
    """Export rows."""
    refuse_missing_libraries()
    from kohorte.data.files import refuse_output
    from kohorte.patients.consents.filtering import Purpose, categories_given, export_table

    output, wish = Path(options.output), Purpose(options.purpose, options.project)
    kinds = categories_given(options.category)
    refuse_output(output, force=options.force)
    with _consents(options) as consents:
        done = export_table(
            consents,
            table_in_batches(options),
            output,
            wish,
            column=options.column,
            categories=kinds,
            force=options.force,
        )
    return _tell(options, done, f"{count(done.exported)} of {count(done.rows, 'row')} exported")


def run_list(options: argparse.Namespace) -> int:
    """Export PIDs."""
    refuse_missing_libraries()
    from kohorte.data.files import refuse_output
    from kohorte.patients.consents.filtering import Purpose, list_people

    output, wish = Path(options.output), Purpose(options.purpose, options.project)
    refuse_output(output, force=options.force)
    with _consents(options) as consents:
        done = list_people(consents, output, wish, categories=options.category, force=options.force)
    return _tell(options, done, f"{count(done.people, 'person', 'people')} covered")


def _tell(options: argparse.Namespace, done: Outcome, words: str) -> int:
    if options.json:
        print_json(done.to_dict() | {"output": options.output})
        return 0
    for note in done.notes:
        print(f"note: {note}")
    print(f"{words}; noted as export {done.export}: {options.output}")
    if not done.exported:
        print(NOBODY)
    if done.cells_removed:
        print(f"{count(done.cells_removed, 'cell')} removed, because consents are for other kinds of data")
    if done.contradicted:
        print(
            f"note: {count(done.contradicted, 'person', 'people')} left out, because the log has withdrawals that the "
            "database lacks"
        )
    return 0


def _print_exports(released: Released) -> None:
    if not released.exports:
        print("no export is known to have had this person")
    else:
        rows = [
            (str(one.number), one.project, one.purpose, one.at, one.rows, one.sha256[:SHORT])
            for one in released.exports
        ]
        print_table(["export", "project", "purpose", "at", "rows", "sha256"], rows)
    for noted in released.uncertain:
        print(
            f"note: export {noted.number} for {noted.project} ({noted.purpose}, {noted.at}) is in the log, and the "
            "database does not have all its people: this person may have been in it"
        )
