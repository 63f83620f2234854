"""The losses of a release of which only the table before and the table after are known, not how it was made."""

from __future__ import annotations

import numpy as np
import polars as pl

from kohorte.data import Role, as_text, person_keys
from kohorte.errors import InputError
from kohorte.hierarchies import SUPPRESSED, Builder
from kohorte.plans.hierarchies import hierarchies
from kohorte.plans.plan import Plan
from kohorte.release.shown_classes import all_starred
from kohorte.release.telling.losses import ColumnLoss, Group, PeopleWith, of_column, of_values, people_with
from kohorte.sources import EncodedColumn, encode_rows


def losses_between(before: pl.DataFrame, after: pl.DataFrame, plan: Plan) -> tuple[ColumnLoss, ...] | None:
    """Compare two tables with the columns of a plan; None if the values before do not fit its hierarchies.

    A quasi-identifier whose cells stand at no single level of its hierarchy is left out.
    """
    names = list(plan.quasi_identifiers)
    shown = pl.DataFrame([as_text(after[name]) for name in names])
    starred = shown.select(all_starred(names)).to_series()
    if not starred.any() or starred.all():
        return ()
    try:
        encoded = encode_rows(before.select(names), hierarchies(plan), missing=plan.missing)
    except InputError:
        return None
    whom = _whom(before, plan)
    found = [_compared(column, shown[column.name].filter(~starred), whom) for column in encoded.columns]
    others = [name for role in (Role.SENSITIVE, Role.INSENSITIVE) for name in plan.names(role)]
    ties = plan.unit.links  # values of one person each, not categories
    both = [name for name in others if name in before.columns and name in after.columns and name not in ties]
    unchanged = [
        of_values(
            name,
            plan.attributes[name].role,
            _values(before[name], after[name].filter(~starred)),
            people=_people(as_text(before[name]), whom),
        )
        for name in both
    ]
    return (*(one for one in found if one is not None), *unchanged)


def _whom(before: pl.DataFrame, plan: Plan) -> pl.Series | None:
    """The person whom each row is about; None if rows are counted, or the table does not say it."""
    columns = plan.unit.columns
    if not columns or not set(columns) <= set(before.columns):
        return None
    return person_keys([as_text(before[name]) for name in columns])


def _people(texts: pl.Series, whom: pl.Series | None) -> PeopleWith | None:
    return None if whom is None else people_with(lambda: (texts, whom))


def _compared(column: EncodedColumn, kept: pl.Series, whom: pl.Series | None) -> ColumnLoss | None:
    """A quasi-identifier at the finest level that has all its cells; kept rows are told group by group."""
    labels = set(kept.drop_nulls().unique().to_list())
    fitting = (level for level, own in enumerate(column.labels) if labels <= set(own))
    level = next(fitting, None)
    if level is None or labels == {SUPPRESSED}:
        return None
    shown = dict(_counts(kept))
    own: list[int] = [shown.get(label, 0) for label in column.labels[level]]
    first = np.unique(column.maps[level], return_index=True)[1]
    by_code = np.zeros(len(column.maps[level]), dtype=np.int64)
    by_code[first] = np.array(own)[column.maps[level][first]]
    rows = np.bincount(column.codes, minlength=len(by_code)).astype(np.int64)
    people = _people(column.generalized(level), whom)
    return of_column(column, level, rows, by_code, finest=level, people=people)


def _values(before: pl.Series, kept: pl.Series) -> list[Group]:
    shown = dict(_counts(as_text(kept)))
    return [Group(label, rows, shown.get(label, 0)) for label, rows in sorted(_counts(as_text(before)), key=str)]


def _counts(text: pl.Series) -> list[tuple[str | None, int]]:
    return text.alias("value").to_frame().group_by("value", maintain_order=True).len().rows()


def at_one_level(before: pl.Series, shown: pl.Series, builder: Builder) -> bool:
    """Whether all cells of a column are labels of one level of its hierarchy, so that equal values look equal."""
    values = as_text(before).drop_nulls().unique().to_list()
    try:
        hierarchy = builder.build(values, attribute=before.name)
    except InputError:
        return False
    cells = set(as_text(shown).drop_nulls().unique())
    return any(cells <= set(hierarchy.column(level)) for level in range(hierarchy.top + 1))
