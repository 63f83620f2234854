"""What goes to and comes from other institutions, on the command line: the outbox, the inbox and received answers."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kohorte.cli.output import print_json, print_table, trust_action
from kohorte.errors import KohorteError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.exchange.deciding.folder import RequestFolder
    from kohorte.exchange.peers.outbox import Item
    from kohorte.exchange.peers.sending import Sent
    from kohorte.trust.folder import TrustFolder


def add_parcel_actions(actions: argparse._SubParsersAction[argparse.ArgumentParser], epilog: str) -> None:
    """Add `inbox`, `send` and `read`."""
    text = "list requests that came in and answers that came back, and how far they are"
    trust_action(actions, "inbox", text, epilog).set_defaults(run=run_inbox)
    text = "send everything that waits in the outbox; exit code 1 if something still waits"
    trust_action(actions, "send", text, epilog).set_defaults(run=run_send)
    read = trust_action(actions, "read", "verify an answer that came back, and copy it", epilog)
    read.add_argument("number", metavar="NUMBER", help="number of the answer, as the inbox shows it")
    read.add_argument("--output", required=True, metavar="OUT", help="new folder for the answer")
    read.set_defaults(run=run_read)


def run_inbox(options: argparse.Namespace) -> int:
    """List requests, answers and what waits to be sent."""
    folder = _opened(options)
    from kohorte.exchange.peers.sending import all_sent

    requests, answers = _requests(folder), _answers(folder.trust)
    sent = [_shown(one) for one in all_sent(folder.trust)]
    if options.json:
        print_json({"requests": requests, "answers": answers, "sent": sent})
        return 0
    if requests:
        names = ("request", "institution", "purpose", "until", "state")
        rows = [[*(one[name] for name in names), "yes" if one["proven"] else "no"] for one in requests]
        print_table([*names, "proven"], rows, data=True)
    if answers:
        rows = [[one["number"], one["institution"], one["at"], one["answer"]] for one in answers]
        print_table(["answer", "institution", "at", "state"], rows, data=True)
    if sent:
        rows = [[one["number"], one["kind"], one["to"], one["state"], one["code"]] for one in sent]
        print_table(["sent", "kind", "to", "state", "reason"], rows, data=True)
    if not (requests or answers or sent):
        print("there are no requests")
    return 0


def run_send(options: argparse.Namespace) -> int:
    """Send what waits."""
    folder = _opened(options).trust
    from kohorte.exchange.peers.outbox import State
    from kohorte.exchange.peers.sending import deliver_all

    sent = deliver_all(folder)
    if options.json:
        print_json({"sent": [_shown(one) for one in sent]})
    else:
        for one in sent:
            print(_in_words(one))
        if not sent:
            print("nothing waits in the outbox")
    return 1 if any(one.state is not State.DELIVERED for one in sent) else 0


def run_read(options: argparse.Namespace) -> int:
    """Copy a verified answer."""
    folder = _opened(options).trust
    from kohorte.exchange.peers.answers import ReceivedAnswers

    found = ReceivedAnswers(folder).copied(options.number, Path(options.output))
    if options.json:
        print_json(found.to_dict())
    else:
        print(f"{found.institution} {'released a table' if found.released else 'refused'}; copied to {options.output}")
    return 0


def delivered(options: argparse.Namespace, folder: TrustFolder, item: Item, **facts: object) -> int:
    """Deliver a parcel now, and say how far it is; exit code 1 if it was refused, 0 if it waits."""
    from kohorte.exchange.peers.outbox import State
    from kohorte.exchange.peers.sending import deliver

    sent = deliver(folder, item)
    if options.json:
        print_json({**facts, **_shown(sent)})
    else:
        print(_in_words(sent))
    return 1 if sent.state is State.REFUSED else 0


def _requests(folder: RequestFolder) -> list[dict[str, Any]]:
    from kohorte.exchange.deciding.decisions import state_of

    rows, folder = [], folder.at_once()
    for number in folder.numbers():
        request = folder.request(number)
        rows.append(
            {
                "request": number,
                "institution": request.requester.institution,
                "proven": folder.origin(number) is not None,
                "purpose": request.purpose,
                "until": request.until,
                "state": str(state_of(folder, number)),
            }
        )
    return rows


def _answers(folder: TrustFolder) -> Sequence[dict[str, Any]]:
    from kohorte.exchange.peers.answers import ReceivedAnswers

    answers = ReceivedAnswers(folder).at_once()
    rows: list[dict[str, Any]] = []
    for number in answers.numbers():
        try:
            found = answers.verified(number)
            told = "released" if found.released else "refused"
            rows.append({"number": number, "institution": found.institution, "at": found.at, "answer": told})
        except KohorteError as error:
            rows.append({"number": number, "institution": "", "at": "", "answer": error.code})
    return rows


def _shown(sent: Sent) -> dict[str, str]:
    return {
        "number": sent.number,
        "kind": str(sent.kind),
        "to": sent.to,
        "state": str(sent.state),
        "code": sent.reason,
    }


def _in_words(sent: Sent) -> str:
    words = {
        "delivered": "delivered",
        "waiting": f"not delivered yet ({sent.reason}); it waits in the outbox until 'kohorte exchange send'",
        "refused": f"refused by the other house ({sent.reason}); it is not sent again",
    }
    return f"{sent.kind} {sent.number} to {sent.to}: {words[str(sent.state)]}"


def _opened(options: argparse.Namespace) -> RequestFolder:
    from kohorte.exchange.deciding.folder import RequestFolder

    return RequestFolder.opened(options.folder)
