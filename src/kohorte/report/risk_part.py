"""The figures of risk: attackers, distribution of risk, class sizes, before and after, the population."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from kohorte.in_words import count, percent
from kohorte.pages import Bar, Drawing, Heading, horizontal_bars, paired_bars, shares_of
from kohorte.report.facts import Facts, Measured
from kohorte.report.ranges import Range, class_sizes, joined, risk_intervals, small_classes_as_one
from kohorte.report.rounding import LEAST
from kohorte.report.rows_as_bars import row_bar, row_pair
from kohorte.risks.attackers import Attacker
from kohorte.risks.uniqueness import Uniqueness


@dataclass(frozen=True, eq=False)
class RiskPart:
    """The content of the sections about risk."""

    facts: Facts

    # Attackers

    @property
    def attackers(self) -> tuple[tuple[str, Attacker], ...]:
        """The attackers on the judged table; those that cannot be told apart without a population are one."""
        return self.facts.judged.profile.attackers.by_figures

    @property
    def attacker_lines(self) -> list[list[str]]:
        """The figures of each attacker."""
        figures = self.facts.figures
        return [
            [
                name,
                figures.share(attacker.success_rate, attacker.rows),
                figures.highest(attacker.highest_risk),
                figures.count(attacker.rows_at_highest_risk, attacker.rows),
                figures.share(attacker.average_risk, attacker.rows),
                figures.count(attacker.rows_above_threshold, attacker.rows),
            ]
            for name, attacker in self.attackers
        ]

    # How the risk is spread

    @cached_property
    def spread(self) -> list[Drawing]:
        """Charts: internally before and after; publicly the assessed table, without small numbers of rows."""
        facts = self.facts
        sides = facts.sides if facts.internal else (facts.judged,)
        sizes = class_sizes([side.shown.sizes for side in sides])
        ranges = sizes if facts.internal else joined(small_classes_as_one(sizes, LEAST), facts.least)
        if not ranges or not facts.judged.profile.classes:
            return []
        by_risk = risk_intervals([side.profile for side in sides]) if facts.internal else ranges
        marked = len(sides) == 1 and any(one.rows[0] and one.reaches_above(facts.threshold) for one in by_risk)
        red = _marks(facts.threshold) if marked else ""
        one, many = facts.unit.one, facts.unit.many
        counts = f"Suppressed {many} are not counted."
        spread = Heading(
            "risk",
            f"{many.capitalize()} by their risk",
            f"A {one} that looks like n - 1 others is at risk 1 / n. {counts} {red}",
        )
        classes = Heading(
            "classes",
            f"{many.capitalize()} by the size of their class",
            f"A class is a group of {many} that look alike in all quasi-identifiers. Larger is better hidden. "
            f"{counts} {red}",
        )
        return [
            _drawn(heading, some, label, [side.kept for side in sides], facts)
            for heading, some, label in ((spread, by_risk, Range.risk), (classes, ranges, Range.size))
        ]

    # Before and after

    @property
    def measures(self) -> list[list[str]]:
        """The same figures for the table and its release; empty without a release."""
        if self.facts.after is None:
            return []
        figures, many = self.facts.figures, self.facts.unit.many
        measured: dict[str, Callable[[Measured, Attacker], str]] = {
            "smallest class": lambda side, _: figures.size(side.profile.smallest_class),
            "highest risk": lambda _, attacker: figures.highest(attacker.highest_risk),
            "average risk": lambda side, attacker: figures.share(attacker.average_risk, side.kept),
            f"{many} above the threshold": lambda side, attacker: figures.part(
                attacker.rows_above_threshold, side.kept
            ),
            f"unique {many}": lambda side, _: figures.part(side.profile.uniqueness.sample_uniques, side.kept),
            f"suppressed {many}": lambda side, _: count(side.profile.suppressed),
        }
        return [
            [name, *(measure(side, side.profile.attackers.prosecutor) for side in self.facts.sides)]
            for name, measure in measured.items()
        ]

    # Unique people

    @property
    def uniqueness(self) -> Uniqueness:
        """The uniqueness of the rows of the judged table."""
        return self.facts.judged.profile.uniqueness

    @property
    def unique_rows(self) -> str:
        """The number of unique rows."""
        return self.facts.figures.part(self.uniqueness.sample_uniques, self.facts.judged.kept)

    @property
    def unique_people(self) -> str:
        """The number of people who are unique in the population."""
        found = self.uniqueness
        told = self.facts.figures.number(found.population_uniques or 0.0)
        share = self.facts.figures.share(found.population_share, self.facts.judged.kept)
        return f"{'about ' if self.facts.figures.exact else ''}{told} ({share})"

    @property
    def estimates(self) -> list[list[str]]:
        """The figures of all estimators, for the internal view."""
        return [
            [one.estimator, "no estimate" if one.uniques is None else count(round(one.uniques)), one.reason]
            for one in self.uniqueness.estimates
        ]


def _marks(threshold: float) -> str:
    return (
        f"Bars with the word above (red) are above the threshold of {percent(threshold)}; those with the words partly "
        "above (yellow) hold classes on both sides of it."
    )


def _drawn(
    heading: Heading, ranges: Sequence[Range], label: Callable[[Range], str], kept: Sequence[int], facts: Facts
) -> Drawing:
    filled = [one for one in ranges if any(one.rows)]
    scale = shares_of(f"the {facts.unit.many} that are not suppressed")
    if len(kept) > 1:
        pairs = [row_pair(label(one), one.rows, kept, facts.figures) for one in filled]
        return paired_bars(heading, pairs, names=("before", "after"), scale=scale)
    bars = [row_bar(label(one), one.rows[0], kept[0], facts.figures) for one in filled]
    marked = [_marked(bar, one, facts.threshold) for bar, one in zip(bars, filled, strict=True)]
    return horizontal_bars(heading, marked, scale=scale)


def _marked(bar: Bar, one: Range, threshold: float) -> Bar:
    """The bar, marked by a word and a colour if it is above the threshold, or partly."""
    if not one.reaches_above(threshold):
        return bar
    word, tone = ("above", "bad") if one.above(threshold) else ("partly above", "fair")
    return replace(bar, shown=f"{bar.shown}, {word}", tone=tone)
