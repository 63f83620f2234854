"""The figures of risk: attackers, distribution of risk, class sizes, before and after, the population."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from kohorte.in_words import PEOPLE, count, percent
from kohorte.pages import Bar, Drawing, Heading, horizontal_bars, paired_bars, shares_of
from kohorte.release.telling.people import LEAST
from kohorte.report.facts import Facts, Measured
from kohorte.report.figures.alike_words import NOT_COUNTED
from kohorte.report.figures.bars import share_bar, share_pair
from kohorte.report.figures.ranges import Range, class_sizes, joined, risk_intervals, small_classes_as_one
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
                figures.share(attacker.success_rate, attacker.count),
                figures.highest(attacker.highest_risk),
                figures.count(attacker.at_highest_risk, attacker.count),
                figures.share(attacker.average_risk, attacker.count),
                figures.count(attacker.above_threshold, attacker.count),
            ]
            for name, attacker in self.attackers
        ]

    # How the risk is spread

    @cached_property
    def spread(self) -> list[Drawing]:
        """Charts: internally before and after; publicly the assessed table, without small numbers."""
        facts = self.facts
        sides = facts.sides if facts.internal else (facts.judged,)
        sizes = class_sizes([side.by_size for side in sides], facts.unit)
        ranges = sizes if facts.internal else joined(small_classes_as_one(sizes, LEAST), facts.least)
        if not ranges or not facts.judged.profile.classes:
            return []
        by_risk = risk_intervals([side.profile for side in sides]) if facts.internal else ranges
        marked = len(sides) == 1 and any(one.counts[0] and one.reaches_above(facts.threshold) for one in by_risk)
        red = _marks(facts.threshold) if marked else ""
        words = facts.words
        how, size = f"{words.risk} {NOT_COUNTED} {red}", f"{words.size} Larger is better hidden. {NOT_COUNTED} {red}"
        spread = Heading("risk", facts.told(words.by_risk), facts.told(how))
        classes = Heading("classes", facts.told(words.by_size), facts.told(size))
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
            self.facts.words.smallest: lambda side, _: figures.size(side.profile.smallest_class),
            "highest risk": lambda _, attacker: figures.highest(attacker.highest_risk),
            "average risk": lambda side, attacker: figures.share(attacker.average_risk, side.kept),
            f"{many} above the threshold": lambda side, attacker: figures.part(attacker.above_threshold, side.kept),
            f"unique {many}": lambda side, _: figures.part(side.profile.uniqueness.sample_uniques, side.kept),
            "suppressed rows": lambda side, _: count(side.profile.suppressed),
        }
        if self.facts.unit is PEOPLE:
            measured["people whose rows are all suppressed"] = lambda side, _: figures.number(
                side.profile.people_losing_all_rows or 0
            )
        return [
            [name, *(measure(side, side.profile.attackers.prosecutor) for side in self.facts.sides)]
            for name, measure in measured.items()
        ]

    # Unique people

    @property
    def uniqueness(self) -> Uniqueness:
        """The uniqueness of the rows or people of the judged table."""
        return self.facts.judged.profile.uniqueness

    @property
    def unique(self) -> str:
        """Who is unique in the table, as a sentence."""
        words, found = self.facts.words, self.uniqueness.sample_uniques
        if not found:
            return f"{words.none_unique} in the table."
        some = self.facts.figures.part(found, self.facts.judged.kept)
        return f"Of {words.whole}, {some} {words.unique} in the table."

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
    filled = [one for one in ranges if any(one.counts)]
    scale = shares_of(facts.words.whole)
    if len(kept) > 1:
        pairs = [share_pair(facts.told(label(one)), one.counts, kept, facts.figures) for one in filled]
        return paired_bars(heading, pairs, names=("before", "after"), scale=scale, language=facts.language)
    bars = [share_bar(facts.told(label(one)), one.counts[0], kept[0], facts.figures) for one in filled]
    marked = [_marked(bar, one, facts.threshold) for bar, one in zip(bars, filled, strict=True)]
    return horizontal_bars(heading, marked, scale=scale, language=facts.language)


def _marked(bar: Bar, one: Range, threshold: float) -> Bar:
    """The bar, marked by a word and a colour if it is above the threshold, or partly."""
    if not one.reaches_above(threshold):
        return bar
    word, tone = ("above", "bad") if one.above(threshold) else ("partly above", "fair")
    return replace(bar, shown=f"{bar.shown}, {word}", tone=tone)
