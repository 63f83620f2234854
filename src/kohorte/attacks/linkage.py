"""Linkage attack: a register with names is joined with the released table by the columns that both have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from kohorte.attacks.attack import Attack
from kohorte.data import to_polars, without_marks
from kohorte.errors import InputError, nearest
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.plans.plan import Plan
from kohorte.risks.shown.compatible import compatible_classes, overlaps
from kohorte.risks.shown.table import ShownTable, checked_table


def linkage_attack(frame: object, plan: Plan, register: object, *, on: Sequence[str] | None = None) -> Attack:
    """Count the people of a register who are identified by a single row: it matches them and nobody else.

    The register (polars, pandas or arrow) contains original values; the table may be raw or a release. They are
    compared by the quasi-identifiers that both have, or by the columns `on`. If the register contains everyone who can
    be in the table, such a row belongs to that person, even if the person matches other rows as well.

    Source
        Sweeney, k-Anonymity: A Model for Protecting Privacy, International Journal of Uncertainty, Fuzziness and
        Knowledge-Based Systems 10(5), 2002: a register of voters and the diagnoses of a health insurance.
    """
    table = checked_table(frame, plan)
    people = without_marks(to_polars(register)[0], plan.missing_values)
    columns = common_columns(table, people, plan, on)
    if people.height == 0:
        raise InputError("the second table has no rows", code="table-no-rows")
    ours, theirs = ShownTable.of(table, columns), ShownTable.of(people, columns)
    pairs = compatible_classes(ours, theirs, overlaps(ours, theirs, plan, right_are_values=True))
    fitting, hurt, certain = _matches(ours, theirs, *pairs)
    sizes = ours.sizes
    found = fitting > 0
    return Attack(
        name="linkage",
        people_hurt=hurt,
        rows_tried=ours.kept_rows,
        how="the register is joined by the columns that both tables have; a unique row that matches only one person "
        "gets that person's name",
        prevented_by="k-anonymity over all columns that others may know, or k-map for the population they know",
        facts={
            "columns": list(columns),
            "people": people.height,
            "rows_that_fit_somebody": int(sizes[found].sum()),
            "rows_that_fit_one_person": int(sizes[fitting == 1].sum()),
            "people_who_fit_no_other_row": int(sizes[certain].sum()),
            "expected_matches": float((sizes[found] / np.maximum(sizes, fitting)[found]).sum()),
        },
    )


def common_columns(
    table: pl.DataFrame, other: pl.DataFrame, plan: Plan, on: Sequence[str] | None = None
) -> tuple[str, ...]:
    """The quasi-identifiers that both tables have, or the columns `on`; refuse if there are none."""
    if on is None:
        found = tuple(name for name in plan.quasi_identifiers if name in other.columns)
        if not found:
            hints = ", ".join(repr(name) for name in plan.quasi_identifiers)
            raise InputError(
                f"the second table has none of the quasi-identifiers {hints}: the two cannot be joined",
                code="attack-no-common-columns",
            )
        return found
    given: object = on
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise InputError("on: give a list of columns that both tables have, at least one", code="attack-parameter")
    for name in on:
        if name not in table.columns or name not in other.columns:
            both = set(table.columns) & set(other.columns)
            raise InputError(
                f"the tables do not both have a column {name!r}{nearest(str(name), both)}",
                code="attack-no-common-columns",
            )
    return tuple(dict.fromkeys(on))


def _matches(ours: ShownTable, theirs: ShownTable, left: Codes, right: Codes) -> tuple[Counts, int, Bools]:
    """The number of people who match each class; how many are identified; the rows that match both ways uniquely.

    A class of several rows that matches one person contradicts a complete register, and is not counted.
    """
    people = np.bincount(left, weights=theirs.sizes[right], minlength=ours.classes).astype(np.int64)
    rows = np.bincount(right, weights=ours.sizes[left], minlength=theirs.classes).astype(np.int64)
    leads = (people[left] == 1) & (ours.sizes[left] == 1)
    certain = np.zeros(ours.classes, dtype=bool)
    certain[left[leads & (rows[right] == 1)]] = True
    return people, len(np.unique(right[leads])), certain
