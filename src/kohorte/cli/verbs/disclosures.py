"""`kohorte disclosures`: the memory of releases; what left, to whom, and what a new release would tell with it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from kohorte.cli.exchange.ledger import opened_ledger
from kohorte.cli.output import add_table_options, print_json, print_table, read_data
from kohorte.cli.progress import TerminalProgress
from kohorte.errors import InputError
from kohorte.in_words import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.disclosures.candidate import Candidate
    from kohorte.disclosures.findings import Findings
    from kohorte.disclosures.ledger import Ledger

EPILOG = """\
examples:
  kohorte disclosures init ledger
  kohorte anonymize patients.csv --plan plan.yaml --output release.csv --ledger ledger --recipient "Institute A"
  kohorte disclosures list ledger
  kohorte disclosures show ledger 3
  kohorte disclosures check ledger                                  was anything changed or removed?
  kohorte disclosures check ledger patients.csv --plan plan.yaml --release release.csv --recipient "Institute A"
  kohorte disclosures record ledger patients.csv --plan plan.yaml --release old.csv --recipient public
  kohorte disclosures withdraw ledger withdrawn.csv --person patient_id

The folder has a key and fingerprints of people, never their identifiers. Keep it secret, and keep copies of it. What
'check' finds is for the holder of the data: who asked for a release must not see it."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the actions of the verb."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _action(actions, "init", "make a ledger in a new folder", run_init)
    listed = _action(actions, "list", "list what left, and to whom", run_list)
    listed.add_argument("--recipient", metavar="NAME", help="only what this recipient got")
    show = _action(actions, "show", "show what the ledger noted of one release", run_show)
    show.add_argument("number", metavar="NUMBER", type=int, help="number of the release")
    check = _action(
        actions, "check", "check the ledger itself or, with a table, a release against it", run_check, table=False
    )
    _add_release(check, required=False)
    check.add_argument("--head", metavar="HEAD", help="a head noted before (NUMBER:CODE), which must still be in it")
    record = _action(actions, "record", "record a release that was made without the ledger", run_record, table=True)
    _add_release(record, required=True)
    record.add_argument("--despite", action="store_true", help="record it also if something is found: it left already")
    withdraw = _action(actions, "withdraw", "note people who must be in no later release", run_withdraw, table=True)
    withdraw.add_argument("--person", metavar="COLUMN", action="append", required=True, help="who; as in the plan")


def _action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    text: str,
    run: Callable[[argparse.Namespace], int],
    *,
    table: bool | None = None,
) -> argparse.ArgumentParser:
    parser = actions.add_parser(name, help=text, description=text, epilog=EPILOG)
    parser.add_argument("ledger", metavar="LEDGER", help="folder of the ledger")
    if table is None:
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    else:
        add_table_options(parser, plan=False, required=table)
    parser.set_defaults(run=run)
    return parser


def _add_release(parser: argparse.ArgumentParser, *, required: bool) -> None:
    parser.add_argument("--plan", metavar="PLAN", required=required, help="plan of the release (YAML)")
    parser.add_argument("--release", metavar="FILE", required=required, help="the released table")
    parser.add_argument("--recipient", metavar="NAME", required=required, help="who gets it; public: everybody")
    parser.add_argument("--purpose", metavar="TEXT", default="", help="what it is passed on for")
    add_strictness(parser)


def add_strictness(parser: argparse.ArgumentParser) -> None:
    """Add --k and --together."""
    parser.add_argument(
        "--k", metavar="K", type=int, help="fewest people who may stand out (default: that of the plan)"
    )
    parser.add_argument(
        "--together",
        choices=("all", "alone"),
        default="all",
        help="who compares what they got: all recipients together (default), or each alone",
    )


def run_init(options: argparse.Namespace) -> int:
    """Make a ledger."""
    with opened_ledger(options.ledger, create=True) as ledger:
        releases = len(ledger.releases())
    if options.json:
        print_json({"ledger": options.ledger, "releases": releases})
    else:
        print(
            f"the ledger in {options.ledger} has {count(releases, 'release')}; keep the folder secret, and copies of it"
        )
    return 0


def run_list(options: argparse.Namespace) -> int:
    """List the releases."""
    with opened_ledger(options.ledger) as ledger:
        found = [
            facts for facts in ledger.releases() if options.recipient is None or facts["recipient"] == options.recipient
        ]
    if options.json:
        print_json({"releases": found})
        return 0
    if not found:
        print("no release is recorded yet")
        return 0
    rows = [
        (facts["number"], facts["at"][:10], facts["kind"], facts["recipient"], *_told(facts), facts.get("about", ""))
        for facts in found
    ]
    print_table(("number", "date", "kind", "recipient", "people", "epsilon", "delta", "of"), rows)
    if spent := [float(facts["epsilon"]) for facts in found if facts["epsilon"] is not None]:
        delta = sum(float(facts.get("delta", 0.0)) for facts in found)
        print(
            f"{count(len(spent), 'answer')} with noise: epsilon at most {sum(spent):g}, delta at most {delta:g} in all"
        )
    return 0


def _told(facts: dict[str, Any]) -> tuple[object, object, object]:
    """The number of people, or what an answer with noise cost."""
    if facts["epsilon"] is None:
        return facts["people"], "", ""
    return "noise", f"{facts['epsilon']:g}", f"{facts.get('delta', 0.0):g}"


def run_show(options: argparse.Namespace) -> int:
    """Show one release."""
    with opened_ledger(options.ledger) as ledger:
        facts = ledger.release(options.number)
    if options.json:
        print_json(facts)
        return 0
    for name, value in facts.items():
        if isinstance(value, dict):
            for column, level in value.items():
                print(f"column {column}: {level}")
        elif value not in ("", None):
            print(f"{name}: {value}")
    return 0


def run_check(options: argparse.Namespace) -> int:
    """Check the ledger, and a release against it; exit code 1 if something is found."""
    given = [options.data, options.plan, options.release, options.recipient]
    if any(one is not None for one in given) and not all(one is not None for one in given):
        raise InputError(
            "to check a release give DATA, --plan, --release and --recipient; to check the ledger itself none of them",
            code="disclosure-options",
        )
    with opened_ledger(options.ledger) as ledger:
        if options.data is None:
            ledger.refuse_changed(options.head)
            facts = {"whole": True, "releases": len(ledger.releases()), "head": ledger.head}
            print_json(facts) if options.json else print(
                f"the ledger is whole: {count(len(ledger.releases()), 'release')}; head {ledger.head}"
            )
            return 0
        candidate, k = _candidate(options, ledger)
        findings = ledger.examine(candidate, k, options.together)
    if options.json:
        print_json({"k": k, "findings": findings.to_dict()})
    else:
        print_findings(findings)
    return 1 if findings else 0


def run_record(options: argparse.Namespace) -> int:
    """Record a release; nothing is recorded if something is found, unless it is told to."""
    with opened_ledger(options.ledger) as ledger:
        candidate, k = _candidate(options, ledger)
        findings = ledger.examine(candidate, k, options.together)
        number = ledger.record(candidate, k=None if options.despite else k, together=options.together)
    if options.json:
        print_json({"number": number, "findings": findings.to_dict()})
    else:
        print(f"recorded as release {number}")
        for finding in findings:
            print(f"note: {finding.in_words}")
    return 0


def run_withdraw(options: argparse.Namespace) -> int:
    """Note withdrawn people."""
    from kohorte.data import as_text, person_keys

    with TerminalProgress.of(options) as progress:
        frame = read_data(options, progress).frame
    for name in options.person:
        if name not in frame.columns:
            raise InputError(f"the table has no column {name!r}", code="columns-missing")
    with opened_ledger(options.ledger) as ledger:
        new = ledger.withdraw(person_keys([as_text(frame[name]) for name in options.person]))
    if options.json:
        print_json({"withdrawn": new})
    else:
        print(f"{count(new, 'person', 'people')} newly withdrawn; they must be in no later release")
    return 0


def print_findings(findings: Findings) -> None:
    """Print what was found, for the holder of the data."""
    for finding in findings:
        print(f"found: {finding.in_words}")
    if not findings:
        print("nothing found: no group below k can be told apart with this release")


def _candidate(options: argparse.Namespace, ledger: Ledger) -> tuple[Candidate, int]:
    from kohorte.data import read_table
    from kohorte.disclosures.exits.released import Passing, candidate_of
    from kohorte.plans import Plan

    plan = Plan.from_yaml(options.plan)
    with TerminalProgress.of(options) as progress:
        original = read_data(options, progress).frame
    release = read_table(options.release, separator=options.separator, encoding=options.encoding).frame
    found = candidate_of(ledger, original, release, plan, Passing(options.recipient, options.purpose))
    return found, options.k or plan.smallest_class
