"""A program: record or withdraw in a child that is killed (SIGKILL) at the n-th moment, for all n.

    python killed_disclosures.py FOLDER

The moments are before and after the end of each transaction that writes, and after each entry of the log. For every
action and n a line of JSON says what is left, and what the same action does afterwards.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kohorte.disclosures.candidate import Candidate
from kohorte.disclosures.ledger import Ledger
from kohorte.trust.log import Log
from kohorte.trust.records.heads import Head
from support.killing import Countdown

NAMES = [f"p{number}" for number in range(8)]


def main() -> None:
    """Try every action, killed at every moment."""
    for action in ("open", "record", "withdraw"):
        for number in itertools.count(1):
            here = Path(sys.argv[1]) / action / str(number)
            here.parent.mkdir(exist_ok=True)
            killed = os.WIFSIGNALED(
                _in_a_child(lambda action=action, here=here, number=number: _act(action, here, number))
            )
            assert _in_a_child(lambda action=action, here=here: _tell(action, here)) == 0
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


def _candidate(ledger: Ledger) -> Candidate:
    return Candidate(ledger.fingerprints(NAMES), np.zeros(len(NAMES), dtype=np.int64), "A")


def _act(action: str, here: Path, number: int) -> None:
    if action == "open":
        _end_at(number)
        Ledger.open(here, create=True, actor="tester")
        return
    ledger = Ledger.open(here, create=True, actor="tester")
    candidate = _candidate(ledger)
    _end_at(number)
    if action == "record":
        ledger.record(candidate, k=4)
    else:
        ledger.withdraw(["p0"])


def _tell(action: str, here: Path) -> None:
    ledger = Ledger.open(here, create=action == "open", actor="tester")
    facts: dict[str, Any] = {"action": action, "releases": len(ledger.releases())}
    ledger.refuse_changed()
    if action == "withdraw":
        facts["new"] = ledger.withdraw(["p0"])
    else:
        facts["number"] = ledger.record(_candidate(ledger), k=4)
    ledger.refuse_changed()
    facts["logged"] = [entry["action"] for entry in Log.entries(ledger._folder.log)]
    print(json.dumps(facts), flush=True)


def _end_at(number: int) -> None:
    """Kill this process at a moment."""
    moments, append = Countdown(number), Log.append

    def noted(log: Log, *words: Any, **details: Any) -> Head:
        head = append(log, *words, **details)
        moments.count()
        return head

    moments.count_transactions()
    Log.append = noted  # type: ignore[method-assign]


if __name__ == "__main__":
    main()
