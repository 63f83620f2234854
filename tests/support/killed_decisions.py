"""A program: merge, split or decide in a child that is killed (SIGKILL) at the n-th moment, for all n.

    python killed_decisions.py FOLDER

The moments are after each entry of the log, and before and after the end of the transaction. For every action and n a
line of JSON says who is who when the list is opened again, and when it is opened with the database from before.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kohorte.errors import EngineError
from kohorte.patients.patient_list import PatientList
from kohorte.trust.log import Log
from kohorte.trust.records.heads import Head
from support.identities import ANNA, MARRIED, OTTO, register
from support.killing import Countdown

ACTIONS: dict[str, Callable[[PatientList, list[str]], object]] = {
    "merge": lambda listed, pids: listed.merge(pids[0], pids[2]),
    "decide same": lambda listed, _: listed.decide(listed.cases()[0].number, same=True),
    "decide different": lambda listed, _: listed.decide(listed.cases()[0].number, same=False),
    "split": lambda listed, pids: listed.split(pids[2], [2]),
    "split off": lambda listed, pids: listed.split(pids[2], [1, 2]),
}
BEFORE: dict[str, Callable[[PatientList, list[str]], object]] = {
    "split": lambda listed, pids: listed.merge(pids[2], pids[0]),
    "split off": lambda listed, pids: [listed.merge(pids[2], pids[0]), listed.merge(pids[2], pids[1])],
}


def main() -> None:
    """Try every action, killed at every moment."""
    for action in ACTIONS:
        _try(action, Path(sys.argv[1]) / action)


def _try(action: str, folder: Path) -> None:
    for number in itertools.count(1):
        here = folder / str(number)
        here.mkdir(parents=True)
        assert _in_a_child(lambda here=here: _prepare(action, here)) == 0
        shutil.copy(here / "trust" / "patients.db", here / "before.db")
        killed = os.WIFSIGNALED(_in_a_child(lambda here=here, number=number: _act(action, here, number)))
        shutil.copytree(here / "trust", here / "older")
        for left in (here / "older").glob("patients.db*"):
            left.unlink()
        shutil.copy(here / "before.db", here / "older" / "patients.db")
        assert _in_a_child(lambda here=here: _tell(action, here)) == 0
        if not killed:
            return


def _in_a_child(do: Callable[[], None]) -> int:
    """Do something in a child; this process itself stays without threads, which a child would not inherit."""
    child = os.fork()
    if child == 0:
        do()
        sys.stdout.flush()
        os._exit(0)
    return os.waitpid(child, 0)[1]


def _prepare(action: str, here: Path) -> None:
    listed = PatientList.opened(str(here / "trust"), create=True, actor="tester")
    pids = [str(row.pid) for row in register(listed, ANNA, MARRIED, OTTO).rows]
    if action in BEFORE:
        BEFORE[action](listed, pids)
    (here / "pids").write_text(" ".join(pids))
    listed.close()


def _act(action: str, here: Path, number: int) -> None:
    listed = PatientList.opened(str(here / "trust"), actor="tester")
    moments, append = Countdown(number), Log.append

    def noted(log: Log, *words: Any, **details: Any) -> Head:
        head = append(log, *words, **details)
        moments.count()
        return head

    Log.append = noted  # type: ignore[method-assign]
    moments.count_transactions()
    ACTIONS[action](listed, (here / "pids").read_text().split())
    listed.close()


def _tell(action: str, here: Path) -> None:
    """Say who is who, with the database as it was left and with that from before."""
    pids = (here / "pids").read_text().split()
    facts: dict[str, Any] = {"action": action}
    for name in ("trust", "older"):
        try:
            listed = PatientList.opened(str(here / name), actor="tester")
        except EngineError as error:
            facts[name] = error.code
            continue
        listed.verify()
        facts[name] = {
            "people": listed.people,
            "cases": len(listed.cases()),
            "stand for": [pids.index(kept) if (kept := listed.history(pid).pid) in pids else None for pid in pids],
            "names": [None if one is None else one.last_name for one in listed.described(pids)],
        }
        facts[f"logged {name}"] = [entry["action"] for entry in listed.folder.log.verified_entries()]
        listed.close()
    print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    main()
