"""What a release loses besides detail: values of which no kept row is left, and groups whose rows are suppressed.

A value is lost if the table has it and no kept row does. For a quasi-identifier it is a label of the released level;
for another column a value, which suppressed rows may still show. Certificates and public pages say only how many values
a column lost: the values themselves belong to people who were suppressed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import polars as pl

from kohorte.data import Role, person_keys
from kohorte.in_words import PEOPLE, ROWS, Unit
from kohorte.kernels.arrays import Bools, Counts
from kohorte.lattice import Node
from kohorte.plans.plan import Plan
from kohorte.release.shown_classes import all_starred
from kohorte.sources import COUNT, EncodedColumn, EncodedTable, Persons, TableSource, Tuples

MOST_LISTED = 20
"""The number of lost values of a column that are kept by name."""

MOST_LABELS = 500
"""A level with more labels is not divided into groups."""

KEPT, SUPPRESSED_ROW = "1", "0"
SOME, VALUE, WHOM = "\0kept", "\0value", "\0whom"
ROLES = (Role.SENSITIVE, Role.INSENSITIVE)


@dataclass(frozen=True)
class Group:
    """The rows of a table that have a value (None: missing), and how many of them are kept.

    `people` is how many people have the value, where people are counted and this was asked for. `together` says that
    the group is several values put together, so that its label is none of them.
    """

    label: str | None = field(repr=False)
    rows: int
    kept: int
    people: int | None = None
    together: bool = False

    @property
    def size(self) -> int:
        """The people who have the value if they were counted, otherwise the rows."""
        return self.rows if self.people is None else self.people

    @property
    def suppressed_share(self) -> float:
        """The share of its rows that are suppressed."""
        return 1 - self.kept / self.rows


@dataclass(frozen=True, eq=False)
class ColumnLoss:
    """The lost values of a column, the most frequent first, and its groups, level by level, the finest first.

    `lost_values` counts all of them, `lost` has some of them by name. `lost_rows` is in how many rows they were, and
    `lost_people` how many people had one, where people are counted. The last `shown_levels` levels are no finer than
    what the release shows.
    """

    attribute: str
    role: Role
    lost_values: int
    lost_rows: int
    lost: tuple[Group, ...] = field(repr=False)
    levels: tuple[tuple[Group, ...], ...] = field(repr=False)
    shown_levels: int
    lost_people: int | None = None

    @property
    def unit(self) -> Unit:
        """What is counted of those who had a lost value."""
        return ROWS if self.lost_people is None else PEOPLE

    @property
    def lost_size(self) -> int:
        """How many people had a lost value, or in how many rows it was."""
        return self.lost_rows if self.lost_people is None else self.lost_people

    @property
    def gone(self) -> bool:
        """Whether a lost value is nowhere in the release, not even in a suppressed row."""
        return self.role is Role.QUASI_IDENTIFYING


PeopleWith = Callable[[Sequence[str | None]], tuple[Mapping[str | None, int], int]]
"""Counts the people who have each of some values, and all of these people together."""


def people_with(texts: Callable[[], tuple[pl.Series, pl.Series]]) -> PeopleWith:
    """Count people from the value of each row and the person whom it is about; asked for only if a value is lost."""

    def counted(values: Sequence[str | None]) -> tuple[Mapping[str | None, int], int]:
        value, person = texts()
        pairs = pl.DataFrame([value.alias(VALUE), person.alias(WHOM)])
        pairs = pairs.filter(pl.col(VALUE).is_in(list(values))).unique()
        return dict(pairs.group_by(VALUE).len().iter_rows()), pairs[WHOM].n_unique()

    return counted


class Encoded(Protocol):
    """A plan and its table, encoded: what the losses are counted from."""

    @property
    def plan(self) -> Plan:
        """The plan."""

    @property
    def source(self) -> TableSource:
        """The rows."""

    @property
    def tuples(self) -> Tuples:
        """The distinct rows."""

    @property
    def table(self) -> EncodedTable:
        """The same, encoded."""


def losses_of(
    encoded: Encoded, shown: pl.DataFrame, released: TableSource, node: Node | None
) -> tuple[ColumnLoss, ...]:
    """Compare an encoded table with its release; row `t` of `shown` is what tuple `t` shows.

    Without a suppressed row no value is lost. If every row shows only `*`, nothing can be compared.
    """
    kept = _some_kept(shown, encoded.plan)
    if kept is None:
        return ()
    return (*_quasi_identifiers(encoded, kept, node), *_other_columns(encoded, kept, released))


def lost_labels(encoded: Encoded, kept: Bools, node: Node) -> dict[str, int]:
    """How many labels of each quasi-identifier no kept row shows any more; only columns that lost some.

    `kept` tells which tuples are kept.
    """
    found = _quasi_identifiers(encoded, kept, node) if kept.any() and not kept.all() else ()
    return {one.attribute: one.lost_values for one in found if one.lost_values}


def _quasi_identifiers(encoded: Encoded, kept: Bools, node: Node | None) -> tuple[ColumnLoss, ...]:
    columns = encoded.table.columns
    levels: Sequence[int | None] = [None] * len(columns) if node is None else node
    weights = encoded.table.weights
    return tuple(
        of_column(
            column,
            level,
            *(_counted(column, weights, which) for which in (np.ones_like(kept), kept)),
            people=_labelled(column, level, encoded.table.persons),
        )
        for column, level in zip(columns, levels, strict=True)
    )


def _labelled(column: EncodedColumn, level: int | None, persons: Persons | None) -> PeopleWith | None:
    if persons is None:
        return None
    return people_with(lambda: (column.generalized(level or 0), pl.Series(persons.codes)))


def _some_kept(shown: pl.DataFrame, plan: Plan) -> Bools | None:
    """Which tuples are kept; None if all are, or none."""
    kept = _kept(shown, plan)
    return None if kept is None or kept.all() or not kept.any() else kept


def _kept(shown: pl.DataFrame, plan: Plan) -> Bools | None:
    """Which tuples are kept; None if nothing is suppressed, so that some columns did not change."""
    if not set(plan.quasi_identifiers) <= set(shown.columns):
        return None
    hidden = [name for name in shown.columns if name in (*plan.quasi_identifiers, *plan.unit.links)]
    starred: Bools = shown.select(all_starred(hidden)).to_series().to_numpy()
    return ~starred


def _counted(column: EncodedColumn, weights: Counts, which: Bools) -> Counts:
    return np.bincount(column.codes[which], weights[which], len(column.maps[0])).astype(np.int64)


def of_column(
    column: EncodedColumn,
    level: int | None,
    rows: Counts,
    kept: Counts,
    *,
    finest: int = 0,
    people: PeopleWith | None = None,
) -> ColumnLoss:
    """The losses of a quasi-identifier that is released at a level; `rows` and `kept` count its values, by code.

    Without a level each row is generalized in its own way: then a value is lost if all its rows are suppressed.
    `finest` is the finest level for which the counts are right, if they are not so for single values.
    """
    below = range(finest, len(column.labels) - 1)
    few = [at for at in below if len(column.labels[at]) <= MOST_LABELS]
    groups = _groups(column, level or 0, rows, kept)
    return _loss(
        column.name,
        Role.QUASI_IDENTIFYING,
        [one for one in groups if not one.kept and one.label is not None],
        [_groups(column, at, rows, kept) for at in few],
        shown=0 if level is None else sum(at >= level for at in few),
        people=people,
    )


def _groups(column: EncodedColumn, level: int, rows: Counts, kept: Counts) -> list[Group]:
    """The groups of a level that occur in the table."""
    labels = column.labels[level]
    counts = (np.bincount(column.maps[level], some, len(labels)).astype(np.int64).tolist() for some in (rows, kept))
    together = zip(labels, *counts, strict=True)
    return [Group(label, of_all, of_kept) for label, of_all, of_kept in together if of_all]


# Columns that are released unchanged


def _other_columns(encoded: Encoded, kept: Bools, released: TableSource) -> Iterable[ColumnLoss]:
    plan = encoded.plan
    flag, *others = plan.quasi_identifiers
    flags = pl.DataFrame({flag: np.where(kept, KEPT, SUPPRESSED_ROW)})
    flagged = encoded.source.released(encoded.tuples, flags, without=others, shuffled=False)
    ties = plan.unit.links  # values of one person each, not categories
    names = [name for role in ROLES for name in plan.names(role) if name in released.columns and name not in ties]
    for name in names:
        if name in plan.decorrelated_attributes:
            counted = _decorrelated(encoded.source, released, plan, name)
        else:
            counted = by_value(flagged.count_shown([flag, name]), name, pl.col(flag) == KEPT)
        yield of_values(name, plan.attributes[name].role, counted, people=_people_of(encoded.source, plan, name))


def _people_of(source: TableSource, plan: Plan, name: str) -> PeopleWith | None:
    whom = plan.unit.columns
    if not whom:
        return None

    def texts() -> tuple[pl.Series, pl.Series]:
        shown = source.count_shown(list(dict.fromkeys((name, *whom))))
        return shown[name], person_keys([shown[column] for column in whom])

    return people_with(texts)


def by_value(counted: pl.DataFrame, name: str, kept: pl.Expr) -> list[Group]:
    """The rows of each value of a column, and how many of them are kept, from counted tuples."""
    kept_rows = pl.col(COUNT).filter(kept).sum().alias(SOME)
    sums = counted.group_by(name).agg(pl.col(COUNT).sum(), kept_rows).sort(name)
    return [Group(label, rows, some) for label, rows, some in sums.select(name, COUNT, SOME).iter_rows()]


def _decorrelated(source: TableSource, released: TableSource, plan: Plan, name: str) -> list[Group]:
    """The values of a column that `decorrelate` suppresses in many rows: kept is what the release shows of them."""
    names = list(plan.quasi_identifiers)
    shown = released.count_shown([*names, name]).filter(~all_starred(names)).group_by(name).agg(pl.col(COUNT).sum())
    kept = dict(shown.select(name, COUNT).iter_rows())
    return [
        Group(label, rows, kept.get(label, 0))
        for label, rows in source.count_shown([name]).sort(name).select(name, COUNT).iter_rows()
    ]


def of_values(name: str, role: Role, counted: Sequence[Group], *, people: PeopleWith | None = None) -> ColumnLoss:
    """The losses of a column that is released unchanged.

    Where most rows have a value of their own, such as a number of the case, values are no categories: none is lost.
    """
    rows = sum(one.rows for one in counted)
    categories = 2 * len(counted) <= rows
    lost = [one for one in counted if categories and not one.kept and one.label is not None]
    divided = role is Role.SENSITIVE and len(counted) <= MOST_LABELS
    return _loss(name, role, lost, [counted] if divided else [], shown=1, people=people)


def _loss(
    name: str,
    role: Role,
    lost: Sequence[Group],
    levels: Sequence[Sequence[Group]],
    *,
    shown: int,
    people: PeopleWith | None,
) -> ColumnLoss:
    together = None
    if lost and people is not None:
        of_value, together = people([one.label for one in lost])
        lost = [replace(one, people=of_value[one.label]) for one in lost]
    listed = sorted(lost, key=lambda one: (-one.size, one.label or ""))[:MOST_LISTED]
    return ColumnLoss(
        attribute=name,
        role=role,
        lost_values=len(lost),
        lost_rows=sum(one.rows for one in lost),
        lost=tuple(listed),
        levels=tuple(map(tuple, levels)),
        shown_levels=shown,
        lost_people=together,
    )
