"""A growing cohort, released fifty times: what a series loses compared with one release of the final table.

`python -m benchmarks series` runs all of it, and also attributes on which a series does badly.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.report import Line
from testbed.growing_cohort import (
    LEAST_GAIN,
    MOST_BESIDE_MONDRIAN,
    USUAL,
    Cohorts,
    K,
    recruited_unevenly,
    release_all,
    sizes_of,
)

RELEASES, FIRST, LAST = 50, 1_000, 100_000
EARLY = 10_000
"""How many rows of the unrepresentative cohort come from one age band and one region before anybody else."""

CORRELATED = (("age", "zip", "occupation"), ("age", "height_cm", "zip"), ("age", "ward", "zip"))
SECONDS_OF_A_RELEASE = 3.0
VERIFIED = (1, 10, 25)
"""After which releases the series is verified, besides after the last."""


def simulation() -> list[Line]:
    """The growing cohort, evenly recruited and not; with a target and without."""
    cohorts, sizes = Cohorts.of(LAST, LAST // 5), sizes_of(RELEASES, FIRST, LAST)
    setting, uneven = cohorts.setting(USUAL), recruited_unevenly(cohorts.table, EARLY)
    even = release_all(setting, cohorts.table, sizes, verified=VERIFIED)
    alone = release_all(setting, uneven, sizes)
    led = release_all(setting, uneven, sizes, target=cohorts.target(), other=cohorts.other)
    gained = 1 - led.losses[-1] / alone.losses[-1]
    runs = (even, alone, led)
    return [
        Line(
            f"{RELEASES} releases, {FIRST:,} to {LAST:,} rows, beside Mondrian",
            even.satisfied and even.candidates >= K and even.beside_regions <= MOST_BESIDE_MONDRIAN,
            even.seconds,
            target=240.0,
            note=f"loss {even.losses[-1]:.4f}, {even.beside_regions:.2f} x Mondrian's regions "
            f"(target {MOST_BESIDE_MONDRIAN}), {even.beside_cells:.2f} x its cells",
        ),
        Line(
            f"the first {EARLY:,} rows from one age band and one region",
            alone.satisfied and led.satisfied and gained >= LEAST_GAIN,
            alone.seconds + led.seconds,
            target=360.0,
            note=f"loss {alone.losses[-1]:.4f}, with a target {led.losses[-1]:.4f}: {gained:.1%} less "
            f"(target {LEAST_GAIN:.0%})",
        ),
        Line(
            f"the slowest release of up to {LAST:,} rows, written and verified",
            all(run.satisfied for run in runs),
            max(run.slowest for run in runs),
            target=SECONDS_OF_A_RELEASE,
        ),
    ]


def correlated() -> list[Line]:
    """Attributes that go together: a region has to cover combinations that nobody has."""
    cohorts, sizes = Cohorts.of(LAST, LAST // 5), sizes_of(RELEASES, FIRST, LAST)
    return [line for names in CORRELATED for line in _compared(cohorts, names, sizes)]


def _compared(cohorts: Cohorts, names: Sequence[str], sizes: Sequence[int]) -> list[Line]:
    setting, lines = cohorts.setting(names), []
    for how, table in (("even", cohorts.table), ("uneven", recruited_unevenly(cohorts.table, EARLY))):
        once = release_all(setting, table, sizes[-1:])
        alone = release_all(setting, table, sizes)
        led = release_all(setting, table, sizes, target=cohorts.target(), other=cohorts.other)
        note = (
            f"loss {alone.losses[-1]:.4f}: {alone.beside_regions:.2f} x Mondrian's regions, {alone.beside_cells:.2f} x "
            f"its cells, {alone.losses[-1] / once.losses[-1]:.2f} x a single release; with a target "
            f"{led.losses[-1] / alone.losses[-1] - 1:+.1%}, {led.beside_cells:.2f} x Mondrian's cells"
        )
        runs = (once, alone, led)
        right = all(run.satisfied and run.candidates >= K for run in runs)
        slowest = max(run.slowest for run in runs)
        lines.append(Line(f"{', '.join(names)}: {how}", right, slowest, target=SECONDS_OF_A_RELEASE, note=note))
    return lines


def main() -> int:
    """Run all of it; exit code 1 when a promise or a target is missed."""
    missed = False
    for part in (simulation, correlated):
        for line in part():
            print(line.text(), flush=True)
            missed = missed or not line.right or not line.within
    return 1 if missed else 0
