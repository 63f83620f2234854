"""2,000 registrations a second, with linkage against 100,000 people."""

from __future__ import annotations

from benchmarks.linkage.data import draw
from benchmarks.linkage.results import quality, registered
from benchmarks.report import Line

RATE = 2_000


def registrations() -> list[Line]:
    """Register 20,000 rows against 100,000 people; the answer is right if precision and recall are as required."""
    data = draw(rows=10_000)
    with registered(data.known) as (patients, pids):
        found = quality("all fields", data, patients, pids)
    return [
        Line(
            "20,000 registrations against 100,000 patients",
            right=found.precision >= 0.999 and found.recall >= 0.95,
            seconds=found.seconds,
            target=found.rows / RATE,
            note=f"{found.processor_seconds:.1f} s of processor time, grey {found.grey:.1%}",
        )
    ]
