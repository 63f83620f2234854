"""Two releases of one table, which an attacker compares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from kohorte.attacks.tables.attacked import AttackedTable
from kohorte.attacks.tables.common_columns import common_columns
from kohorte.data import Role, as_text, person_keys
from kohorte.errors import InputError
from kohorte.groups import different_people
from kohorte.hierarchies import SUPPRESSED
from kohorte.kernels.arrays import Codes, Counts
from kohorte.plans.plan import Plan
from kohorte.risks.shown.table import ShownTable, checked_table, numbered
from kohorte.risks.shown.whom import class_of_original


@dataclass(frozen=True, eq=False)
class PeopleOfBoth:
    """Whom the rows of both releases are about.

    Entry i of the left arrays is a row of the first release: its class (the number of classes if it is suppressed), the
    number of its linking values, and its person; likewise on the right. If the original table says it (`aligned`), both
    are about row i of that table; otherwise each is row i of its own release.
    """

    left: Counts = field(repr=False)
    right: Counts = field(repr=False)
    link_left: Codes = field(repr=False)
    link_right: Codes = field(repr=False)
    person_left: Codes = field(repr=False)
    person_right: Codes = field(repr=False)
    aligned: bool


@dataclass(frozen=True, eq=False)
class TwoReleases:
    """The classes of both releases, by the quasi-identifiers that both have, and the linking values of every row.

    `link_left` and `link_right` number the combinations of values in the `linking` columns: sensitive and insensitive
    ones, which releases show unchanged. `k` is the smallest class size that both guarantee, in people if `people` are
    known.
    """

    left: ShownTable = field(repr=False)
    right: ShownTable = field(repr=False)
    linking: tuple[str, ...]
    link_left: Codes = field(repr=False)
    link_right: Codes = field(repr=False)
    k: int
    people: PeopleOfBoth | None = field(default=None, repr=False)


def two_releases(attacked: AttackedTable, other: object) -> TwoReleases:
    """Compare two releases of the same rows; other tables are refused."""
    plan = attacked.plan
    tables = [attacked.table, _other_table(other, plan)]
    if tables[0].height != tables[1].height:
        raise InputError(
            f"the tables have {tables[0].height:,} and {tables[1].height:,} rows: they are not two releases of the "
            "same rows",
            code="attack-rows-differ",
        )
    columns = common_columns(tables[0], tables[1], plan)
    left, right = (ShownTable.of(table, columns, ties=plan.unit.links) for table in tables)
    roles = (*plan.names(Role.SENSITIVE), *plan.names(Role.INSENSITIVE))
    linking = tuple(name for name in roles if all(_whole(table, name) for table in tables))
    people = _people(attacked, tables[1], (left, right), linking)
    link_left, link_right = _numbered(tables, linking)
    k = min((int(size) for size in _smallest((left, right), people)), default=1)
    if plan.smallest_class > 1:
        k = min(k, plan.smallest_class)
    return TwoReleases(left, right, linking, link_left, link_right, k, people)


def _other_table(other: object, plan: Plan) -> pl.DataFrame:
    try:
        return checked_table(other, plan)
    except InputError as error:
        raise InputError(f"the other release: {error.message}", code=error.code) from None


def _whole(table: pl.DataFrame, name: str) -> bool:
    """Whether a table shows all cells of a column; a decorrelated column is partly suppressed."""
    return name in table.columns and not (as_text(table[name]) == SUPPRESSED).any()


def _numbered(tables: Sequence[pl.DataFrame], columns: Sequence[str]) -> list[Codes]:
    """Number the combinations of values of some columns, in the same way for all tables."""
    heights = [table.height for table in tables]
    texts = [
        pl.concat([as_text(table[name]) for table in tables]).alias(str(position))
        for position, name in enumerate(columns)
    ]
    stacked = pl.DataFrame(texts) if columns else pl.DataFrame({"0": pl.Series([""] * sum(heights))})
    text = stacked.select(pl.struct(pl.all()).rank("dense").cast(pl.String)).to_series()
    return np.split(numbered(text)[0], np.cumsum(heights)[:-1])


# People


def _persons(tables: Sequence[pl.DataFrame], columns: Sequence[str], *, may_hide: bool) -> list[Codes]:
    """Number the people, in the same way for all tables.

    If suppressed rows hide whom they are about (`may_hide`), each of them may be about another person.
    """
    keys = pl.concat([person_keys([as_text(table[name]) for name in columns]) for table in tables])
    if keys.null_count():
        raise InputError("the other release: some rows do not say whom they are about", code="person-missing")
    numbers = keys.rank("dense").to_numpy().astype(np.uint32)
    if may_hide:
        hidden = np.flatnonzero(keys == person_keys([pl.Series([SUPPRESSED])] * len(columns))[0])
        numbers[hidden] = numbers.max(initial=0) + 1 + np.arange(len(hidden), dtype=np.uint32)
    return np.split(numbers, np.cumsum([table.height for table in tables])[:-1])


def _people(
    attacked: AttackedTable, other: pl.DataFrame, shown: tuple[ShownTable, ShownTable], linking: Sequence[str]
) -> PeopleOfBoth | None:
    """Find out whom the rows of both releases are about; None if it is not known of one of them."""
    unit = attacked.plan.unit
    if attacked.shown.people is None:
        return None
    if not attacked.says_whom or not set(unit.columns) <= set(other.columns):
        original = attacked.original
        return None if original is None else _of_original(attacked, other, shown, linking, original)
    tables = [attacked.table, other]
    links, persons = _numbered(tables, linking), _persons(tables, unit.columns, may_hide=unit.stays_tied)
    return PeopleOfBoth(
        left=shown[0].class_of_all_rows,
        right=shown[1].class_of_all_rows,
        link_left=links[0],
        link_right=links[1],
        person_left=persons[0],
        person_right=persons[1],
        aligned=False,
    )


def _of_original(
    attacked: AttackedTable,
    other: pl.DataFrame,
    shown: tuple[ShownTable, ShownTable],
    linking: Sequence[str],
    original: pl.DataFrame,
) -> PeopleOfBoth:
    """The people of both releases from the rows of the original table."""
    plan, tables = attacked.plan, (attacked.table, other)
    classes = []
    for table, own in zip(tables, shown, strict=True):
        whole = ShownTable.of(table, plan.quasi_identifiers, ties=plan.unit.links)
        to_own = np.full(whole.classes + 1, own.classes, dtype=np.int64)
        to_own[whole.class_of_all_rows] = own.class_of_all_rows
        classes.append(to_own[class_of_original(whole, table, original, plan)])
    *shown_links, links = _numbered([*tables, original], linking)
    for own, of_rows, found in zip(shown, shown_links, classes, strict=True):
        refuse_other_rows((own.class_of_all_rows, of_rows), (found, links))
    [persons] = _persons([original], plan.unit.columns, may_hide=False)
    return PeopleOfBoth(
        left=classes[0],
        right=classes[1],
        link_left=links,
        link_right=links,
        person_left=persons,
        person_right=persons,
        aligned=True,
    )


def refuse_other_rows(released: Sequence[Counts | Codes], original: Sequence[Counts | Codes]) -> None:
    """Refuse an original table whose rows, numbered in several ways, are not those of a release."""
    ours, theirs = (
        pl.DataFrame({str(number): part.astype(np.int64) for number, part in enumerate(parts)})
        .group_by(pl.all())
        .len()
        .sort(pl.all())
        for parts in (released, original)
    )
    if not ours.equals(theirs):
        raise InputError(
            "the rows of the original table, generalized like the releases, are not the rows of the releases",
            code="people-unclear",
        )


def _smallest(shown: Sequence[ShownTable], people: PeopleOfBoth | None) -> list[int]:
    """The smallest class of each release that has classes."""
    if people is None:
        return [int(table.sizes.min()) for table in shown if table.classes]
    sides = ((people.left, people.person_left), (people.right, people.person_right))
    return [
        int(different_people(classes, persons, table.classes + 1)[: table.classes].min())
        for table, (classes, persons) in zip(shown, sides, strict=True)
        if table.classes
    ]
