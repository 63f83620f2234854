"""Attributes: contribution of each, distribution of values and, in the internal view, the riskiest rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from kohorte.data import Role, as_text
from kohorte.hierarchies import SUPPRESSED
from kohorte.in_words import FEW, count, number, percent
from kohorte.pages import Bar, Drawing, Heading, Scale, horizontal_bars, paired_bars, shares_of
from kohorte.pages.charts.axis import ceiling
from kohorte.plans.hierarchies import hierarchies
from kohorte.release.telling.compared_losses import at_one_level
from kohorte.release.words import levels_in_words
from kohorte.report.facts import Facts, Measured
from kohorte.report.figures.alike_words import NOT_COUNTED
from kohorte.report.figures.bars import share_bar, share_pair
from kohorte.report.figures.contributions import Contribution, information_kept, recoded_information_kept
from kohorte.report.figures.distributions import Distribution, Part, comparable, distribution

MOST_SETS = 10
SPREAD = (Role.QUASI_IDENTIFYING, Role.SENSITIVE)
"""The roles whose values are drawn."""


@dataclass(frozen=True, eq=False)
class Contributions:
    """The contributions of the quasi-identifiers of one table; `when` says which table, if there are two."""

    facts: Facts
    side: Measured
    when: str

    @property
    def risk(self) -> str:
        """The average risk with all attributes."""
        return self.facts.figures.share(self._now, self.side.kept)

    @property
    def drawing(self) -> Drawing | None:
        """How far the average risk falls without each attribute; None if it does not fall."""
        bars = [
            Bar(one.attribute, self._fall(one), f"to {self.facts.figures.share(one.average_without, self.side.kept)}")
            for one in self._sorted
        ]
        heading = Heading(
            "contributions",
            self.facts.told(f"How far the average risk falls if an attribute is left out{self.when}"),
            self.facts.told(
                f"The average risk is {self.risk} with all attributes; beside a bar is the risk without this one. A "
                "long bar means: this attribute makes people recognizable, and generalizing it helps the most. "
                f"{NOT_COUNTED}"
            ),
        )
        highest = min(1.0, ceiling(self.facts.figures.drawn(self._now, self.side.kept)))
        scale = Scale(highest, "fall of the average risk, in percentage points", _points)
        if not any(one.value for one in bars):
            return None
        return horizontal_bars(heading, bars, scale=scale, language=self.facts.language)

    @property
    def lines(self) -> list[list[str]]:
        """The figures of each attribute."""
        figures, kept = self.facts.figures, self.side.kept
        return [
            [
                one.attribute,
                count(one.values) if one.values < FEW else figures.number(one.values),
                figures.share(one.separation, kept // 2),  # one row or person changes it twice as much as a share
                self._singled_out(one),
                figures.count(one.uniques_without, kept),
            ]
            for one in self._sorted
        ]

    @property
    def _now(self) -> float:
        return self.side.profile.attackers.prosecutor.average_risk

    @property
    def _sorted(self) -> list[Contribution]:
        figures, kept = self.facts.figures, self.side.kept
        return sorted(self.side.contributions, key=lambda one: figures.drawn(one.average_without, kept))

    def _fall(self, one: Contribution) -> float:
        """How far the risk falls without an attribute, as the difference of the rounded figures."""
        before, after = (self.facts.figures.drawn(risk, self.side.kept) for risk in (self._now, one.average_without))
        return max(0.0, before - after)

    def _singled_out(self, one: Contribution) -> str:
        """The share of the scores of special uniques; rounded like a share of those rows."""
        figures, rows = self.facts.figures, self.side.profile.special_uniques.count
        if not rows:
            return "none"
        told = figures.exact or figures.step(rows) is not None
        return figures.share(one.singles_out, rows) if told else f"not told: few {self.facts.unit.many}"


@dataclass(frozen=True, eq=False)
class AttributesPart:
    """The content of the sections about attributes."""

    facts: Facts

    @property
    def contributions(self) -> list[Contributions]:
        """The contributions in the assessed table; in the internal view also in the raw table."""
        facts = self.facts
        sides = [(facts.judged, "")]
        if facts.after is not None and facts.internal:
            sides = [(facts.table, ", before"), (facts.after, ", after")]
        return [Contributions(facts, side, when) for side, when in sides if side.profile.classes]

    @property
    def kept(self) -> list[list[str]]:
        """What a release still shows of each quasi-identifier."""
        return [] if self.facts.after is None else [self._released(name) for name in self.facts.plan.quasi_identifiers]

    def _released(self, name: str) -> list[str]:
        facts = self.facts
        assert facts.after is not None
        before, after = facts.table.frame[name], facts.after.frame[name]
        return [
            name,
            self._levels.get(name, "unknown"),
            *([count(before.n_unique())] if facts.internal else []),
            _values(after),
            self._information(name, before, after, facts.after.suppressed_rows),
        ]

    def _information(self, name: str, before: pl.Series, after: pl.Series, suppressed: pl.Series) -> str:
        """The information that is kept; not known if it is not known which row shows which cell."""
        facts, recoding = self.facts, None if self.facts.made is None else self.facts.made.recoding
        if recoding is not None:
            kept = recoded_information_kept(before, after, recoding)
        elif facts.made is None and not at_one_level(before, after.filter(~suppressed), hierarchies(facts.plan)[name]):
            return "not known"
        else:
            kept = information_kept(before, after, suppressed)
        return "nothing to lose" if kept is None else facts.figures.kept(kept)

    @cached_property
    def _levels(self) -> dict[str, str]:
        return {} if self.facts.made is None else levels_in_words(self.facts.made)

    # Distributions

    @property
    def distributions(self) -> list[tuple[Drawing, bool]]:
        """Charts of the values, and whether they may be drawn: before and after internally, only after publicly."""
        facts = self.facts
        if facts.after is None and not facts.internal:
            return []
        names = [name for role in SPREAD for name in facts.plan.names(role) if name in facts.judged.frame.columns]
        return [drawing for name in names for drawing in self._attribute(name)]

    def _attribute(self, name: str) -> list[tuple[Drawing, bool]]:
        facts = self.facts
        if facts.after is None:
            return [self._side(facts.table, name, "")]
        if not facts.internal or name not in facts.table.frame.columns:
            return [self._side(facts.after, name, ", in the release")]
        if comparable(facts.table.frame[name], facts.after.frame[name]):
            return [self._both(facts.table, facts.after, name)]
        return [self._side(facts.table, name, ", before"), self._side(facts.after, name, ", after")]

    def _side(self, side: Measured, name: str, when: str) -> tuple[Drawing, bool]:
        found = self._distribution([side], name)
        rows = side.frame.height
        bars = [share_bar(self._label(part), part.rows[0], rows, self.facts.row_figures) for part in found.parts]
        heading = self._heading(found, when)
        return horizontal_bars(heading, bars, scale=self._scale, language=self.facts.language), bool(bars)

    def _both(self, before: Measured, after: Measured, name: str) -> tuple[Drawing, bool]:
        found = self._distribution([before, after], name)
        rows = (before.frame.height, after.frame.height)
        pairs = [share_pair(self._label(part), part.rows, rows, self.facts.row_figures) for part in found.parts]
        heading, language = self._heading(found, ", before and after"), self.facts.language
        drawing = paired_bars(heading, pairs, names=("before", "after"), scale=self._scale, language=language)
        return drawing, bool(pairs)

    def _label(self, part: Part) -> str:
        """The name of a part: a value as it is, everything else in the language of the reader."""
        return part.label if part.is_value else self.facts.told(part.label)

    def _distribution(self, sides: Sequence[Measured], name: str) -> Distribution:
        """The values of an attribute; a `*` is that of a suppressed row, or of a removed value."""
        of_rows = name in self.facts.plan.quasi_identifiers
        suppressed = [side.suppressed_rows for side in sides] if of_rows else None
        people = [known for side in sides if (known := self.facts.one_value_each(side, name)) is not None]
        columns = [side.frame[name] for side in sides]
        return distribution(columns, least=self.facts.least, suppressed=suppressed, people=people)

    @property
    def _scale(self) -> Scale:
        return shares_of("all rows")

    def _heading(self, found: Distribution, when: str) -> Heading:
        role = self.facts.plan.attributes[found.attribute].role
        caption = self.facts.told(f"{role} attribute; suppressed rows are counted")
        return Heading("values", f"{found.attribute}{self.facts.told(when)}", caption)

    # For the internal view

    @property
    def suspected(self) -> list[list[str]]:
        """The columns that look like identifiers."""
        return [
            [one.attribute, one.role, one.identifier, one.why, "PROBLEM" if one.problem else "as it should be"]
            for one in self.facts.judged.profile.suspected_identifiers
        ]

    @property
    def telling_sets(self) -> list[list[str]]:
        """The sets of attributes that single people out."""
        telling = [found for found in self.facts.table.profile.telling_sets if found.singled_out][:MOST_SETS]
        return [
            [" + ".join(one.attributes), count(one.singled_out), percent(one.distinction), percent(one.separation)]
            for one in telling
        ]

    @property
    def riskiest_rows(self) -> list[list[str]]:
        """The rows at the highest risk, by number."""
        return [
            [
                self.facts.told(count(row.row)),
                self.facts.told(count(row.class_size)),
                self.facts.told(percent(row.risk)),
                "; ".join(" + ".join(names) for names in row.singled_out_by)
                or self.facts.told("all attributes together"),
            ]
            for row in self.facts.table.profile.riskiest_rows(self.facts.listed)
        ]


def _values(column: pl.Series) -> str:
    shown = as_text(column).unique()
    values = len(shown) - int(shown.eq_missing(SUPPRESSED).sum())
    return count(values) if values else "none: removed (top level)"


def _points(share: float) -> str:
    """A difference of shares, in percentage points."""
    return number(100 * share)
