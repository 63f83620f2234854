"""The figures of risk: attackers, the spread of the risk, class sizes, before and after, the population."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from kohorte.drawing import Bar, Drawing, Heading, horizontal_bars, paired_bars
from kohorte.report.facts import Facts, Measured
from kohorte.report.figures import percent
from kohorte.report.html import bullets, figure, note, paragraph, section, table
from kohorte.report.ranges import Range, class_sizes, joined, risk_intervals, small_classes_as_one
from kohorte.report.rounding import LEAST
from kohorte.report.rows_as_bars import row_bar, row_pair
from kohorte.risks.attackers import Attacker
from kohorte.risks.uniqueness import PopulationEstimate, Uniqueness

KNOWS = {
    "prosecutor": "looks for one person and knows that the person is in the table (a neighbour, a colleague)",
    "journalist": "looks for anybody, and does not know who is in the table",
    "marketer": "looks for as many people as possible; single mistakes do not matter",
}

UNKNOWN = (
    "How many of them are also unique among all people whom the table could be about is unknown: nothing was said of "
    "that population."
)

ESTIMATES = "Estimates of the same figure; Dankar's rule chooses between the other three."
FLAT = (
    "Estimators assume a few common kinds of people and many rare ones: where all kinds are about equally common, the "
    "estimate can be far too high."
)


def risk_part(facts: Facts) -> str:
    """All sections about the risk."""
    return (
        section("Who could find somebody?", _attackers(facts))
        + section("How is the risk spread?", _spread(facts))
        + section("Before and after", _measures(facts))
        + section("Unique people", _uniqueness(facts))
    )


# Attackers


def _attackers(facts: Facts) -> str:
    three = facts.judged.profile.attackers
    attackers = (three.prosecutor, three.journalist, three.marketer)
    header = [
        "attacker",
        "succeeds",
        "highest risk",
        "in rows",
        "average risk",
        f"rows above {percent(three.threshold)}",
    ]
    return (
        paragraph(
            "An attacker has a list of people with their quasi-identifiers and tries to find their rows. Three kinds "
            "are usual; the first is the strongest."
        )
        + table(header, [_attacker(attacker, facts) for attacker in attackers])
        + bullets(f"{attacker.name}: {KNOWS[attacker.name]}; {attacker.basis}" for attacker in attackers)
    )


def _attacker(attacker: Attacker, facts: Facts) -> list[str]:
    figures = facts.figures
    return [
        attacker.name,
        figures.share(attacker.success_rate, attacker.rows),
        figures.highest(attacker.highest_risk),
        figures.count(attacker.rows_at_highest_risk, attacker.rows),
        figures.share(attacker.average_risk, attacker.rows),
        figures.count(attacker.rows_above_threshold, attacker.rows),
    ]


# Ranges


def _spread(facts: Facts) -> str:
    """Inside before and after; for the public the table that is judged, without small numbers of rows."""
    if not facts.judged.profile.classes:
        return paragraph("Every row is suppressed: there is no risk to spread.")
    sides = facts.sides if facts.internal else (facts.judged,)
    sizes = class_sizes([side.shown.sizes for side in sides])
    ranges = sizes if facts.internal else joined(small_classes_as_one(sizes, LEAST), facts.least)
    if not ranges:
        return paragraph(f"The table has fewer than {facts.least} rows: they are not spread here.")
    by_risk = risk_intervals([side.profile for side in sides]) if facts.internal else ranges
    marked = len(sides) == 1 and any(one.rows[0] and one.reaches_above(facts.threshold) for one in by_risk)
    red = _marks(facts.threshold) if marked else ""
    spread = Heading("risk", "Rows by their risk", f"A row that looks like n - 1 others is at risk 1 / n. {red}")
    classes = Heading(
        "classes",
        "Rows by the size of their class",
        f"A class is a group of rows that look alike in all quasi-identifiers. The larger, the better hidden. {red}",
    )
    return "".join(
        figure(_drawn(heading, some, label, [side.kept for side in sides], facts))
        for heading, some, label in ((spread, by_risk, Range.risk), (classes, ranges, Range.size))
    )


def _marks(threshold: float) -> str:
    return (
        f"Bars with the word above (red) are above the threshold of {percent(threshold)}; those with the words partly "
        "above (yellow) hold classes on both sides of it."
    )


def _drawn(
    heading: Heading, ranges: Sequence[Range], label: Callable[[Range], str], kept: Sequence[int], facts: Facts
) -> Drawing:
    filled = [one for one in ranges if any(one.rows)]
    if len(kept) > 1:
        pairs = [row_pair(label(one), one.rows, kept, facts.figures) for one in filled]
        return paired_bars(heading, pairs, names=("before", "after"))
    bars = [row_bar(label(one), one.rows[0], kept[0], facts.figures) for one in filled]
    return horizontal_bars(heading, [_marked(bar, one, facts.threshold) for bar, one in zip(bars, filled, strict=True)])


def _marked(bar: Bar, one: Range, threshold: float) -> Bar:
    """The bar, in a word and a colour, as it stands to the threshold."""
    if not one.reaches_above(threshold):
        return bar
    word, tone = ("above", "bad") if one.above(threshold) else ("partly above", "fair")
    return replace(bar, shown=f"{bar.shown}, {word}", tone=tone)


# Before and after


def _measures(facts: Facts) -> str:
    if facts.after is None:
        return ""
    sides, figures = (facts.table, facts.after), facts.figures
    lines = [
        ["smallest class", *(figures.size(side.profile.smallest_class) for side in sides)],
        ["highest risk", *(figures.highest(_prosecutor(side).highest_risk) for side in sides)],
        ["average risk", *(figures.share(_prosecutor(side).average_risk, side.kept) for side in sides)],
        [
            "rows above the threshold",
            *(figures.part(_prosecutor(side).rows_above_threshold, side.kept) for side in sides),
        ],
        ["unique rows", *(figures.part(side.profile.uniqueness.sample_uniques, side.kept) for side in sides)],
        ["suppressed rows", *(f"{side.profile.suppressed:,}" for side in sides)],
    ]
    return paragraph("The same figures for the table before anonymization and for its release.") + table(
        ["", "before", "after"], lines
    )


def _prosecutor(side: Measured) -> Attacker:
    return side.profile.attackers.prosecutor


# Unique people


def _uniqueness(facts: Facts) -> str:
    found = facts.judged.profile.uniqueness
    said = paragraph("No row is the only one of its kind in the table.")
    if found.sample_uniques:
        alone = facts.figures.part(found.sample_uniques, facts.judged.kept)
        said = paragraph(f"Of the rows that are not suppressed, {alone} are the only ones of their kind in the table.")
    if found.population_size is None:
        return said + note(UNKNOWN) if found.sample_uniques else said
    return said + _population(found, facts)


def _population(found: Uniqueness, facts: Facts) -> str:
    size = f"{found.population_size:,.0f} people" if found.population_size is not None else "unknown size"
    if found.population_uniques is None:
        said = paragraph(f"For the population of {size} there is no estimate.")
    else:
        number, share = _unique_people(found.population_uniques, facts), found.population_share
        said = paragraph(
            f"In the population of {size} {number} ({facts.figures.share(share, facts.judged.kept)}) are unique. A row "
            "that is unique here need not be unique there."
        )
    if not facts.internal:
        return said + note(FLAT)
    lines = [[estimate.estimator, _estimated(estimate), estimate.reason] for estimate in found.estimates]
    header = ["estimator", "unique people", "why there is none"]
    return said + table(header, lines, figures=False) + note(f"{ESTIMATES} {FLAT}")


def _unique_people(number: float, facts: Facts) -> str:
    told = facts.figures.number(number)
    return f"about {told}" if facts.figures.exact else told


def _estimated(estimate: PopulationEstimate) -> str:
    return "no estimate" if estimate.uniques is None else f"{estimate.uniques:,.0f}"
