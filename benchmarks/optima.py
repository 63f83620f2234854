"""The optima that must hold, and the time to find them, against the times that ARX 3.9 needed (warm, Java)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter

import kohorte as ko
from benchmarks.report import Line
from kohorte.release.anonymization import search, set_up_search
from kohorte.release.preparation import encode_problem
from kohorte.sources import FrameSource
from testbed import tables

REPETITIONS = 9


@dataclass(frozen=True)
class Case:
    """A problem with its answer; ARX's warm time in seconds, its checks, and how many times faster we have to be."""

    table: str
    limit: float
    metric: str
    levels: tuple[int, ...]
    cost: float
    suppressed: int
    arx_seconds: float
    arx_checks: int
    factor: float


CASES = (
    Case("adult", 0.05, "non_uniform_entropy", (0, 0, 1, 1, 2, 2, 2, 1, 1), 249978.71, 1285, 1.12, 2867, 10),
    Case("adult", 0.0, "non_uniform_entropy", (1, 2, 1, 1, 3, 2, 2, 1, 1), 407289.54, 0, 0.035, 181, 3),
    Case("adult", 0.05, "discernibility", (0, 0, 1, 2, 3, 2, 2, 1, 1), 7220555, 105, 1.289, 3833, 1),
    Case("cup", 0.05, "non_uniform_entropy", (2, 4, 1, 0, 0, 1, 3, 1), 1685849.30, 3119, 0.95, 786, 10),
    Case("cup", 0.0, "non_uniform_entropy", (4, 4, 1, 1, 1, 4, 4, 4), 2445878.42, 0, 0.07, 40, 3),
)


def run() -> list[Line]:
    """Solve every case, check its answer, then time the search."""
    frames = {name: ko.read_table(tables.DATA / f"{name}.csv").frame for name in ("adult", "cup")}
    return [_case(case, frames[case.table]) for case in CASES]


def _case(case: Case, frame: object) -> Line:
    plan = tables.plan(case.table, k=5, limit=case.limit, metric=case.metric)
    best, checked, seconds = None, 0, []
    for _ in range(REPETITIONS):
        setting = set_up_search(encode_problem(FrameSource(frame), plan))  # type: ignore[arg-type]
        started = perf_counter()
        result = search(setting)
        seconds.append(perf_counter() - started)
        best, checked = result.best, result.checked
    assert best is not None
    right = best.node == case.levels and abs(best.cost - case.cost) < 0.01 and best.suppressed == case.suppressed
    return Line(
        f"{case.table.upper()} k=5, {case.limit:.0%}, {case.metric}",
        right=right,
        seconds=min(seconds),
        target=case.arx_seconds / case.factor,
        note=f"{checked} checks (ARX {case.arx_checks}), ARX {case.arx_seconds:g} s",
    )


def exhaustive() -> list[Line]:
    """Count all nodes of ADULT on one core, and find the same optimum."""
    frame = ko.read_table(tables.DATA / "adult.csv").frame
    case = CASES[0]
    plan = tables.plan("adult", k=5, limit=case.limit, metric=case.metric, algorithm="exhaustive")
    setting = set_up_search(encode_problem(FrameSource(frame), replace(plan)))
    started = perf_counter()
    result = search(setting)
    seconds = perf_counter() - started
    right = result.best is not None and result.best.node == case.levels and result.checked == 12_960
    return [Line("ADULT exhaustive, 12,960 nodes", right=right, seconds=seconds, target=2.0, note="one core")]
