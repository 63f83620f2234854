"""Repeated identifiers: columns that seem to say whom a row is about, and have fewer values than there are rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from kohorte.data import Role, person_keys
from kohorte.errors import InputError
from kohorte.hierarchies import SUPPRESSED
from kohorte.identifiers.people import Numbering, may_be_shared, numbering
from kohorte.in_words import count, listed
from kohorte.plans.people.numbered_by_content import numbered_by_content
from kohorte.plans.person import Person
from kohorte.sources import COUNT, TableSource

OTHERS = len(Numbering)
"""The rank of an identifying column whose name says neither people nor cases; names of people come last."""
PEOPLE = "\0people"
FEWEST = 2
"""A column with a single value numbers nobody, such as that of the hospital; unless its name says that it numbers
people or cases, or nothing else identifies: then all rows may be about one person."""


@dataclass(frozen=True)
class Repeated:
    """Columns that seem to say whom a row is about, with fewer different values than there are rows with a value."""

    columns: tuple[str, ...]
    values: int
    rows: int
    rank: int
    agreeing: tuple[str, ...] = ()
    """The columns in which rows with the same value agree, if the content says so and not the name."""

    @property
    def line(self) -> str:
        """The line to add to a plan."""
        return Person(self.columns).line

    def completing(self, rows: int) -> str:
        """What to do before people can be counted in a table of so many rows: nothing if every row says whom it is
        about."""
        if self.rows >= rows:
            return ""
        fill = count(rows - self.rows, "missing value", "missing values")
        return f"fill in the {fill} of {listed(list(map(repr, self.columns)))} or remove these rows, then "

    @property
    def reason(self) -> str:
        """Why a plan should name these columns as the person."""
        return f"{self.facts}: people are counted, not rows; person: none if every row is another person"

    @property
    def facts(self) -> str:
        """The columns with their counts, in words."""
        have = "has" if len(self.columns) == 1 else "together have"
        named = ", ".join(map(repr, self.columns))
        found = f"{named} {have} {count(self.values, 'different value')} in {count(self.rows, 'row')}"
        if not self.agreeing:
            return found
        return f"{found}, and rows with the same value nearly always agree in {listed(list(map(repr, self.agreeing)))}"


def repeated_in_counts(counts: Mapping[str, tuple[int, int]], identifying: Collection[str]) -> Repeated | None:
    """Find the column from its numbers of different values and of rows with a value, without names of people.

    Candidates are all columns whose name says that they number people or cases, whatever their role, and identifying
    columns, unless their name says that people can share a value. A column that numbers people comes first, then the
    one with the fewest values.
    """
    found = [
        Repeated((name,), values, rows, rank)
        for name, (values, rows) in counts.items()
        if (rank := rank_of(name, name in identifying)) is not None and _least(rank, identifying) <= values < rows
    ]
    return min(found, key=lambda one: (one.rank, one.values), default=None)


def repeated_column(source: TableSource, roles: Mapping[str, Role]) -> Repeated | None:
    """Find the column of a table that seems to say whom a row is about, without names of people.

    If no name and no role says it, the contents may: repeated codes whose rows agree in what people keep for life.
    """
    identifying, columns = _identifying(source, roles), source.columns
    wanted = [name for name in columns if rank_of(name, name in identifying) is not None]
    found = repeated_in_counts({name: _counted(source, [name]) for name in wanted}, identifying)
    return repeated_by_content(source, roles, columns) if found is None else found


def repeated_by_content(source: TableSource, roles: Mapping[str, Role], columns: Sequence[str]) -> Repeated | None:
    """Find the column that numbers people by its content; none if the name of another one says that it does."""
    if any(numbering(name) is Numbering.PEOPLE for name in columns):
        return None
    found = numbered_by_content(source, roles, columns)
    return None if found is None else Repeated((found.column,), found.values, found.rows, OTHERS, found.agreeing)


def repeated_people(source: TableSource, roles: Mapping[str, Role]) -> Repeated | None:
    """Find the columns that seem to say whom a row is about, if they have repeated values.

    Names, addresses and the like count only together, and only if no column numbers people.
    """
    found = repeated_column(source, roles)
    if found is not None or any(numbering(name) is Numbering.PEOPLE for name in source.columns):
        return found
    shared = [name for name in _identifying(source, roles) if may_be_shared(name)]
    if not shared:
        return None
    values, rows = _counted(source, shared)
    return Repeated(tuple(shared), values, rows, OTHERS + 1) if 1 <= values < rows else None


def refuse_repeated(found: Repeated | None, key: str, *, rows: int = 0) -> None:
    """Refuse a table with repeated identifiers; `key` is where the person, or that rows are people, is stated.

    `rows` is given if all rows of the table must say whom they are about.
    """
    if found is not None:
        columns = found.columns[0] if len(found.columns) == 1 else str(list(found.columns))
        raise InputError(
            f"several rows seem to be about one person: {found.facts}; {found.completing(rows)}say whom a row is about "
            f"({key}: {columns}), or state that every row is another person ({key}: none)",
            code="person-unstated",
        )


def _least(rank: int, identifying: Collection[str]) -> int:
    """The fewest values of a column that says whom a row is about."""
    return 1 if rank < OTHERS or len(identifying) == 1 else FEWEST


def _identifying(source: TableSource, roles: Mapping[str, Role]) -> dict[str, Role]:
    """The identifying columns that the table has, in the order of the plan."""
    columns = set(source.columns)
    return {name: role for name, role in roles.items() if role is Role.IDENTIFYING and name in columns}


def rank_of(name: str, identifying: bool) -> int | None:
    """How likely a column says whom a row is about, by its name and role: the lower, the likelier; None if it does not.

    Ranks are those of `Numbering`, then `OTHERS`.
    """
    said = numbering(name)
    if said is not None:
        return int(said)
    return OTHERS if identifying and not may_be_shared(name) else None


def _counted(source: TableSource, names: Sequence[str]) -> tuple[int, int]:
    """The number of people whom columns tell apart, and of the rows in which no value is missing or suppressed."""
    shown = with_people(present(source, names), names)
    return shown[PEOPLE].n_unique(), int(shown[COUNT].sum())


def present(source: TableSource, names: Sequence[str]) -> pl.DataFrame:
    """The combinations of values of some columns, without those in which one is missing or suppressed."""
    return source.count_shown(names).filter(~pl.any_horizontal(absent(name) for name in names))


def with_people(shown: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Add the key of the person to counted tuples; without tuples that have none."""
    return shown.with_columns(person_keys([shown[name] for name in names]).alias(PEOPLE)).drop_nulls(PEOPLE)


def absent(name: str) -> pl.Expr:
    """Whether a cell is missing or suppressed."""
    return pl.col(name).is_null() | (pl.col(name) == SUPPRESSED)
