"""A program: register a table in a child that is killed (SIGKILL) at the n-th moment, then again; for all n.

    python killed_registration.py TABLE FOLDER [N ...]

The moments are before and after the end of each transaction that writes. For every n a line of JSON says how many rows
the killed child left registered, and what the second run found.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from kohorte.patients import patient_list
from kohorte.patients.identity import columns_of
from kohorte.patients.patient_list import PatientList, Registrations
from kohorte.trust.store import Store

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
            _end_at(number)
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


def _end_at(number: int) -> None:
    """Kill this process at a moment of a transaction that writes."""
    left, writing = [number], Store.writing

    @contextmanager
    def counted(store: Store) -> Iterator[Any]:
        with writing(store) as connection:
            yield connection
            _count(left)
        _count(left)

    Store.writing = counted  # type: ignore[method-assign]


def _count(left: list[int]) -> None:
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
