"""A program: answer a request of a peer in a child that is killed (SIGKILL) at the n-th moment, for all n.

    python killed_answers.py FOLDER

FOLDER/house has a request that two people released. The moments are before and after the end of each transaction that
writes, after each entry of the log, and after each file that gets its name. For every n a line of JSON says what the
next attempt makes of it.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from kohorte.disclosures.ledger import Ledger
from kohorte.errors import KohorteError
from kohorte.exchange.deciding.folder import RequestFolder
from kohorte.exchange.peers.outbox import Outbox
from kohorte.exchange.peers.sending import answer_to_peer
from kohorte.trust.log import Log
from kohorte.trust.records.heads import Head
from support.killing import Countdown

TODAY = date(2026, 11, 17)


def main() -> None:
    """Answer, killed at every moment."""
    root = Path(sys.argv[1])
    for number in itertools.count(1):
        here = root / f"killed-{number}"
        shutil.copytree(root / "house", here)
        killed = os.WIFSIGNALED(_in_a_child(lambda here=here, number=number: _act(here, number)))
        assert _in_a_child(lambda here=here: _tell(here)) == 0
        if not killed:
            break


def _in_a_child(do: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        try:
            do()
            sys.stdout.flush()
        except BaseException:  # noqa: BLE001 - the parent asserts
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1]


def _act(here: Path, number: int) -> None:
    folder = RequestFolder.opened(here)
    ledger = Ledger.open(folder.trust)
    _end_at(number)
    answer_to_peer(folder, 1, ledger, today=TODAY, actor="tester")


def _tell(here: Path) -> None:
    folder = RequestFolder.opened(here)
    ledger, code = Ledger.open(folder.trust), ""
    try:
        answer_to_peer(folder, 1, ledger, today=TODAY, actor="tester")
    except KohorteError as error:
        code = error.code
    ledger.refuse_changed()
    items = Outbox(folder.trust).all()
    facts = {
        "action": "answer",
        "code": code,
        "releases": len(ledger.releases()),
        "answered": [one["action"] for one in folder.entries(1)].count("answer request"),
        "parcels": len(items),
        "files": [sorted(path.name for path in item.files.iterdir()) for item in items],
    }
    print(json.dumps(facts), flush=True)


def _end_at(number: int) -> None:
    """Kill this process at a moment."""
    moments, append, replace, rename = Countdown(number), Log.append, os.replace, os.rename

    def noted(log: Log, *words: Any, **details: Any) -> Head:
        head = append(log, *words, **details)
        moments.count()
        return head

    def counted(act: Callable[..., None]) -> Callable[..., None]:
        def acted(*names: Any, **options: Any) -> None:
            act(*names, **options)
            moments.count()

        return acted

    moments.count_transactions()
    Log.append = noted  # type: ignore[method-assign]
    os.replace, os.rename = counted(replace), counted(rename)


if __name__ == "__main__":
    main()
