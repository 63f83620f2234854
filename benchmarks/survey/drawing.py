"""The plots of the page, with the page kit."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.survey.criteria import computed, differences, judge, printed
from benchmarks.survey.results import ESTIMATORS, Case
from kohorte.in_words import number, percent
from kohorte.pages import Bar, Drawing, Heading, Line, horizontal_bars, line_chart
from testbed import orwell


def drawings(cases: Sequence[Case]) -> list[Drawing]:
    """All plots."""
    return [*(figure(cases, published) for published in orwell.FIGURES), behaviour(cases), safety(cases)]


def figure(cases: Sequence[Case], published: int) -> Drawing:
    """A published figure: the percentages over the number of people, with the printed worst case beside ours."""
    table = orwell.FIGURES[published]
    own = [case for case in cases if case.table == table]
    lines = [
        Line(name, tuple((case.people, case.percent(name) / 100) for case in own)) for name in ("OR", "FG", "RT", "RR")
    ]
    lines.append(Line("BU, computed", tuple((case.people, computed(case) / 100) for case in own)))
    lines.append(
        Line("BU, printed", tuple((case.people, at / 100) for case in own if (at := printed(case)) is not None))
    )
    heading = Heading(
        f"figure-{published}",
        f"Figure {published}: table {table}, over the number of people",
        "OR, FG, RT and RR per person, at most 100 %, and the worst case (BU).",
    )
    return line_chart(heading, lines, axes=("number of people", "DA"), shown=percent, highest=1.0)


def behaviour(cases: Sequence[Case]) -> Drawing:
    """Natural behaviour: the difference to the worst case, in the mean over the tables."""
    lines = []
    for name in ESTIMATORS:
        found = differences(cases, name, computed)
        means = []
        for people in orwell.PEOPLE:
            values = [value for case, value in found if case.people == people]
            means.append((people, sum(values) / len(values)))
        lines.append(Line(name, tuple(means)))
    heading = Heading(
        "behaviour",
        "Natural behaviour: estimate minus worst case",
        "In percentage points, in the mean over the tables. A level line behaves naturally, one above 0 is safe.",
    )
    return line_chart(heading, lines, axes=("number of people", "percentage points"), shown=number)


def safety(cases: Sequence[Case]) -> Drawing:
    """Safety: in how many lines the estimate is not below the worst case."""
    bars = []
    for name in ESTIMATORS:
        found = judge(cases, name)
        bars.append(Bar(name, found.safe, f"{found.safe} of {found.cases}"))
    heading = Heading("safety", "Safety: lines in which the estimate is not below the worst case", "More is better.")
    return horizontal_bars(heading, bars)
