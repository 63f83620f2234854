"""The members of the classes of an attacked table: people, if it is known whom each row is about, otherwise rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl

from kohorte.data import as_text
from kohorte.errors import InputError
from kohorte.groups import different_people
from kohorte.in_words import PEOPLE, ROWS, Unit
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.risks.shown.table import ShownTable


@dataclass(frozen=True, eq=False)
class Members:
    """Who is in the classes of a table, without suppressed rows.

    Entry i says: `rows[i]` rows of the class `class_of[i]` are about the member `whom[i]`; there are `everybody`
    members. Where rows are counted, every row is another member. `entries` has the sensitive values of each entry; what
    it does not have is not known of people. `are_people` says which of both the members are.
    """

    shown: ShownTable = field(repr=False)
    class_of: Codes = field(repr=False)
    whom: Codes = field(repr=False)
    rows: Counts = field(repr=False)
    everybody: int
    entries: pl.DataFrame = field(repr=False)
    are_people: bool

    @classmethod
    def of(cls, shown: ShownTable, values: pl.DataFrame) -> Members:
        """The members of the classes of a table, with sensitive `values`; `shown` says whether people are known."""
        people = shown.people
        if people is not None:
            return cls(
                shown, people.class_of, people.person, people.rows, people.everybody, people.entries, are_people=True
            )
        every, once = np.arange(shown.kept_rows, dtype=np.uint32), np.ones(shown.kept_rows, dtype=np.int64)
        own = _chosen(values, shown.kept)
        return cls(shown, shown.class_of, every, once, len(every), own, are_people=False)

    def grouped(self, other: ShownTable) -> Members:
        """The same members in the classes of another view of the table, whose classes are unions of these.

        Members whose rows are suppressed there are left out.
        """
        group_of = np.full(self.shown.classes, other.classes, dtype=np.int64)
        group_of[self.shown.class_of] = other.class_of_all_rows[self.shown.kept]
        groups = group_of[self.class_of]
        kept = groups < other.classes
        return Members(
            other,
            groups[kept].astype(np.uint32),
            self.whom[kept],
            self.rows[kept],
            self.everybody,
            _chosen(self.entries, np.flatnonzero(kept)),
            self.are_people,
        )

    @property
    def unit(self) -> Unit:
        """What the members are."""
        return PEOPLE if self.are_people else ROWS

    @property
    def classes(self) -> int:
        """The number of classes."""
        return self.shown.classes

    @cached_property
    def sizes(self) -> Counts:
        """The members of each class."""
        return self.in_each(self.class_of, self.classes)

    @cached_property
    def count(self) -> int:
        """The number of members with a row that is not suppressed."""
        return self.different(np.ones(len(self.whom), dtype=bool))

    def different(self, entries: Bools) -> int:
        """The number of different members of some entries."""
        found = np.zeros(self.everybody, dtype=bool)
        found[self.whom[entries]] = True
        return int(found.sum())

    def in_classes(self, classes: Bools) -> int:
        """The number of different members of some classes."""
        return self.different(classes[self.class_of])

    def in_each(self, group_of: Codes | Counts, groups: int) -> Counts:
        """The number of different members of each group of entries; `group_of[i]` is the group of entry i.

        Where rows are counted, this is the number of entries, because each is another row.
        """
        if not self.are_people:
            counts: Counts = np.bincount(group_of, minlength=groups)
            return counts
        return different_people(group_of, self.whom, groups)

    @cached_property
    def in_class(self) -> Counts:
        """The number of the pair of class and member of each entry: what one member shows in one class."""
        if not self.are_people:
            return np.arange(len(self.whom), dtype=np.int64)
        keys = self.class_of.astype(np.int64) * max(1, self.everybody) + self.whom
        numbers: Counts = np.unique(keys, return_inverse=True)[1]
        return numbers

    def text(self, name: str) -> pl.Series:
        """The values of a sensitive attribute, entry by entry."""
        if name not in self.entries.columns:
            raise InputError(
                f"whose values of {name!r} the release shows is not known from the original table",
                code="people-unclear",
            )
        return as_text(self.entries[name])

    def without(self, names: Sequence[str]) -> Members:
        """The same members, of whom these attributes are not known."""
        return replace(self, entries=self.entries.drop(names, strict=False))

    def figures(self, classes: Bools) -> dict[str, object]:
        """Some classes as facts: their number, their rows, and their people if people are known."""
        return {
            "classes": int(classes.sum()),
            "rows": int(self.shown.sizes[classes].sum()),
            **self.as_people(self.in_classes(classes)),
        }

    def as_people(self, count: int, name: str = "people") -> dict[str, object]:
        """A number of members as a fact about people; empty where rows are counted."""
        return {name: count} if self.are_people else {}


def _chosen(values: pl.DataFrame, entries: Codes | Counts) -> pl.DataFrame:
    return values[entries] if values.width else values
