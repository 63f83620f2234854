"""The disclosure ledger with one million people and 10,000 releases: what it adds to a new release."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.report import Line
from kohorte.disclosures.candidate import Candidate
from kohorte.disclosures.ledger import Ledger

PEOPLE, EARLY, RELEASES, CELLS, K = 1_000_000, 2_000, 10_000, 40, 5
SECONDS = 1.0


def million() -> Iterator[Line]:
    """Examine releases of all people: one that passes, and one without a single person of an earlier release."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger.open(Path(folder) / "ledger", create=True, actor="benchmark")
        names = [f"person {number}" for number in range(PEOPLE)]
        early = ledger.fingerprints(names[:EARLY])
        started = time.perf_counter()
        ledger.record_all(_releases(early))
        recorded = time.perf_counter() - started
        people = ledger.fingerprints(names)
        cell = np.arange(PEOPLE) % CELLS
        everybody = Candidate(people, cell, "new", table=people)
        without = Candidate(people, np.where(np.arange(PEOPLE) == 7, -1, cell), "new", table=people)
        for what, candidate, expected in (("passes", everybody, []), ("without one person", without, [K])):
            started, worked = time.perf_counter(), time.process_time()
            found = ledger.examine(candidate, K)
            seconds, cpu = time.perf_counter() - started, time.process_time() - worked
            yield Line(
                f"disclosure ledger, 1,000,000 people, 10,000 releases: {what}",
                right=[one.people_at_most for one in found] == expected and len(ledger.releases()) == RELEASES,
                seconds=seconds,
                target=SECONDS,
                note=f"{cpu:.1f} s of CPU; recording them took {recorded:.0f} s in all",
            )
        ledger.close()


def _releases(people: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Iterator[Candidate]:
    """Releases of random cells of people, each cell large enough to be told apart."""
    dice = np.random.default_rng(18)
    cell = np.arange(EARLY) % CELLS
    for number in range(RELEASES):
        shown = dice.random(CELLS) < 0.5
        yield Candidate(people, np.where(shown[cell], cell, -1), f"recipient {number % 50}", table=people)
