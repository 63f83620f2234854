"""`kohorte party`: several institutions make one anonymous table, and nobody shows anybody a row."""

from __future__ import annotations

import argparse
import re
import sys
from contextlib import ExitStack
from pathlib import Path

from kohorte.cli.output import class_sizes, print_error, print_json, print_table
from kohorte.cli.progress import TerminalProgress, add_quiet_option
from kohorte.errors import InputError, KohorteError
from kohorte.in_words import cost, count, percent, seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.disclosures.exits.joint import JointMemory
    from kohorte.parties.party import Outcome, Recorded
    from kohorte.parties.study import Study

EPILOG = """\
examples:
  kohorte party init clinic-a --folder clinic-a           key pair and certificate; prints the fingerprint to exchange
  kohorte party check study.yaml --folder clinic-a        own table against the study; nothing leaves this machine
  kohorte party serve --folder clinic-a                   wait for the others; a person agrees to each run
  kohorte party run study.yaml --folder clinic-b --output release.csv
  kohorte party rehearse study.yaml --data clinic-a=a.csv --data clinic-b=b.csv --output release.csv --page run.html
  kohorte party signatures release.certificate.json --study study.yaml --table release.csv

study.yaml, the same at every party:
  study: heart-registry
  protocol: B                               A: no helper; B: a helper without data; C: also hides frequencies
  distribution: horizontal                  or vertical (with identifier and columns), or hybrid (with group)
  plan: plan.yaml
  parties:
    clinic-a: {address: "a.example:8441", certificate: "sha256:..."}
    clinic-b: {address: "b.example:8441", certificate: "sha256:..."}
  helper: {address: "h.example:8441", certificate: "sha256:..."}
  result: clinic-a                          who gets the release; default: all parties

party.yaml, in the folder of each party:
  name: clinic-a
  data: patients.csv
  studies: [study.yaml]                     the studies that this party takes part in"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the actions of the verb."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    init = _action(actions, "init", "make the folder of a party: key pair, certificate and settings")
    init.add_argument("name", metavar="NAME", help="name of the party in its studies; helper for a helper")
    init.set_defaults(run=run_init)
    check = _action(actions, "check", "check a party's table against a study; nothing leaves this machine")
    check.add_argument("study", metavar="STUDY", help="study file (YAML)")
    check.set_defaults(run=run_check)
    serve = _action(actions, "serve", "wait for other parties to start a run, and take part if a person agrees")
    serve.add_argument(
        "--agree",
        metavar="HASH",
        action="append",
        default=[],
        type=_study_hash,
        help="agree to runs of this study hash",
    )
    serve.add_argument("--once", action="store_true", help="end after one run")
    serve.add_argument(
        "--output", metavar="OUT", help="where the release goes (default: in the folder, by study and time)"
    )
    _add_record(serve)
    serve.set_defaults(run=run_serve)
    run = _action(actions, "run", "start a run: invite all others, take part, and write the release")
    run.add_argument("study", metavar="STUDY", help="study file (YAML)")
    run.add_argument("--output", metavar="OUT", help="where the release goes (.csv), if this party gets it")
    run.add_argument("--force", action="store_true", help="replace existing output files")
    _add_record(run)
    run.set_defaults(run=run_run)
    _add_rehearse(actions)
    signatures = actions.add_parser(
        "signatures", help="check who signed the certificate of a joint release", description=__doc__, epilog=EPILOG
    )
    signatures.add_argument("certificate", metavar="CERTIFICATE", help="the certificate (.json)")
    signatures.add_argument("--study", required=True, metavar="STUDY", help="study file, with the fingerprints")
    signatures.add_argument("--table", metavar="TABLE", help="the release: is it exactly what was signed?")
    signatures.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    signatures.set_defaults(run=run_signatures)


def _add_rehearse(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    rehearse = actions.add_parser(
        "rehearse",
        help="run all parties as processes on this machine, to try out a study",
        description="Run all parties as processes on this machine, with certificates made for this rehearsal.",
        epilog=EPILOG,
    )
    rehearse.add_argument("study", metavar="STUDY", help="study file; addresses and certificates may be left out")
    rehearse.add_argument(
        "--data", metavar="PARTY=FILE", action="append", required=True, help="the table of a party; once for each"
    )
    rehearse.add_argument("--output", required=True, metavar="OUT", help="where the release goes (.csv)")
    rehearse.add_argument("--record", metavar="DIR", help=RECORD)
    rehearse.add_argument("--page", metavar="OUT", help="draw who sent what to whom, and when (.html)")
    rehearse.add_argument("--force", action="store_true", help="replace existing output files")
    rehearse.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    add_quiet_option(rehearse)
    rehearse.set_defaults(run=run_rehearse)


def _action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser], name: str, text: str
) -> argparse.ArgumentParser:
    parser = actions.add_parser(name, help=text, description=text, epilog=EPILOG)
    parser.add_argument("--folder", metavar="FOLDER", required=True, help="folder of this party")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    add_quiet_option(parser)
    return parser


RECORD = "keep every message that is sent, as it was sent, one file each, in this folder"


def _add_record(parser: argparse.ArgumentParser) -> None:
    """Add the option that keeps messages, and one that only a rehearsal gives the processes it starts."""
    parser.add_argument("--record", metavar="DIR", help=RECORD)
    parser.add_argument("--log", metavar="FILE", help=argparse.SUPPRESS)


def run_init(options: argparse.Namespace) -> int:
    """Make the folder of a party."""
    from kohorte.parties.study import HELPER
    from kohorte.parties.transport.folder import PartyFolder

    folder = PartyFolder.create(options.folder, options.name)
    if options.json:
        print_json({"name": folder.name, "folder": str(folder.path), "certificate": folder.fingerprint})
        return 0
    print(f"{folder.name}: key pair and certificate are in {folder.path}; the key never leaves this folder")
    print(f"certificate: {folder.fingerprint}")
    own = "the study" if folder.name == HELPER else "your table and the study"
    print(f"tell the others this fingerprint in person or by telephone; then name {own} in party.yaml")
    return 0


def run_check(options: argparse.Namespace) -> int:
    """Check a party's table against a study."""
    from kohorte.parties.party import Party

    with TerminalProgress.of(options) as progress:
        found = Party.open(options.folder).check(options.study, progress=progress)
    if options.json:
        print_json(found.to_dict())
        return 0
    print(f"study {found.study.name}, protocol {found.study.protocol}, {found.study.distribution}")
    print(f"study hash: {found.study.fingerprint()}")
    if found.rows is None:
        print(f"{found.name} is the helper and brings no table")
    else:
        print(f"{found.name} brings {count(found.rows)} rows; nothing has left this machine")
        print_table(("column", "values", "missing"), [(c.name, c.values, c.missing) for c in found.columns])
        print("the table fits the study")
    return 0


def _study_hash(text: str) -> str:
    """A study hash as `party check` prints it; a shorter text would never agree to anything."""
    if not re.fullmatch(r"[0-9a-f]{64}", text):
        raise argparse.ArgumentTypeError("a study hash has 64 hexadecimal digits; 'kohorte party check' prints it")
    return text


def run_serve(options: argparse.Namespace) -> int:
    """Wait for runs and take part in them."""
    from kohorte.parties.party import Party

    with TerminalProgress.of(options) as progress, ExitStack() as closing:

        def decide(by: str, study: Study) -> bool:
            asked = f"study {study.name}, protocol {study.protocol}, hash {study.fingerprint()}"
            progress.say(f"{by} invites to a run of {asked}")
            if study.fingerprint() in options.agree:
                return True
            if not sys.stdin.isatty():
                progress.say("not agreed: nobody is here to ask; give --agree and the hash")
                return False
            return input("take part? [y/N] ").strip().lower() in ("y", "yes", "j", "ja")

        def ended(outcome: Outcome | KohorteError) -> None:
            progress.done()
            if isinstance(outcome, KohorteError):
                print_error(outcome, as_json=options.json)
            elif options.json:
                print_json(outcome.to_dict())
            else:
                _print_outcome(outcome)

        Party.open(options.folder, _memory(options, closing)).serve(
            decide,
            ended,
            output=None if options.output is None else Path(options.output),
            once=options.once,
            tell_person=progress.say,
            progress=progress,
            recorded=_recorded(options),
        )
    return 0


def _recorded(options: argparse.Namespace) -> Recorded:
    from kohorte.parties.party import Recorded

    payloads, messages = (None if given is None else Path(given) for given in (options.record, options.log))
    return Recorded(payloads, messages)


def _memory(options: argparse.Namespace, closing: ExitStack) -> JointMemory | None:
    """The disclosure ledger that party.yaml names; None if it names none."""
    from kohorte.parties.transport.folder import PartyFolder

    folder = PartyFolder.open(options.folder)
    if folder.ledger is None or folder.person is None:
        return None
    from kohorte.cli.exchange.ledger import learn_withdrawals, opened_ledger

    path = folder.ledger
    ledger = closing.enter_context(opened_ledger(str(path)))
    from kohorte.disclosures.exits.joint import JointMemory

    return JointMemory(ledger, folder.person, lambda ledger: learn_withdrawals(ledger, path))


def run_run(options: argparse.Namespace) -> int:
    """Start a run and take part in it."""
    from kohorte.parties.party import Party

    with TerminalProgress.of(options) as progress, ExitStack() as closing:
        outcome = Party.open(options.folder, _memory(options, closing)).run(
            options.study,
            None if options.output is None else Path(options.output),
            force=options.force,
            tell_person=progress.say,
            progress=progress,
            recorded=_recorded(options),
        )
    if options.json:
        print_json(outcome.to_dict())
    else:
        _print_outcome(outcome)
    return 0


def run_rehearse(options: argparse.Namespace) -> int:
    """Run all parties on this machine."""
    from kohorte.parties.rehearsal import rehearse_files, rehearsed_study

    tables = {}
    for entry in options.data:
        name, sign, path = entry.partition("=")
        if not sign or not name or not path or name in tables:
            raise InputError("--data is PARTY=FILE, once for each party", code="party-data")
        tables[name] = Path(path)
    with TerminalProgress.of(options) as progress:
        outcome = rehearse_files(
            Path(options.study),
            tables,
            Path(options.output),
            record=None if options.record is None else Path(options.record),
            page=None if options.page is None else Path(options.page),
            force=options.force,
            progress=progress,
        )
    if options.json:
        print_json(outcome)
        return 0
    _print_figures(outcome)
    print(f"written and verified: {options.output}")
    print(f"the study as it was rehearsed, to check signatures: {rehearsed_study(Path(options.output))}")
    if options.page is not None:
        print(f"picture of the run: {options.page}")
    return 0


def run_signatures(options: argparse.Namespace) -> int:
    """Check the signatures of a certificate."""
    from kohorte.parties.signatures import check_signatures

    table = None if options.table is None else Path(options.table)
    found = check_signatures(Path(options.certificate), Path(options.study), table)
    if options.json:
        print_json(found.to_dict())
    else:
        for one in found.members:
            print(f"  {one.name:<24} {'signed' if one.valid else 'NOT signed'}{'' if one.valid else ': ' + one.reason}")
        if found.table is not None:
            same = "is exactly the table" if found.table else "is NOT the table, or was changed since"
            print(f"  {options.table} {same} that the certificate is about")
        if found.rehearsal:
            print("a rehearsal: these keys were made for it and thrown away; the institutions signed nothing")
    return 0 if found.valid else 1


def _print_outcome(outcome: Outcome) -> None:
    if outcome.release is None:
        print(f"study {outcome.study.name}: signed; the release goes to {', '.join(outcome.study.receivers)}")
        return
    _print_figures(outcome.to_dict())
    print(f"written and verified: {outcome.output}" if outcome.output is not None else "nothing was written")


def _print_figures(found: dict[str, object]) -> None:
    rows, suppressed = _number(found["rows"]), _number(found["suppressed"])
    print(f"{count(rows)} rows, {count(suppressed)} of them suppressed ({percent(suppressed / rows if rows else 0.0)})")
    smallest = found["smallest_class"]
    print(class_sizes(_number(found["classes"]), None if smallest is None else _number(smallest)))
    levels = found["levels_in_words"]
    assert isinstance(levels, dict), "a mapping of columns"
    for name, words in levels.items():
        print(f"  {name:<24} {words}")
    print(f"{found['metric']} {cost(float(str(found['cost'])))} ({found['quality']})")
    members, messages = found["parties"], found["messages"]
    assert isinstance(members, list), "a list of names"
    who = f"{len(members) - 1} parties and a helper" if "helper" in members else f"{len(members)} parties"
    print(
        f"protocol {found['protocol']}, {found['distribution']}, {who}: {count(_number(messages))} messages, "
        f"{count(_number(found['bytes']))} bytes, {seconds(float(str(found['elapsed'])))}"
    )


def _number(value: object) -> int:
    return int(str(value))
