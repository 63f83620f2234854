"""`kohorte exchange`: check requests of other institutions; two people decide, and the house answers or refuses."""

from __future__ import annotations

import argparse
from datetime import UTC, date, datetime
from pathlib import Path

from kohorte.cli.exchange.parcels import add_parcel_actions, delivered
from kohorte.cli.exchange.peers import add_peer_actions
from kohorte.cli.exchange.statistics import add_statistics_actions
from kohorte.cli.output import add_table_options, print_json, read_data, trust_action
from kohorte.cli.passwords import add_password_option, known_password
from kohorte.cli.progress import TerminalProgress
from kohorte.errors import AccessDenied, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.disclosures.ledger import Ledger
    from kohorte.exchange.deciding.folder import RequestFolder
    from kohorte.exchange.request import Request

EPILOG = """\
examples:
  kohorte exchange statistics import --shipped --folder house
  kohorte exchange request request.yaml --folder house
  kohorte exchange check 1 patients.csv --holding holding.yaml --page check.html --folder house
  kohorte reidentify add-person Ben --role approver --folder house
  kohorte exchange decide 1 --release --as Ben --folder house
  kohorte exchange answer 1 --output answer --folder house
  kohorte exchange inbox --folder house

  kohorte exchange peers own --name "Hospital B" --folder house
  kohorte exchange peers add "Institute A" --address https://a.example:8470 --certificate a.pem --fingerprint F \
    --contact "Dr. Neumann, +43 1 23456" --folder house
  kohorte exchange request request.yaml --to "Hospital B" --folder house
  kohorte exchange read NUMBER --output answer --folder house

The folder has the requests, the statistics, the people who decide, the log and, unless --ledger names another folder,
the disclosure ledger. Keep it secret. A refusal says nothing about who is in the database."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the actions of the verb."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    add_statistics_actions(actions, EPILOG)
    add_peer_actions(actions, EPILOG)
    request = trust_action(actions, "request", "receive a request, or send one to another institution", EPILOG)
    request.add_argument("file", metavar="REQUEST", help="request (YAML or JSON)")
    request.add_argument("--to", metavar="INSTITUTION", help="send it to this institution of the address book")
    request.set_defaults(run=run_request)
    check = actions.add_parser("check", help="check a request", description="check a request", epilog=EPILOG)
    _add_number(check)
    add_table_options(check, plan=False)
    check.add_argument("--holding", required=True, metavar="FILE", help="description of the table (YAML)")
    check.add_argument("--page", metavar="OUT", help="also write the check as a page (.html)")
    check.add_argument("--force", action="store_true", help="replace an existing page")
    check.add_argument("--folder", metavar="FOLDER", help="folder of requests (default: KOHORTE_FOLDER)")
    _add_ledger(check)
    check.set_defaults(run=run_check)
    decide = trust_action(actions, "decide", "decide about a checked request", EPILOG)
    _add_number(decide)
    choice = decide.add_mutually_exclusive_group(required=True)
    choice.add_argument("--release", action="store_true", help="release what the check would send")
    choice.add_argument("--refuse", action="store_true", help="refuse the request")
    decide.add_argument("--reason", default="", metavar="TEXT", help="why; it is noted in the log")
    decide.add_argument("--as", required=True, dest="person", metavar="PERSON", help="who you are")
    add_password_option(decide)
    decide.set_defaults(run=run_decide)
    answer = trust_action(actions, "answer", "answer as the people decided: send, or write to a folder", EPILOG)
    _add_number(answer)
    answer.add_argument("--output", metavar="OUT", help="new folder for the answer to a request that came as a file")
    _add_ledger(answer)
    answer.set_defaults(run=run_answer)
    add_parcel_actions(actions, EPILOG)


def _add_number(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("number", type=int, metavar="REQUEST", help="number of the request")


def _add_ledger(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ledger", metavar="FOLDER", help="folder of the disclosure ledger (default: --folder)")


def run_request(options: argparse.Namespace) -> int:
    """Receive a request."""
    from kohorte.exchange.deciding.folder import RequestFolder
    from kohorte.exchange.request import Request

    request = Request.from_file(options.file)
    if options.to is not None:
        return _sent(options, request)
    number = RequestFolder.opened(options.folder, create=True).receive(request)
    if options.json:
        print_json({"request": number, "sha256": request.fingerprint()})
    else:
        print(f"request {number} received from {request.requester.name}, {request.requester.institution}")
    return 0


def run_check(options: argparse.Namespace) -> int:
    """Check a request; exit code 1 if nothing may be sent."""
    from kohorte.exchange.checking.check import check_request
    from kohorte.exchange.holding import Holding
    from kohorte.exchange.picture.page import to_html
    from kohorte.exchange.statistics import StatisticsFolder
    from kohorte.pages import refuse_page, write_text

    folder = _opened(options)
    folder.refuse_answered(options.number)
    request, holding = folder.request(options.number), Holding.from_yaml(options.holding)
    if options.page is not None:
        refuse_page(Path(options.page), needed=(options.data, options.holding), force=options.force)
    statistics = StatisticsFolder(folder.trust.path / "statistics").statistics()
    ledger = _ledger(options, folder)
    with TerminalProgress.of(options) as progress:
        table = read_data(options, progress).frame
        check = check_request(request, table, holding, statistics, ledger, today=_today(), progress=progress)
    folder.keep(options.number, check)
    record = check.record
    if options.page is not None:
        proven = folder.origin(options.number) is not None
        text = to_html(record, number_of_request=options.number, proven=proven, earlier=ledger.releases())
        write_text(Path(options.page), text, force=options.force)
    ledger.close()
    if options.json:
        advice = record["recommendation"]
        print_json({"request": options.number, "check": record.sha256, **advice, **record["verdicts"]})
    else:
        print(f"recommendation: {record.recommendation}")
        for reason in record["recommendation"]["reasons"]:
            print(f"  {reason}")
    return 0 if check.draft is not None else 1


def run_decide(options: argparse.Namespace) -> int:
    """Note the decision of a person who signed in."""
    from kohorte.exchange.deciding.decisions import Choice, Decider, decide, decisions
    from kohorte.trust.people import People, Task

    folder, password = _opened(options), known_password(options)
    people = People(folder.trust)
    person = people.signed_in(options.person, password, tasks=[Task.APPROVER])
    decided = decisions(folder, options.number, folder.record(options.number)).choices
    if people.same_password(password, [name for name in decided if name != person.name]):
        raise AccessDenied(
            "an account with the same password has decided already; two people need two passwords",
            code="exchange-decider",
        )
    choice = Choice.RELEASE if options.release else Choice.REFUSE
    found = decide(folder, options.number, choice, person=Decider(person.name), today=_today(), reason=options.reason)
    if options.json:
        print_json({"request": options.number, "state": str(found.state), "decided": len(found.choices)})
    else:
        print(f"request {options.number}: {found.state}; {len(found.choices)} of {found.needed} have decided")
    return 0


def _sent(options: argparse.Namespace, request: Request) -> int:
    from kohorte.exchange.peers.sending import request_to

    folder = _opened(options).trust
    item = request_to(folder, request, options.to, today=_today())
    return delivered(options, folder, item, sha256=request.fingerprint())


def run_answer(options: argparse.Namespace) -> int:
    """Send the answer to the institution that asked, or write it to a folder."""
    folder = _opened(options)
    proven = folder.origin(options.number) is not None
    if proven != (options.output is None):
        words = "came over the network: leave --output out" if proven else "came as a file: give --output"
        raise InputError(f"request {options.number} {words}", code="exchange-answer-where")
    return _answer_to_peer(options, folder) if proven else _answer_to_folder(options, folder)


def _answer_to_peer(options: argparse.Namespace, folder: RequestFolder) -> int:
    from kohorte.exchange.peers.sending import answer_to_peer

    ledger = _ledger(options, folder)
    item = answer_to_peer(folder, options.number, ledger, today=_today())
    ledger.close()
    return delivered(options, folder.trust, item, request=options.number)


def _answer_to_folder(options: argparse.Namespace, folder: RequestFolder) -> int:
    from kohorte.exchange.deciding.answers import answer

    ledger = _ledger(options, folder)
    with folder.held(options.number):
        made = answer(folder, options.number, Path(options.output), ledger, today=_today())
    ledger.close()
    if options.json:
        files = [path.name for path in made.files]
        print_json({"request": options.number, "released": made.released, "files": files, "release": made.release})
    else:
        print(f"request {options.number}: {'released' if made.released else 'refused'}; written to {options.output}")
    return 0


def _opened(options: argparse.Namespace) -> RequestFolder:
    from kohorte.exchange.deciding.folder import RequestFolder

    return RequestFolder.opened(options.folder)


def _ledger(options: argparse.Namespace, folder: RequestFolder) -> Ledger:
    from kohorte.cli.exchange.ledger import noting_withdrawals

    return noting_withdrawals(folder.trust.path if options.ledger is None else Path(options.ledger), create=True)


def _today() -> date:
    return datetime.now(UTC).date()
