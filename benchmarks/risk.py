"""The risk of a table: ADULT with all attribute sets of up to four, one million rows, and attacks on a release."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import kohorte as ko
from benchmarks.report import Line
from kohorte.attacks import run_attacks
from testbed import tables

REPETITIONS = 3


def _timed(run: Callable[[], ko.RiskProfile]) -> tuple[float, ko.RiskProfile]:
    """The shortest of a few runs, and what it found."""
    seconds = []
    for _ in range(REPETITIONS):
        started = perf_counter()
        found = run()
        seconds.append(perf_counter() - started)
    return min(seconds), found


def adult() -> list[Line]:
    """The full profile of ADULT, nine quasi-identifiers, 255 attribute sets: under 2 s."""
    frame = ko.read_table(tables.DATA / "adult.csv").frame
    plan = tables.plan("adult", k=5, limit=0.05, metric="loss")
    seconds, profile = _timed(lambda: ko.risk(frame, plan, population_size=300_000_000))
    right = (
        profile.uniqueness.sample_uniques == 15_512
        and len(profile.attribute_sets) == 255
        and profile.special_uniques.count == 12_060
        and profile.uniqueness.by == "pitman"
    )
    return [Line("ADULT, full risk profile, sets of up to 4 of 9", right, seconds, target=2.0), _attacks(), _report()]


def _attacks() -> Line:
    """Sweeney's linkage and all attacks that need no other table, on ADULT as it is."""
    frame = ko.read_table(tables.DATA / "adult.csv").frame
    plan = tables.sensitive_plan("adult", limit=0.05)
    started = perf_counter()
    attacks = run_attacks(frame, plan, register=frame.select(plan.quasi_identifiers))
    seconds = perf_counter() - started
    hurt = {attack.name: attack.hurt for attack in attacks}
    uniques = ko.risk(frame, plan, largest_set=0).uniqueness.sample_uniques
    note = ", ".join(f"{name} {people:,}" for name, people in hurt.items())
    return Line("ADULT, five attacks", hurt["linkage"] == uniques == 8_841, seconds, target=2.0, note=note)


def _report() -> Line:
    """The internal report of ADULT and its release, measured, drawn and written: under 3 s and under 2 MB."""
    frame = ko.read_table(tables.DATA / "adult.csv").frame
    plan = tables.sensitive_plan("adult", limit=0.05)
    release = ko.anonymize(frame, plan)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.html")
        started = perf_counter()
        ko.write_report(path, frame, plan, release=release, view="internal", population_size=300_000_000)
        seconds = perf_counter() - started
        page = path.read_text(encoding="utf-8")
    right = "Meets the plan" in page and len(page.encode()) < 2_000_000
    note = f"{len(page.encode()) / 1000:.0f} kB"
    return Line("ADULT, report before and after, internal view", right, seconds, target=3.0, note=note)


def million() -> list[Line]:
    """One million generated rows, nine quasi-identifiers: attackers, uniques, estimators under 5 s."""
    with tables.generated(1_000_000) as (frame, plan):
        seconds, profile = _timed(lambda: ko.risk(frame, plan, population_size=80_000_000, largest_set=0))
    right = profile.rows == 1_000_000 and len(profile.uniqueness.estimates) == 4
    note = f"{profile.uniqueness.sample_uniques:,} unique rows"
    return [Line("1,000,000 rows, risk without attribute sets", right, seconds, target=5.0, note=note)]
