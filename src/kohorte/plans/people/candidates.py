"""Columns that may say whom a row is about: how likely each is by its name, its role and its content."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest

import polars as pl

from kohorte.data import Role
from kohorte.identifiers.given_numbers import places_of
from kohorte.identifiers.people import (
    Numbering,
    ends_like_a_number,
    keeps_for_life,
    may_be_shared,
    names_people_or_cases,
    numbering,
    numbers_rows,
    serves_several,
)
from kohorte.plans.people.numbered_by_content import (
    MOST_COLUMNS,
    agreeing_for_life,
    has_codes,
    kept_for_life,
    numbered_by_content,
)
from kohorte.plans.people.repeated import Repeated, counted_people, present, with_place
from kohorte.sources import TableSource

OTHERS = len(Numbering)
"""The rank of an identifying column whose name says neither people nor cases."""
NAMES, THINGS = OTHERS + 1, OTHERS + 2
"""The ranks of names of people, and of things and addresses that serve several people: devices, e-mail, wards."""
FEWEST = 2
"""A column with a single value numbers nobody, such as that of the hospital; unless its name says that it numbers
people or cases, or nothing else identifies: then all rows may be about one person."""
MOST_OF_A_PLACE = 10
"""A hospital number with more rows on average is that of a hospital, not of its patients: our own choice."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The columns of a table that may say whom a row is about, without names of people."""

    source: TableSource
    roles: Mapping[str, Role]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table; a source makes them at each access."""
        return tuple(self.source.columns)

    @cached_property
    def identifying(self) -> list[str]:
        """The identifying columns that the table has, in the order of the plan."""
        columns = set(self.columns)
        return [name for name, role in self.roles.items() if role is Role.IDENTIFYING and name in columns]

    @cached_property
    def found(self) -> Repeated | None:
        """The columns that say whom a row is about, or the question whether they do; None if rows may be people.

        A column whose name says that it numbers people comes first: if it repeats, it says whom a row is about; if
        every row has its own value, rows are people, unless another column numbers people by its content. Then come
        numbers of cases and other identifiers: those first whose rows agree in what people keep for life. Things and
        addresses that serve several people are a question, and only if no number has its own value in every row.
        """
        if people := self._repeated(Numbering.PEOPLE):
            return _fewest(people)
        agreeing = [replace(one, agreeing=found) for one, found in self._numbers if found]
        if self.unique is not None and self.unique.rank == Numbering.PEOPLE:
            return _question(_fewest(agreeing) or self._by_content_for_life)
        told = _fewest(agreeing) or _fewest(self._repeated(Numbering.CASES)) or self._by_content_for_life
        return told or self._less_certain

    @cached_property
    def unique(self) -> Repeated | None:
        """The likeliest number that has another value in every row; not one of rows, orders or samples."""
        named = [one for one in self._counted if self._is_unique(one)]
        found = named or [one for one in self._numbered_otherwise if self._is_unique(one)]
        return min(found, key=lambda one: one.rank, default=None)

    def _is_unique(self, one: Repeated) -> bool:
        if not one.values == one.rows == self.source.rows or one.rank > OTHERS:
            return False
        name = one.column
        return one.rank == Numbering.PEOPLE or (not numbers_rows(name) and has_codes(self._texts(name)))

    def _texts(self, name: str) -> pl.Series:
        return present(self.source, [name])[name]

    @property
    def _less_certain(self) -> Repeated | None:
        """Identifiers and codes that repeat, of which less is known; questions if a number is unique in each row."""
        unknown = [one for one, found in self._numbers if found is None and one.has_few_rows_each]
        told = _fewest(unknown) or self._by_content
        if told is not None:
            return told if self.unique is None else _question(told)
        if self.unique is not None:
            return None
        return _question(_fewest([one for one, _ in self._numbers]) or _fewest(self._repeated(THINGS)))

    @cached_property
    def _numbers(self) -> list[tuple[Repeated, tuple[str, ...] | None]]:
        """Numbers of cases and other identifiers that repeat, each with the columns in which its rows agree."""
        found = [*self._repeated(Numbering.CASES), *self._repeated(OTHERS)]
        kept = kept_for_life(self.columns)
        told = [
            None if one.because else agreeing_for_life(self.source, one.column, kept) for one in found[:MOST_COLUMNS]
        ]
        return list(zip_longest(found, told))

    @cached_property
    def _counted(self) -> list[Repeated]:
        return list(self._count(self.columns))

    @cached_property
    def _numbered_otherwise(self) -> list[Repeated]:
        """Numbers by the end of their names which no role calls identifying."""
        known = {one.column for one in self._counted}
        others = [name for name in self.columns if name not in known and ends_like_a_number(name)]
        others = [name for name in others if not serves_several(name)][:MOST_COLUMNS]
        return list(self._count(others, rank=OTHERS))

    def _count(self, names: Iterable[str], rank: int | None = None) -> Iterable[Repeated]:
        identifying = set(self.identifying)
        for name in names:
            own = rank_of(name, name in identifying) if rank is None else rank
            if own is not None:
                counted = Repeated((name,), *counted_people(self.source, [name]), own)
                category = own > OTHERS or self._is_category(counted)
                yield replace(counted, rank=THINGS) if category else with_place(self.source, self.columns, counted)

    def _is_category(self, one: Repeated) -> bool:
        """Whether a column named like a number tells kinds or places apart: insurers, hospitals, kinds of patients."""
        [name] = one.columns
        if one.rank >= OTHERS or one.values < FEWEST:
            return False
        if places_of(one.columns):
            return one.rows > MOST_OF_A_PLACE * one.values
        if one.has_few_rows_each:
            return False
        return not names_people_or_cases(name) or (one.rank == Numbering.PEOPLE and not has_codes(self._texts(name)))

    def _repeated(self, rank: int) -> list[Repeated]:
        least = _least(rank, self.identifying)
        return [one for one in self._counted if one.rank == rank and least <= one.values and one.repeats]

    @cached_property
    def _by_content(self) -> Repeated | None:
        found = numbered_by_content(self.source, self.roles, self.columns)
        if found is None:
            return None
        return with_place(
            self.source, self.columns, Repeated((found.column,), found.values, found.rows, OTHERS, found.agreeing)
        )

    @property
    def _by_content_for_life(self) -> Repeated | None:
        """The column that numbers people by its content, if its rows agree in what people keep for life."""
        found = self._by_content
        return found if found is not None and any(map(keeps_for_life, found.agreeing)) else None


def rank_of(name: str, identifying: bool) -> int | None:
    """How likely a column says whom a row is about, by its name and role: the lower, the likelier; None if it does not.

    Ranks are those of `Numbering`, then `OTHERS`, and `THINGS`.
    """
    said = numbering(name)
    if said is not None:
        return int(said)
    if not identifying or may_be_shared(name):
        return None
    return THINGS if serves_several(name) else OTHERS


def _fewest(found: Collection[Repeated]) -> Repeated | None:
    return min(
        found, key=lambda one: (one.rank > Numbering.CASES and not one.has_few_rows_each, one.values), default=None
    )


def _question(found: Repeated | None) -> Repeated | None:
    return None if found is None else replace(found, is_question=True)


def _least(rank: int, identifying: Collection[str]) -> int:
    """The fewest values of a column that says whom a row is about."""
    return 1 if rank < OTHERS or (rank == OTHERS and len(identifying) == 1) else FEWEST
