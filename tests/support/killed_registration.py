"""A program: register a table in a child that is killed (SIGKILL) at the n-th moment, then again; for all n.

    python killed_registration.py TABLE FOLDER [N ...]

The moments are before and after the end of each transaction that writes. For every n a line of JSON says how many rows
the killed child left registered, and what the second run found.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from pathlib import Path

import polars as pl

from kohorte.patients import patient_list
from kohorte.patients.identity import columns_of
from kohorte.patients.list.registration import Registrations
from kohorte.patients.patient_list import PatientList
from support.killing import Countdown

BATCH = 20


def main() -> None:
    """Try the given n, or all."""
    table, folder = Path(sys.argv[1]), Path(sys.argv[2])
    patient_list.BATCH = BATCH
    chosen = [int(number) for number in sys.argv[3:]]
    for number in chosen or itertools.count(1):
        status = _in_a_child(table, folder / str(number), number)
        assert _in_a_child(table, folder / str(number), 0) == 0
        if not os.WIFSIGNALED(status):
            return


def _in_a_child(table: Path, folder: Path, number: int) -> int:
    """Register in a child; this process itself stays without threads, which a child would not inherit."""
    child = os.fork()
    if child == 0:
        if number:
            Countdown(number).count_transactions()
        found = register(folder, table)
        if not number:
            facts = {"before": found.before, "people": found.people, "cases": found.cases}
            print(json.dumps(facts | {"pids": [row.pid for row in found.rows]}), flush=True)
        os._exit(0)
    return os.waitpid(child, 0)[1]


def register(folder: Path, table: Path) -> Registrations:
    """Register the table once."""
    frame = pl.read_csv(table, infer_schema=False)
    listed = PatientList.opened(str(folder), create=True, actor="tester")
    try:
        return listed.register(frame, columns_of(frame.columns), source=str(table))
    finally:
        listed.close()


if __name__ == "__main__":
    main()
