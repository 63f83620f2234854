"""The first plan for a table, the same for the command and the service; it runs as it is written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from kohorte.data import Role, as_text, person_keys, spelling_keys, without_marks
from kohorte.hierarchies import Builder, Dates, Intervals, Redaction
from kohorte.in_words import count, listed
from kohorte.lattice import size_in_words
from kohorte.models import DistinctLDiversity, KAnonymity, PrivacyModel
from kohorte.plans.parts import Attribute
from kohorte.plans.people.proposed_person import ProposedPerson, proposed_person
from kohorte.plans.person import Person
from kohorte.plans.plan import Plan
from kohorte.plans.profile import ColumnProfile, profile, why_stars
from kohorte.plans.search_options import SearchOptions

USUAL_K, LEAST_K = 5, 2
LEAST_VALUES = 2
SUPPRESSION_LIMIT = 0.05
MOST_SAFE_LEVELS = 5
"""The most levels of a hierarchy for Safe Harbor."""

WHOM, VALUE = "\0whom", "\0value"
MOST_COMBINATIONS = 2**20
"""Up to so many combinations of levels the optimal search needs little memory and time; our own choice."""
SECONDS = 30.0
"""How long the search without a list may take; our own choice: after 10 seconds it rarely finds anything better."""


@dataclass(frozen=True)
class Proposal:
    """A role and a hierarchy for every column, with models, an algorithm and the reasons; it contains no cell value.

    Each class has at least two values of every sensitive column, so that belonging to a class does not reveal it.
    """

    columns: tuple[ColumnProfile, ...]
    rows: int
    person: ProposedPerson | None = None
    """The columns that say whom a row is about, if several rows seem to be about one person."""
    same_for_all: frozenset[str] = frozenset()
    """The sensitive columns that have a value which all people have, so that no class can hide it."""

    def _with_role(self, role: Role) -> list[ColumnProfile]:
        return [column for column in self.columns if column.role is role]

    @property
    def _counted(self) -> int:
        """The number of people if people are counted, otherwise of rows."""
        return self.rows if self.person is None or not self.person.columns else self.person.people

    @property
    def k(self) -> int:
        """The usual k, or the number of people (of rows, if rows are counted) of a smaller table."""
        return max(LEAST_K, min(USUAL_K, self._counted))

    @cached_property
    def models(self) -> tuple[PrivacyModel, ...]:
        """k-anonymity, and at least two different values of every sensitive column that has them."""
        diverse = [column.name for column in self._with_role(Role.SENSITIVE) if self._differs(column)]
        return (KAnonymity(k=self.k), *(DistinctLDiversity(name, l=LEAST_VALUES) for name in diverse))

    def _differs(self, column: ColumnProfile) -> bool:
        """Whether a class can hide which value a person has in a sensitive column."""
        return column.distinct >= LEAST_VALUES and column.name not in self.same_for_all

    @property
    def search(self) -> SearchOptions:
        """The optimal search; one that needs no list, for a limited time, if there are too many combinations."""
        return search_for(self.columns)

    @cached_property
    def missing_values(self) -> tuple[str, ...]:
        """The texts that seem to stand for a missing value."""
        return missing_values_of(self.columns)

    @cached_property
    def plan(self) -> Plan | None:
        """The plan; None if there is nothing to generalize or nobody to hide among, or a table has suppressed cells."""
        whom = () if self.person is None else self.person.columns
        attributes = {column.name: Attribute(column.role, column.hierarchy) for column in self.columns}
        nothing = not any(one.role is Role.QUASI_IDENTIFYING for one in attributes.values())
        if nothing or self._counted < LEAST_K or why_stars(self.columns):
            return None
        return Plan(
            attributes=attributes,
            models=self.models,
            suppression_limit=SUPPRESSION_LIMIT,
            search=self.search,
            missing_values=self.missing_values,
            person=Person(whom) if whom else None,
        )

    @property
    def why_no_plan(self) -> str:
        """Why there is no plan, in words."""
        if stars := why_stars(self.columns):
            return stars
        if self._counted < LEAST_K:
            alone = "the table has one row" if self.rows < LEAST_K else "all rows seem to be about one person"
            return f"{alone}, and there is nobody to hide among, so there is no plan to propose"
        return "no column looks quasi-identifying, so there is no plan to propose"

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """Why the plan is as it is, as sentences for people."""
        usual = "a small table gets a smaller k" if self.k == USUAL_K else "the table is too small for the usual 5"
        quasi = count(len(self._with_role(Role.QUASI_IDENTIFYING)), "column")
        found = [
            f"k = {self.k}: each person looks like at least {self.k - 1} others; {usual}",
            f"{quasi} quasi-identifying: make those insensitive that outsiders cannot know",
        ]
        if identifying := self._with_role(Role.IDENTIFYING):
            look = count(len(identifying), "column looks like an identifier", "columns look like identifiers")
            found.append(f"{look}; a release leaves {'it' if len(identifying) == 1 else 'them'} out")
        if self.person is not None:
            found.append(f"person: {self.person.reason}")
        return (*found, *self._about_sensitive(), *self._about_search(), *self._about_cells())

    def _about_sensitive(self) -> list[str]:
        sensitive = self._with_role(Role.SENSITIVE)
        alike = [column.name for column in sensitive if not self._differs(column)]
        found = []
        if len(alike) < len(sensitive):
            found.append("each class contains at least two values of every sensitive attribute")
        if constant := [column.name for column in sensitive if column.distinct < LEAST_VALUES]:
            found.append(
                f"no model can protect {listed(list(map(repr, constant)))}: all rows have the same value, or none"
            )
        if shared := [name for name in alike if name not in constant]:
            found.append(
                f"no model can protect {listed(list(map(repr, shared)))}: all people have one value in common, or lack "
                "one, in at least one of their rows each"
            )
        return found

    def _about_search(self) -> list[str]:
        if self.search.algorithm == "optimal":
            return []
        size = size_in_words(_combinations(self.columns))
        return [
            f"algorithm best_first: there are {size} combinations of levels; the optimal search keeps a list of them, "
            "best_first does not. It takes the best release that it finds within time_limit, in seconds. With fewer "
            "quasi-identifiers take optimal; least_loss loses far less, but shows which values occur in the data"
        ]

    def _about_cells(self) -> list[str]:
        found = []
        if self.missing_values:
            found.append(
                "missing_values: these texts usually stand for a missing value; they count as empty cells in every "
                "column. Remove those that are values"
            )
        if stars := [column.name for column in self.columns if column.stars]:
            found.append(
                f"{', '.join(map(repr, stars))}: cells with * mark suppressed values of a release; anonymize the "
                "original table instead, or empty these cells"
            )
        return found


def propose(frame: pl.DataFrame) -> Proposal:
    """Look at a table and propose a first plan."""
    columns = profile(frame)
    marks = missing_values_of(columns)
    person = proposed_person(frame, {column.name: column.role for column in columns}, marks)
    columns = tuple(_numbering_people(one) if one.name == person.identifying else one for one in columns)
    if not person.columns:
        return Proposal(columns, frame.height, person)
    return Proposal(columns, frame.height, person, _same_for_all(without_marks(frame, marks), columns, person.columns))


def _numbering_people(column: ColumnProfile) -> ColumnProfile:
    """A column that says whom a row is about; what its cells look like no longer matters."""
    if column.role is Role.IDENTIFYING:
        return column
    why = "it seems to say whom a row is about"
    return replace(column, role=Role.IDENTIFYING, why=why, hierarchy=None, why_hierarchy="")


def _same_for_all(frame: pl.DataFrame, columns: Sequence[ColumnProfile], whom: Sequence[str]) -> frozenset[str]:
    """The sensitive columns with a value that every person has in some row."""
    persons = person_keys([as_text(frame[name]) for name in whom]).rank("dense").alias(WHOM)
    people, found = persons.n_unique(), set()
    for column in columns:
        if column.role is Role.SENSITIVE:
            pairs = pl.DataFrame([persons, spelling_keys(as_text(frame[column.name])).alias(VALUE)]).unique()
            if pairs.group_by(VALUE).len()["len"].max() == people:
                found.add(column.name)
    return frozenset(found)


def search_for(columns: Sequence[ColumnProfile]) -> SearchOptions:
    """The optimal search; one that keeps no list, for a limited time, if there are too many combinations of levels."""
    if _combinations(columns) <= MOST_COMBINATIONS:
        return SearchOptions()
    return SearchOptions(algorithm="best_first", time_limit=SECONDS)


def missing_values_of(columns: Sequence[ColumnProfile]) -> tuple[str, ...]:
    """The texts that seem to stand for a missing value in some column."""
    return tuple(sorted({mark for column in columns for mark in column.missing_values}))


def _combinations(columns: Sequence[ColumnProfile]) -> int:
    return math.prod(_levels(column.hierarchy) for column in columns if column.role is Role.QUASI_IDENTIFYING)


def _levels(hierarchy: Builder | None) -> int:
    """The number of levels of a proposed hierarchy, with the value itself and `*`."""
    if isinstance(hierarchy, Dates):
        return len(hierarchy.levels) + 2
    if isinstance(hierarchy, Intervals):
        return len(hierarchy.widths or ()) + 2
    if isinstance(hierarchy, Redaction) and hierarchy.length is not None:
        return hierarchy.length + 1
    return 2 if hierarchy is None else MOST_SAFE_LEVELS
