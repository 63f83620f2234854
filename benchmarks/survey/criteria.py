"""The three criteria of Rauterberg, "Wie anonym sind anonymisierte Datensätze wirklich?", section on criteria.

1. Anchoring: if there is only one combination of answers, the estimate is 1 / N.
2. Natural behaviour: with growing N, the difference to the worst case stays about constant.
3. Safety: the estimate is never below the worst case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.survey.results import Case

ROUNDING = 1e-9
ONE_COMBINATION = 9
"""The table with one combination of answers."""

Reference = Callable[[Case], float | None]
"""The worst case in percent: as computed, or as printed."""


def computed(case: Case) -> float:
    """The worst case that was computed."""
    return case.percent("worst")


def printed(case: Case) -> float | None:
    """The worst case that the source found by hand."""
    number = case.printed_worst
    return None if number is None else 100 * number / case.people


@dataclass(frozen=True)
class Judged:
    """An estimator by the three criteria; spreads and shortfalls in percentage points."""

    name: str
    anchored: int
    lines: int
    mean_spread: float
    largest_spread: float
    safe: int
    cases: int
    largest_shortfall: float


def differences(cases: Sequence[Case], name: str, reference: Reference) -> list[tuple[Case, float]]:
    """The estimate minus the worst case, where this is known; tables with one combination are left out."""
    found = [(case, reference(case)) for case in cases if case.table != ONE_COMBINATION]
    return [(case, case.percent(name) - worst) for case, worst in found if worst is not None]


def judge(cases: Sequence[Case], name: str, reference: Reference = computed) -> Judged:
    """Judge an estimator by all lines of all tables."""
    single = [case for case in cases if case.table == ONE_COMBINATION]
    found = differences(cases, name, reference)
    tables = sorted({case.table for case, _ in found})
    spreads = [
        max(own) - min(own) for table in tables if (own := [value for case, value in found if case.table == table])
    ]
    return Judged(
        name=name,
        anchored=sum(abs(case.percent(name) - 100 / case.people) < ROUNDING for case in single),
        lines=len(single),
        mean_spread=sum(spreads) / len(spreads),
        largest_spread=max(spreads),
        safe=sum(value >= -ROUNDING for _, value in found),
        cases=len(found),
        largest_shortfall=max(0.0, -min(value for _, value in found)),
    )
