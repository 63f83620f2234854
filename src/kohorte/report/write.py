"""Create and write a report."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from kohorte.data import to_polars
from kohorte.pages import refuse_page, write_text
from kohorte.pages.reader_language import language_named
from kohorte.plans import Plan
from kohorte.plans.parts import About
from kohorte.release import Release
from kohorte.report.facts import Facts, Measured, rows_to_release, view_named
from kohorte.report.page import to_html
from kohorte.risks import RiskPolicy, RiskProfile, risk
from kohorte.risks.comparison import Measure, before_and_after

MOST_SETS = 1_000
MOST_CELLS = 50_000_000
"""The limit for rows times attribute sets if no largest set is given."""


def write_report(
    path: str | Path,
    frame: object,
    plan: Plan,
    *,
    release: object = None,
    view: str = "public",
    force: bool = False,
    rows: int = 10,
    population_size: float | None = None,
    sampling_fraction: float | None = None,
    population: object = None,
    threshold: float = 0.2,
    largest_set: int | None = None,
    policy: RiskPolicy | None = None,
    title: str | None = None,
    purpose: str | None = None,
    recipient: str | None = None,
    language: str = "en",
) -> None:
    """Write the risk of a table, or of a table and its release, as one HTML page that opens without a network.

    `release` is a `Release`, or a released table. The view `public` may be passed on with the release; `internal` also
    shows the original distribution of values, suspected identifiers, and the numbers of `rows` rows at highest risk.
    No view shows values of small groups. The other options are those of `risk`; without `largest_set` the attribute
    sets are as large as time allows, at most four. `title`, `purpose` and `recipient` stand at the head of the page.
    `language` is that of the reader: `en` or `de`.
    """
    about, reader = About(title, purpose, recipient), language_named(language)
    path = Path(path)
    refuse_page(path, needed=plan.files(), force=force)

    def measure(table: object, *, original: object = None, in_rows: bool = False) -> RiskProfile:
        return risk(
            table,
            plan,
            original=original,
            in_rows=in_rows,
            population_size=population_size,
            sampling_fraction=sampling_fraction,
            population=population,
            threshold=threshold,
            largest_set=_fitting(table, plan) if largest_set is None else largest_set,
            policy=policy,
        )

    facts = report_of(frame, plan, release=release, view=view, rows=rows, measure=measure)
    write_text(path, to_html(replace(facts, about=about, language=reader)), force=force)


def report_of(
    frame: object,
    plan: Plan,
    *,
    release: object = None,
    view: str = "public",
    rows: int = 10,
    measure: Measure | None = None,
) -> Facts:
    """Measure a table, and its release if there is one, for a report."""
    shown = view_named(view)
    made = release if isinstance(release, Release) else None
    original = to_polars(frame)[0]
    after = None if release is None else to_polars(release if made is None else made.data)[0]
    table = original if after is None else rows_to_release(original, plan)

    def usual(some: object, *, original: object = None, in_rows: bool = False) -> RiskProfile:
        return risk(some, plan, original=original, in_rows=in_rows, largest_set=_fitting(some, plan))

    chosen: Measure = usual if measure is None else measure
    if after is None:
        return Facts(plan, shown, Measured(table, chosen(table)), original=original, listed=rows)
    before, profile = before_and_after(table, after if made is None else made, chosen)
    sides = Measured(table, before), Measured(after, profile)
    return Facts(plan, shown, sides[0], after=sides[1], made=made, original=original, listed=rows)


def _fitting(table: object, plan: Plan) -> int:
    rows = table.rows if isinstance(table, Release) else to_polars(table)[0].height
    return fitting_size(rows, len(plan.quasi_identifiers))


def fitting_size(rows: int, attributes: int, largest: int = 4) -> int:
    """The size up to which all attribute sets can be assessed quickly."""
    for size in range(largest, 0, -1):
        sets = sum(math.comb(attributes, number) for number in range(1, size + 1))
        if sets <= MOST_SETS and sets * rows <= MOST_CELLS:
            return size
    return 1
