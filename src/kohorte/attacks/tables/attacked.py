"""The table that is attacked, and whom its rows are about."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import polars as pl

from kohorte.attacks.tables.members import Members
from kohorte.data import Role
from kohorte.errors import InputError
from kohorte.plans.plan import Plan
from kohorte.risks.shown.table import ShownTable, checked_table
from kohorte.risks.shown.whom import released_rows, shown_people

IN_ROWS = "counts rows, not people: a person with several rows counts several times"


@dataclass(frozen=True, eq=False)
class AttackedTable:
    """A table, its classes, and who is in them.

    `original` has the released rows of the original table, if it is given (as `source`) and says whom rows are about.
    """

    table: pl.DataFrame = field(repr=False)
    plan: Plan = field(repr=False)
    shown: ShownTable = field(repr=False)
    original: pl.DataFrame | None = field(default=None, repr=False)
    source: object = field(default=None, repr=False)

    @classmethod
    def of(cls, frame: object, plan: Plan, *, original: object = None) -> AttackedTable:
        """Check a table (polars, pandas or arrow), and find out whom its rows are about if the plan counts people.

        The columns of `person` say it if the table has them, otherwise the `original` table, from which it was made.
        Without either, rows are counted. Refused with the code `people-unclear` if the original does not say it.
        """
        table = checked_table(frame, plan)
        if original is None or not plan.unit.counts_people:
            return cls(table, plan, shown_people(table, plan))
        shown, rows = shown_people(table, plan, original=original), released_rows(original, plan)
        return cls(table, plan, shown, rows, original)

    @cached_property
    def members(self) -> Members:
        """Who is in the classes."""
        found = Members.of(self.shown, self._sensitive)
        if self.shown.people is None or self.says_whom:
            return found
        return found.without(self.plan.decorrelated_attributes)  # the release shows only some of their values

    @property
    def says_whom(self) -> bool:
        """Whether the table itself says whom its rows are about."""
        return self.plan.unit.counts_people and set(self.plan.unit.needed_columns) <= set(self.table.columns)

    @property
    def _sensitive(self) -> pl.DataFrame:
        return self.table.select(name for name in self.plan.names(Role.SENSITIVE) if name in self.table.columns)

    @cached_property
    def with_suppressed(self) -> AttackedTable:
        """The same table, of which the suppressed rows are one more class; without them if they name nobody."""
        if not self.shown.suppressed or (self.says_whom and self.plan.unit.stays_tied):
            return self
        if self.shown.people is None:
            return replace(self, shown=ShownTable.of(self.table, self.plan.quasi_identifiers, most_suppressed=0))
        shown = shown_people(self.table, self.plan, original=self.source, most_suppressed=0)
        return replace(self, shown=shown)

    def in_rows(self) -> AttackedTable:
        """The same table, of which only rows are counted."""
        return replace(self, shown=replace(self.shown, people=None), original=None, source=None)

    def by(self, columns: tuple[str, ...]) -> Members:
        """Who is in the classes by some columns only."""
        view = ShownTable.of(self.table, columns)
        if self.shown.people is None:
            return Members.of(view, self._sensitive)
        if set(columns) <= set(self.plan.quasi_identifiers):
            return self.members.grouped(view)
        people = self.shown.people
        if people.person_of_row is None or self.shown.suppressed:
            raise InputError(
                "people are known by the quasi-identifiers of their rows, and other columns are compared here",
                code="people-unclear",
            )
        persons = people.person_of_row[view.kept]
        view = view.with_people(replace(people, class_of=view.class_of, person=persons))
        return Members.of(view, self._sensitive)

    @cached_property
    def sensitive_names(self) -> tuple[str, ...]:
        """The sensitive attributes that the table has; at least one."""
        names = tuple(name for name in self.plan.names(Role.SENSITIVE) if name in self.table.columns)
        if not names:
            raise InputError("the table has no sensitive attribute", code="attack-no-sensitive")
        return names
