"""The release check on one million rows: the statistics, the table, the engine, the ledger and the recommendation."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import numpy as np

from benchmarks.report import Line
from kohorte.disclosures.ledger import Ledger
from kohorte.exchange.checking.check import Check, check_request
from kohorte.exchange.statistics import shipped_statistics
from testbed.hospital import holding, patients, request

ROWS, PEOPLE, TREATED = 1_000_000, 300_000, 150_000
SECONDS = 10.0
TODAY = date(2026, 11, 17)


def million() -> Iterator[Line]:
    """Check a request that half of a million rows satisfy, against an empty ledger."""
    table, house = patients(ROWS, people=PEOPLE, treated=TREATED), holding()
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger.open(Path(folder) / "house", create=True)
        started, worked = time.perf_counter(), time.process_time()
        check = check_request(request(), table, house, shipped_statistics(), ledger, today=TODAY)
        seconds, cpu = time.perf_counter() - started, time.process_time() - worked
        ledger.close()
    yield Line(
        "release check, 1,000,000 rows of 300,000 people, half of them asked for",
        right=_right(check, house.policy.k),
        seconds=seconds,
        target=SECONDS,
        note=f"{check.record.recommendation}; {cpu:.1f} s of CPU",
    )


def _right(check: Check, k: int) -> bool:
    """Whether the base set has everybody who is treated, and every class of the draft k people, counted here."""
    if check.draft is None or check.record["local look-up"]["people"] != TREATED:
        return False
    disclosure = check.draft.disclosure
    pairs = np.stack([disclosure.classes, disclosure.people])
    pairs = pairs[:, np.lexsort(pairs[::-1])]
    first = np.append(True, (pairs[:, 1:] != pairs[:, :-1]).any(axis=0))
    return int(np.bincount(pairs[0, first]).min()) >= k
