"""What the report tells of attributes: what each contributes, how its values are spread, inside also who stands out."""

from __future__ import annotations

import polars as pl

from kohorte.data import Role, as_text
from kohorte.drawing import Bar, Drawing, Heading, horizontal_bars, paired_bars
from kohorte.hierarchy import SUPPRESSED
from kohorte.report.contributions import Contribution, information_kept
from kohorte.report.distributions import Distribution, comparable, distribution
from kohorte.report.facts import Facts, Measured
from kohorte.report.figures import percent
from kohorte.report.html import figure, note, paragraph, section, table
from kohorte.report.rounding import FEW
from kohorte.report.rows_as_bars import row_bar, row_pair

MOST_SETS = 10
SPREAD = (Role.QUASI_IDENTIFYING, Role.SENSITIVE)
"""The roles whose values are drawn."""


CONTRIBUTED = (
    "Tells apart: the share of all pairs of rows that differ in this attribute alone (separation). Part in singling "
    "out: the share of the scores of special uniques that comes from sets with this attribute; as sets overlap, these "
    "do not add up to 100 %. Unique rows without it: rows that would still be the only ones of their kind without it."
)


def attributes_part(facts: Facts) -> str:
    """All sections about attributes."""
    return (
        section("What each attribute contributes", _contributions(facts))
        + section("What is lost", _kept(facts))
        + section("How the values are spread", _distributions(facts))
        + (_inside(facts) if facts.internal else "")
    )


# Contributions


def _contributions(facts: Facts) -> str:
    """Of the judged table; inside also of the raw one."""
    if facts.after is None or not facts.internal:
        return _contributed(facts, facts.judged, "")
    return _contributed(facts, facts.table, ", before") + _contributed(facts, facts.after, ", after")


def _contributed(facts: Facts, side: Measured, when: str) -> str:
    if not side.profile.classes:
        return ""
    now, kept, figures = side.profile.attackers.prosecutor.average_risk, side.kept, facts.figures
    found = sorted(side.contributions, key=lambda one: figures.drawn(one.average_without, kept))
    risk = figures.share(now, kept)
    heading = Heading(
        "contributions",
        f"How far the average risk falls if an attribute is left out{when}",
        f"The average risk is {risk} with all attributes. A long bar means: this attribute makes people "
        "recognizable, and making it vaguer helps the most.",
    )
    bars = [
        Bar(one.attribute, _fall(now, one, side, facts), f"to {figures.share(one.average_without, kept)}")
        for one in found
    ]
    header = ["attribute", "different values", "tells apart", "part in singling out", "unique rows without it"]
    lines = [_line(one, facts, side) for one in found]
    drawn = paragraph(f"Without any one of the attributes the average risk would stay at {risk}{when}.")
    if any(one.value for one in bars):
        drawn = figure(horizontal_bars(heading, bars))
    return drawn + table(header, lines) + note(CONTRIBUTED)


def _fall(now: float, one: Contribution, side: Measured, facts: Facts) -> float:
    """How far the risk falls without an attribute, between the figures as they are told."""
    before, after = (facts.figures.drawn(risk, side.kept) for risk in (now, one.average_without))
    return max(0.0, before - after)


def _line(one: Contribution, facts: Facts, side: Measured) -> list[str]:
    figures = facts.figures
    return [
        one.attribute,
        f"{one.values}" if one.values < FEW else figures.number(one.values),
        figures.share(one.separation, side.kept // 2),  # a row changes it twice as much as a share of rows
        _part_in_singling_out(one, facts, side),
        figures.count(one.uniques_without, side.kept),
    ]


def _part_in_singling_out(one: Contribution, facts: Facts, side: Measured) -> str:
    """A share of scores, which are those of the rows that are singled out."""
    rows = side.profile.special_uniques.rows
    if not rows:
        return "none"
    told = facts.figures.exact or facts.figures.step(rows) is not None
    return facts.figures.share(one.singles_out, rows) if told else "not told: few rows"


def _kept(facts: Facts) -> str:
    """What a release still shows of each quasi-identifier."""
    if facts.after is None:
        return ""
    lines = [_released(name, facts) for name in facts.plan.quasi_identifiers]
    header = ["attribute", "level", *(["values before"] if facts.internal else []), "values after", "information kept"]
    return table(header, lines) + note(
        "Level: how many steps of its hierarchy the attribute was made vaguer; 0 is the value itself. Information "
        "kept: the entropy of what is shown, as a share of the entropy of the original values (100 %: nothing is lost)."
    )


def _released(name: str, facts: Facts) -> list[str]:
    assert facts.after is not None
    before, after = facts.table.frame[name], facts.after.frame[name]
    kept = information_kept(before, after)
    return [
        name,
        _level(name, facts),
        *([f"{before.n_unique():,}"] if facts.internal else []),
        _values(after),
        "nothing to lose" if kept is None else _kept_share(kept, facts),
    ]


def _kept_share(kept: float, facts: Facts) -> str:
    return f"{100 * kept:.0f} %" if facts.internal else facts.figures.share(kept, facts.table.kept)


def _values(column: pl.Series) -> str:
    shown = as_text(column).unique()
    values = len(shown) - int(shown.eq_missing(SUPPRESSED).sum())
    return f"{values:,}" if values else "only *"


def _level(name: str, facts: Facts) -> str:
    made = facts.made
    if made is None:
        return "unknown"
    top = made.hierarchies[name].top
    if name in made.levels:
        return f"{made.levels[name]} of {top}"
    cells = made.recoded[name]
    return f"{cells['lowest_level']} to {cells['highest_level']} of {top}"


# Distributions


def _distributions(facts: Facts) -> str:
    """Inside: before and after. For the public: what the release shows; of a raw table nothing."""
    if facts.after is None and not facts.internal:
        return ""
    names = [name for role in SPREAD for name in facts.plan.names(role) if name in facts.judged.frame.columns]
    drawn = "".join(_attribute(name, facts) for name in names)
    said = (
        f"A value is named only if at least {facts.least} rows have it; all others are put together. Numbers and dates "
        f"are put into ranges of at least {facts.least} rows."
    )
    return paragraph(said) + drawn if drawn else ""


def _attribute(name: str, facts: Facts) -> str:
    role = str(facts.plan.attributes[name].role)
    if facts.after is None:
        return _side(distribution([facts.table.frame[name]], least=facts.least), facts, role, "")
    after = facts.after.frame[name]
    if not facts.internal or name not in facts.table.frame.columns:
        return _side(distribution([after], least=facts.least), facts, role, "in the release")
    before = facts.table.frame[name]
    if comparable(before, after):
        return _both(distribution([before, after], least=facts.least), facts, role, (before.len(), after.len()))
    return _side(distribution([before], least=facts.least), facts, role, "before") + _side(
        distribution([after], least=facts.least), facts, role, "after"
    )


def _side(found: Distribution, facts: Facts, role: str, when: str) -> str:
    title = ", ".join(part for part in (found.attribute, when) if part)
    rows = sum(part.rows[0] for part in found.parts)
    bars = [row_bar(part.label, part.rows[0], rows, facts.figures) for part in found.parts]
    return _figure(found, horizontal_bars(Heading("values", title, f"{role} attribute"), bars))


def _both(found: Distribution, facts: Facts, role: str, rows: tuple[int, int]) -> str:
    heading = Heading("values", f"{found.attribute}, before and after", f"{role} attribute")
    pairs = [row_pair(part.label, part.rows, rows, facts.figures) for part in found.parts]
    return _figure(found, paired_bars(heading, pairs, names=("before", "after")))


def _figure(found: Distribution, drawing: Drawing) -> str:
    if found.parts:
        return figure(drawing)
    return note(f"{drawing.title}: nothing is drawn, because it would show values of small groups.")


# Inside


def _inside(facts: Facts) -> str:
    return (
        section("Columns that look like identifiers", _suspected(facts))
        + section("Which attributes single people out", _sets(facts))
        + section("Rows at the highest risk", _rows(facts))
    )


def _suspected(facts: Facts) -> str:
    lines = [
        [found.attribute, found.role, found.identifier, found.why, "PROBLEM" if found.problem else "as it should be"]
        for found in facts.judged.profile.suspected_identifiers
    ]
    if not lines:
        return paragraph("None was found, by names and by contents. Free text is not searched for names.")
    return table(["column", "role", "looks like", "why", ""], lines, figures=False)


def _sets(facts: Facts) -> str:
    profile = facts.table.profile
    telling = [found for found in profile.telling_sets if found.singled_out][:MOST_SETS]
    if not telling:
        return ""
    lines = [
        [" + ".join(found.attributes), f"{found.singled_out:,}", percent(found.distinction), percent(found.separation)]
        for found in telling
    ]
    return (
        paragraph(
            f"{profile.special_uniques.rows:,} rows of the {'raw table' if facts.after else 'table'} can be singled "
            f"out by at most {profile.special_uniques.largest} attributes. These sets do it, where smaller ones do not:"
        )
        + table(["attributes", "rows singled out", "distinction", "separation"], lines)
        + note("Distinction: the share of rows that is left if of those that look alike one stays.")
    )


def _rows(facts: Facts) -> str:
    lines = [
        [
            f"{row.row:,}",
            f"{row.class_size:,}",
            percent(row.risk),
            "; ".join(" + ".join(names) for names in row.singled_out_by) or "all attributes together",
        ]
        for row in facts.table.profile.riskiest_rows(facts.listed)
    ]
    return table(["row", "rows alike", "risk", "singled out by"], lines, figures=False) + note(
        f"Rows of the {'raw table' if facts.after else 'table'}, by number: 1 is the first one below the header."
    )
