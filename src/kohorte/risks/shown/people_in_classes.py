"""Whom the rows of a table are about, class by class."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from kohorte.data import as_text
from kohorte.groups import different_people, person_sets
from kohorte.kernels.arrays import Codes, Counts
from kohorte.kernels.distinct import distinct_numbers


@dataclass(frozen=True, eq=False)
class PeopleInClasses:
    """Whom the rows of each class are about; suppressed rows are left out.

    Entry i says: `rows[i]` rows of the class `class_of[i]` are about the person `person[i]` and, if the release ties
    rows together, have the tie `link[i]`. Row i of `entries` has the sensitive values of these rows. `everybody` also
    counts people of whom every row is suppressed; their numbers do not occur. If `by_sets`, people are judged by all
    their rows together. `person_of_row` is the person of each row that is not suppressed, if the table itself says it.
    """

    class_of: Codes = field(repr=False)
    person: Codes = field(repr=False)
    rows: Counts = field(repr=False)
    everybody: int
    by_sets: bool
    entries: pl.DataFrame = field(repr=False)
    link: Codes | None = field(default=None, repr=False)
    person_of_row: Codes | None = field(default=None, repr=False)

    @cached_property
    def count(self) -> int:
        """The number of people with a row that is not suppressed."""
        return len(distinct_numbers(self.person))

    def different(self, group_of: Codes | Counts, groups: int) -> Counts:
        """The number of different people in each group of classes; `group_of[c]` is the group of class c."""
        return different_people(group_of[self.class_of], self.person, groups)

    def sets(self, group_of: Codes | Counts) -> tuple[Codes, Counts]:
        """The set of groups of classes of each person, by its number, and the people of each set."""
        return person_sets(
            group_of[self.class_of], self.person, people=self.everybody, weights=self.rows, links=self.link
        )

    def text(self, name: str) -> pl.Series:
        """The sensitive value of each entry."""
        return as_text(self.entries[name])
