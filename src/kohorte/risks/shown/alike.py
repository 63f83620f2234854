"""Who looks alike: the groups of rows, or of people, that every figure of risk is computed from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Literal, Protocol, TypeAlias

import numpy as np

from kohorte.in_words import PEOPLE, ROWS, Unit
from kohorte.kernels.arrays import Codes, Counts, Floats
from kohorte.kernels.distinct import distinct_numbers
from kohorte.risks.shown.people_in_classes import PeopleInClasses
from kohorte.risks.shown.table import ShownTable

JudgedBy: TypeAlias = Literal["rows", "people", "sets"]
"""Rows by their class, people by each of their rows, or people by the set of classes of all their rows."""


@dataclass(frozen=True, eq=False)
class Split:
    """The rows or people of a table, divided by some of its columns.

    `sizes` counts those who share a combination of values; a person counts once in each of their combinations. `alone`
    are the groups of all columns whose combination only one row or person has. `pairs` counts the ordered pairs of
    combinations of two different rows or people.
    """

    sizes: Counts
    alone: Codes
    pairs: int

    @property
    def distinction(self) -> float:
        """The combinations, divided by all that share them."""
        shared = int(self.sizes.sum())
        return len(self.sizes) / shared if shared else 0.0

    @property
    def separation(self) -> float:
        """The share of pairs that differ."""
        alike = int((self.sizes * (self.sizes - 1)).sum())
        return 1 - alike / self.pairs if self.pairs else 0.0


class Alike(Protocol):
    """Groups of rows or people who look alike; one of a group of n is found with probability 1 / n."""

    judged_by: ClassVar[JudgedBy]
    unit: ClassVar[Unit]

    @property
    def count(self) -> int:
        """How many rows, or people with a row, are not suppressed."""

    @property
    def sizes(self) -> Counts:
        """The size of each group."""

    @property
    def group_of_row(self) -> Codes:
        """The group of each row that is not suppressed."""

    def at_highest(self, figures: Floats) -> Counts:
        """Count the members of each group; a person in several groups only in one with their highest figure."""

    def shared_at_highest(self, figures: Floats) -> Floats:
        """The same, but a person with several such groups counts in each of them, in equal parts."""

    def different(self, groups: Codes) -> int:
        """Count the different members of groups of one."""

    def split(self, chosen: Sequence[int]) -> Split:
        """Divide the table by some of its columns."""

    def sizes_by(self, chosen: Sequence[int]) -> Counts:
        """How many look like the members of each group in some of the columns."""


def alike(table: ShownTable) -> Alike:
    """The groups of a table: rows of a class; people of a class; or people with the same set of classes."""
    if table.people is None:
        return RowsAlike(table)
    return SetsAlike(table, table.people) if table.people.by_sets else PeopleAlike(table, table.people)


@dataclass(frozen=True, eq=False)
class RowsAlike:
    """The rows of each class."""

    judged_by: ClassVar[JudgedBy] = "rows"
    unit: ClassVar[Unit] = ROWS
    table: ShownTable

    @property
    def count(self) -> int:
        """How many rows are not suppressed."""
        return self.table.kept_rows

    @property
    def sizes(self) -> Counts:
        """The rows of each class."""
        return self.table.sizes

    @property
    def group_of_row(self) -> Codes:
        """The class of each row that is not suppressed."""
        return self.table.class_of

    def at_highest(self, figures: Floats) -> Counts:
        """The rows of each class: a row is in one class."""
        del figures
        return self.table.sizes

    def shared_at_highest(self, figures: Floats) -> Floats:
        """The rows of each class."""
        return self.at_highest(figures).astype(np.float64)

    def different(self, groups: Codes) -> int:
        """Each class of one has its own row."""
        return len(groups)

    def split(self, chosen: Sequence[int]) -> Split:
        """Divide the rows by some of the columns."""
        first, sizes = self.table.by(chosen)
        return Split(sizes, first[sizes == 1], self.count * (self.count - 1))

    def sizes_by(self, chosen: Sequence[int]) -> Counts:
        """How many rows look like those of each class in some of the columns."""
        group_of, sizes = self.table.joined(chosen)
        return sizes[group_of]


@dataclass(frozen=True, eq=False)
class _OfPeople:
    """A table, and the people in its classes."""

    unit: ClassVar[Unit] = PEOPLE
    table: ShownTable
    people: PeopleInClasses = field(repr=False)

    @property
    def count(self) -> int:
        """How many people have a row that is not suppressed."""
        return self.people.count


class PeopleAlike(_OfPeople):
    """The people of each class: the attacker knows one row of a person, in the worst case the most telling one."""

    judged_by: ClassVar[JudgedBy] = "people"

    @property
    def sizes(self) -> Counts:
        """The people of each class."""
        return self.table.counted

    @property
    def group_of_row(self) -> Codes:
        """The class of each row that is not suppressed."""
        return self.table.class_of

    def at_highest(self, figures: Floats) -> Counts:
        """Count each person in the first of their classes with the highest figure."""
        classes, persons = self._highest(figures)
        _, first = np.unique(persons, return_index=True)
        return np.bincount(classes[first], minlength=self.table.classes)

    def shared_at_highest(self, figures: Floats) -> Floats:
        """Count each person in all of their classes with the highest figure, in equal parts."""
        classes, persons = self._highest(figures)
        parts = 1 / np.bincount(persons, minlength=1)[persons]
        return np.asarray(np.bincount(classes, weights=parts, minlength=self.table.classes), dtype=np.float64)

    def _highest(self, figures: Floats) -> tuple[Counts, Counts]:
        """The pairs of a class and a person in which the class has the person's highest figure."""
        classes, persons = self._pairs
        highest = np.full(self.people.everybody, -np.inf)
        np.maximum.at(highest, persons, figures[classes])
        best = figures[classes] == highest[persons]
        return classes[best], persons[best]

    def different(self, groups: Codes) -> int:
        """The different people of classes of one person."""
        return len(distinct_numbers(self._owner[groups]))

    def split(self, chosen: Sequence[int]) -> Split:
        """Divide the people by some of the columns; a person can have several combinations."""
        group_of, sizes, persons = self._by(chosen)
        mine = np.bincount(persons)
        pairs = int(mine.sum()) ** 2 - int((mine * mine).sum())
        return Split(sizes, np.flatnonzero(sizes[group_of] == 1).astype(np.uint32), pairs)

    def sizes_by(self, chosen: Sequence[int]) -> Counts:
        """How many people look like those of each class in some of the columns."""
        group_of, sizes, _ = self._by(chosen)
        return sizes[group_of]

    def _by(self, chosen: Sequence[int]) -> tuple[Codes, Counts, Counts]:
        """The group of each class, the people of each group, and the person of each pair of a group and a person."""
        group_of, in_rows = self.table.joined(chosen)
        classes, persons = self._pairs
        width = self.people.everybody
        pairs = distinct_numbers(group_of[classes].astype(np.int64) * width + persons)
        return group_of, np.bincount(pairs // width, minlength=len(in_rows)), pairs % width

    @cached_property
    def _pairs(self) -> tuple[Counts, Counts]:
        """The pairs of a class and a person, each once."""
        width = max(1, self.people.everybody)
        pairs = distinct_numbers(self.people.class_of.astype(np.int64) * width + self.people.person)
        return pairs // width, pairs % width

    @cached_property
    def _owner(self) -> Counts:
        """A person of each class: its only one, if there is one."""
        classes, persons = self._pairs
        owner = np.zeros(self.table.classes, dtype=np.int64)
        owner[classes] = persons
        return owner


class SetsAlike(_OfPeople):
    """The people with the same set of classes: the attacker knows all rows of a person, or the release ties them."""

    judged_by: ClassVar[JudgedBy] = "sets"

    @property
    def sizes(self) -> Counts:
        """The people of each set."""
        return self._sets[1]

    @property
    def group_of_row(self) -> Codes:
        """The set of the person of each row; if that is unknown, the set with the fewest people in the row's class."""
        set_of, sizes = self._sets
        if self.people.person_of_row is not None:
            return set_of[self.people.person_of_row]
        sets = set_of[self.people.person]
        fewest_last = np.lexsort((sets, sizes[sets]))[::-1]
        of_class = np.zeros(self.table.classes, dtype=np.uint32)
        of_class[self.people.class_of[fewest_last]] = sets[fewest_last]
        return of_class[self.table.class_of]

    def at_highest(self, figures: Floats) -> Counts:
        """The people of each set: a person has one set."""
        del figures
        return self.sizes

    def shared_at_highest(self, figures: Floats) -> Floats:
        """The people of each set."""
        return self.at_highest(figures).astype(np.float64)

    def different(self, groups: Codes) -> int:
        """Each set of one has its own person."""
        return len(groups)

    def split(self, chosen: Sequence[int]) -> Split:
        """Divide the people by their sets of classes in some of the columns."""
        of_base, sizes = self._by(chosen)
        return Split(sizes, np.flatnonzero(sizes[of_base] == 1).astype(np.uint32), self.count * (self.count - 1))

    def sizes_by(self, chosen: Sequence[int]) -> Counts:
        """How many people look like those of each set in some of the columns."""
        of_base, sizes = self._by(chosen)
        return sizes[of_base]

    def _by(self, chosen: Sequence[int]) -> tuple[Codes, Counts]:
        """The set in some of the columns of each set in all columns, and its people."""
        set_of, sizes = self.people.sets(self.table.joined(chosen)[0])
        base_of, base_sizes = self._sets
        of_base = np.zeros(len(base_sizes) + 1, dtype=np.uint32)
        of_base[base_of] = set_of
        return of_base[:-1], sizes

    @cached_property
    def _sets(self) -> tuple[Codes, Counts]:
        return self.people.sets(np.arange(self.table.classes))
