"""A program: withdraw, export or resolve in a child that is killed (SIGKILL) at the n-th moment, for all n.

    python killed_consents.py FOLDER

The moments are before and after the end of each transaction that writes, after each entry of the log, and before and
after an output gets its name. For every action and n a line of JSON says what is left.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from kohorte.data import files
from kohorte.errors import AccessDenied
from kohorte.patients.consents.filtering import Purpose, export_table
from kohorte.patients.consents.register import Consents
from kohorte.patients.patient_list import PatientList
from kohorte.patients.temp_ids import TempIds
from kohorte.sources.batches import TableBatches
from kohorte.trust.log import Log
from kohorte.trust.records.heads import Head
from support.identities import ANNA, OTTO, register
from support.killing import Countdown

WISH = Purpose("research", "p1")


def main() -> None:
    """Try every action, killed at every moment."""
    for action in ("withdraw", "export", "resolve"):
        _try(action, Path(sys.argv[1]) / action)


def _try(action: str, folder: Path) -> None:
    for number in itertools.count(1):
        here = folder / str(number)
        here.mkdir(parents=True)
        assert _in_a_child(lambda here=here: _prepare(here)) == 0
        killed = os.WIFSIGNALED(_in_a_child(lambda here=here, number=number: _act(action, here, number)))
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


def _prepare(here: Path) -> None:
    listed = PatientList.opened(str(here / "trust"), create=True, actor="tester")
    pids = [row.pid for row in register(listed, ANNA, OTTO).rows]
    Consents(listed).give([str(pid) for pid in pids], ["research"])
    pl.DataFrame({"pid": pids, "diagnosis": ["a", "b"]}).write_csv(here / "data.csv")
    (token,) = TempIds(listed).issue(pids[:1], target="database")
    (here / "token").write_text(str(token))
    listed.close()


def _act(action: str, here: Path, number: int) -> None:
    listed = PatientList.opened(str(here / "trust"), actor="tester")
    _end_at(number)
    anna = pl.read_csv(here / "data.csv")["pid"][0]
    if action == "withdraw":
        Consents(listed).withdraw(anna)
    elif action == "export":
        export_table(Consents(listed), TableBatches(here / "data.csv"), here / "out.csv", WISH)
    else:
        TempIds(listed).resolve([(here / "token").read_text()], target="database")


def _tell(action: str, here: Path) -> None:
    """Say what is left, and do the same again."""
    listed = PatientList.opened(str(here / "trust"), actor="tester")
    consents = Consents(listed)
    anna, otto = pl.read_csv(here / "data.csv")["pid"]
    logged = [entry["action"] for entry in listed.folder.log.verified_entries()]
    facts: dict[str, Any] = {
        "action": action,
        "logged": logged,
        "covered": sorted(consents.covered(None, "research").people),
    }
    facts["output"] = pl.read_csv(here / "out.csv")["pid"].to_list() if (here / "out.csv").exists() else None
    facts |= consents.released(anna).to_dict() | {"people": [anna, otto]}
    if action == "withdraw":
        consents.withdraw(anna)
    elif action == "export":
        export_table(consents, TableBatches(here / "data.csv"), here / "again.csv", WISH)
        facts["again"] = pl.read_csv(here / "again.csv")["pid"].to_list()
    else:
        try:
            facts["resolved"] = TempIds(listed).resolve([(here / "token").read_text()], target="database")
        except AccessDenied:
            facts["resolved"] = None
    facts["covered_again"] = sorted(consents.covered(None, "research").people)
    facts["released_again"] = len(consents.released(anna).exports)
    listed.close()
    print(json.dumps(facts), flush=True)


def _end_at(number: int) -> None:
    """Kill this process at a moment."""
    moments, append, publish = Countdown(number), Log.append, files._publish

    def noted(log: Log, *words: Any, **details: Any) -> Head:
        head = append(log, *words, **details)
        moments.count()
        return head

    def named(*paths: Any, **options: Any) -> None:
        moments.count()
        publish(*paths, **options)
        moments.count()

    moments.count_transactions()
    Log.append = noted  # type: ignore[method-assign]
    files._publish = named


if __name__ == "__main__":
    main()
