"""Linkage attack: a register with names is joined with the released table by the columns that both have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from kohorte.attacks.attack import Attack
from kohorte.attacks.tables.attacked import AttackedTable
from kohorte.attacks.tables.common_columns import common_columns
from kohorte.attacks.tables.members import Members
from kohorte.data import to_polars, without_marks
from kohorte.errors import InputError
from kohorte.groups import different_people
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.plans.plan import Plan
from kohorte.risks.shown.compatible import compatible_classes, overlaps
from kohorte.risks.shown.table import ShownTable


def linkage_attack(
    frame: object, plan: Plan, register: object, *, on: Sequence[str] | None = None, original: object = None
) -> Attack:
    """Count the people of a register who are identified by a class of one person: it matches them and nobody else.

    The register (polars, pandas or arrow) contains original values, one row per person; the table may be raw or a
    release. They are compared by the quasi-identifiers that both have, or by the columns `on`. If the register contains
    everyone who can be in the table, such a class belongs to that person, even if the person matches other rows as
    well. If it is not known whom the rows are about (by the table or by its `original`), a class must have one row.

    Source
        Sweeney, k-Anonymity: A Model for Protecting Privacy, International Journal of Uncertainty, Fuzziness and
        Knowledge-Based Systems 10(5), 2002: a register of voters and the diagnoses of a health insurance.
    """
    return attack_by_linkage(AttackedTable.of(frame, plan, original=original), register, on=on)


def attack_by_linkage(attacked: AttackedTable, register: object, *, on: Sequence[str] | None = None) -> Attack:
    """The attack on a table whose members are known."""
    plan = attacked.plan
    people = without_marks(to_polars(register)[0], plan.missing_values)
    columns = common_columns(attacked.table, people, plan, on)
    if people.height == 0:
        raise InputError("the second table has no rows", code="table-no-rows")
    members, theirs = attacked.by(columns), ShownTable.of(people, columns)
    pairs = compatible_classes(members.shown, theirs, overlaps(members.shown, theirs, plan, right_are_values=True))
    matches = _Matches.of(members, theirs, *pairs)
    rows, found, one = members.shown.sizes, matches.fitting > 0, matches.fitting == 1
    return Attack.on(
        members,
        name="linkage",
        hurt=matches.identified,
        how="the register is joined by the columns that both tables have; a unique row that matches only one person "
        "gets that person's name",
        prevented_by="k-anonymity over all columns that others may know, or k-map for the population they know",
        facts={
            "columns": list(columns),
            "people": people.height,
            "rows_that_fit_somebody": int(rows[found].sum()),
            "rows_that_fit_one_person": int(rows[one].sum()),
            **members.as_people(members.in_classes(found), "people_who_fit_somebody"),
            **members.as_people(members.in_classes(one), "people_who_fit_one_person"),
            "people_who_fit_no_other_row": members.in_classes(matches.certain),
            "expected_matches": matches.expected(members),
        },
    )


@dataclass(frozen=True, eq=False)
class _Matches:
    """`fitting` counts the people of the register who match each class; `identified` of them get a class of one member.

    `certain` are the classes of one member that match one person, who matches nobody else in the table.
    """

    fitting: Counts = field(repr=False)
    identified: int
    certain: Bools = field(repr=False)

    @classmethod
    def of(cls, members: Members, theirs: ShownTable, left: Codes, right: Codes) -> _Matches:
        """Count the matches of compatible classes.

        A class of several members that matches one person contradicts a complete register, and is not counted.
        """
        fitting = np.bincount(left, weights=theirs.sizes[right], minlength=members.classes).astype(np.int64)
        leads = (fitting[left] == 1) & (members.sizes[left] == 1)
        certain = np.zeros(members.classes, dtype=bool)
        certain[left[leads & _match_one(members, theirs.classes, left, right, leads)[right]]] = True
        return cls(fitting, len(np.unique(right[leads])), certain)

    def expected(self, members: Members) -> float:
        """How many members are named correctly on average, if each is named by chance among those who fit.

        Of a person with rows in several classes, the class that tells most counts.
        """
        found = self.fitting > 0
        among = np.maximum(members.sizes, self.fitting)
        if not members.are_people:
            return float((members.sizes[found] / among[found]).sum())
        fewest = np.full(members.everybody, np.iinfo(np.int64).max)
        entries = found[members.class_of]
        np.minimum.at(fewest, members.whom[entries], among[members.class_of[entries]])
        return float((1 / np.sort(fewest[fewest < np.iinfo(np.int64).max])).sum())


def _match_one(members: Members, people: int, left: Codes, right: Codes, leads: Bools) -> Bools:
    """Which people of the register match a single member; asked only of those to whom a class of one member `leads`."""
    asked = np.zeros(people, dtype=bool)
    asked[right[leads]] = True
    pairs = asked[right]
    left, right = left[pairs], right[pairs]
    whom = np.zeros(members.classes, dtype=np.int64)
    whom[members.class_of] = members.whom
    several = np.bincount(right, weights=members.sizes[left] > 1, minlength=people) > 0
    return np.asarray(asked & ~several & (different_people(right, whom[left], people) == 1), dtype=bool)
