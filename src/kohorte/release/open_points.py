"""What a person who hands on a release should think about first; as long as a point is open, the verdict is amber."""

from __future__ import annotations

import numpy as np
import polars as pl

from kohorte.data import Role, as_text
from kohorte.hierarchies import SUPPRESSED, Builder, Ordering
from kohorte.in_words import ROWS, Unit
from kohorte.plans.plan import Plan
from kohorte.release.candidate import Candidate
from kohorte.release.verification import Verification
from kohorte.release.words import unit_named, unit_of

GROUP = r"^\{| – "
"""What a label of an ordering has: a brace, or a dash between its first and its last value."""

INTERVAL = r"^\[.+[-–].+\]( or missing)?$"
"""A cell of a recoder that ends at values of the data: `[31-38]`."""


def warnings(release: Candidate) -> tuple[str, ...]:
    """The open points of a release."""
    plan = release.plan
    found = plan_warnings(plan)
    found += [
        _made_of_values(name)
        for name in _between_value_and_star(release)
        if _shows_values(plan.attributes[name].hierarchy)
    ]
    cells = () if release.recoding is None else release.recoding.columns
    found += [_ends_at_values(column.line.column.name) for column in cells if column.shows_ends]
    found += [
        f"a label of {column.line.column.name!r} has different meanings in different rows: its hierarchy has the "
        "same text at different levels"
        for column in cells
        if column.ambiguous
    ]
    gone = release.suppressed if release.people is None else release.people.losing()[0]
    return (*found, *_figures(plan, gone, release.smallest_class, unit_of(plan)))


def table_warnings(table: pl.DataFrame, plan: Plan, verification: Verification) -> tuple[str, ...]:
    """The open points of a table of which only the cells are known.

    How the labels were made is not known: those that can only be made of values of the data count as such.
    """
    found = plan_warnings(plan)
    names = plan.quasi_identifiers
    grouped = [name for name in names if _shows_values(plan.attributes[name].hierarchy)]
    found += [_made_of_values(name) for name in grouped if _has(table[name], GROUP)]
    measured = [name for name in names if not plan.minimum_levels[name]]
    found += [_ends_at_values(name) for name in measured if _has(table[name], INTERVAL)]
    unit, gone = unit_named(verification.unit), verification.people_losing_rows
    if plan.unit.counts_people and unit is ROWS:
        found.append("rows were counted, not people: the table does not say whom its rows are about")
    return (
        *found,
        *_figures(plan, verification.suppressed if gone is None else gone, verification.smallest_class, unit),
    )


def plan_warnings(plan: Plan) -> list[str]:
    """The open points that follow from the plan."""
    effective = [model for model in plan.models if not model.promises_nothing]
    protected = {name for model in effective for name in model.sensitive} | {*plan.decorrelated_attributes}
    found = [
        f"{name!r} is sensitive, but no model of the plan protects it: when all rows of a class share its value, that "
        "value is known for everybody in the class"
        for name in plan.names(Role.SENSITIVE)
        if name not in protected
    ]
    if not effective:
        found.insert(0, "no model of the plan promises anything: every table would satisfy it")
    if plan.decorrelate is None and len(plan.histograms) > 1:
        found.append(
            f"{', '.join(map(repr, plan.histograms))} are protected separately: a person who can exclude a value "
            "of one may learn another if they are correlated (the plan's option decorrelate prevents that)"
        )
    if plan.order == "input":
        found.append("the rows stand in the order of the input, which can tell who is who")
    return found


def plan_notes(plan: Plan) -> list[str]:
    """What a reader of the release should know, and what is no open point."""
    if plan.decorrelate is None:
        return []
    return [
        f"{', '.join(map(repr, plan.decorrelated_attributes))}: suppressed in most rows, chosen by chance, so that "
        f"they tell little about {plan.decorrelate.attribute!r}"
    ]


def _figures(plan: Plan, suppressed: int, smallest: int | None, unit: Unit) -> list[str]:
    """The open points that follow from what was counted: suppressed rows, or the people who lose rows by it."""
    found = []
    if plan.smallest_class < 2 and smallest == 1:
        found.append(f"classes of one {unit.one} are allowed, so a person can stand alone in the release")
    if 0 < suppressed < plan.smallest_class:
        found.append(_few_suppressed(suppressed, unit))
    if smallest is None:
        found.append("every row is suppressed: the release tells nothing about the quasi-identifiers")
    return found


def _few_suppressed(suppressed: int, unit: Unit) -> str:
    return (
        f"only {suppressed} suppressed {unit.one if suppressed == 1 else unit.many}: a person who knows that somebody "
        "was suppressed has few to choose from"
    )


def _made_of_values(name: str) -> str:
    return f"the labels of {name!r} are made of values that occur in the data, so that they disclose some of them"


def _ends_at_values(name: str) -> str:
    return f"the intervals of {name!r} end at values that occur in the data, so that they disclose some of them"


def _between_value_and_star(release: Candidate) -> list[str]:
    """The quasi-identifiers that show labels other than single values and `*`."""
    if release.recoding is None:
        return [name for name, level in release.levels.items() if 0 < level < release.hierarchies[name].top]
    return [
        cells.line.column.name
        for cells in release.recoding.columns
        if ((cells.lows < cells.highs) & (np.array(cells.labels, dtype=object) != SUPPRESSED)).any()
    ]


def _shows_values(builder: Builder | None) -> bool:
    return isinstance(builder, Ordering) and builder.values is None


def _has(column: pl.Series, pattern: str) -> bool:
    """Whether a cell of a column fits a pattern."""
    found = as_text(column).unique().str.contains(pattern)
    return bool(found.fill_null(value=False).any())
