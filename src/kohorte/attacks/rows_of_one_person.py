"""Attack with all rows of one person: the attacker lays the classes of these rows over each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from kohorte.attacks.attack import Attack
from kohorte.data import Role, as_text
from kohorte.errors import InputError
from kohorte.hierarchies import SUPPRESSED
from kohorte.in_words import PEOPLE
from kohorte.kernels.arrays import Bools, Codes
from kohorte.plans.plan import Plan
from kohorte.plans.population import PERSON
from kohorte.release.shown_people import LINK, ShownPeople
from kohorte.release.telling.one_person import RowsOfOnePerson, rows_of_one_person
from kohorte.risks.shown.table import ShownTable, checked_table
from kohorte.risks.shown.whom import class_of_original, persons_of_original, released_rows
from kohorte.sources import COUNT

ROWS_OF_ONE_PERSON = "rows of one person"


def rows_of_one_person_attack(frame: object, plan: Plan, original: object) -> Attack:
    """Count the people whom an attacker hurts who knows the quasi-identifiers of all their rows.

    The release does not say whom its rows are about, the `original` table does: each of its rows is found in the
    release by its quasi-identifiers. If a row fits several classes, or if the rows found are not those of the release,
    the attack is refused. What is counted: see `rows_of_one_person` in release/telling/one_person.py.

    Source
        Ganta, Kasiviswanathan and Smith, Composition Attacks and Auxiliary Information in Data Privacy, KDD 2008, for
        the intersection of the values of several classes; here the classes are those of one release.
    """
    table = checked_table(frame, plan)
    found = all_rows_known(table, plan, original)
    return Attack(
        name=ROWS_OF_ONE_PERSON,
        hurt=found.people_hurt,
        rows_tried=table.height - int(_starred(table, plan).sum()),
        how="an attacker who knows all rows of a person lays their classes over each other: few people have rows in "
        "the same classes, or only one sensitive value occurs in all of them",
        prevented_by="attacker_knows: all_rows in person of the plan, so that k people share all their classes",
        facts={"attacker_knows": str(plan.person and plan.person.attacker_knows), **found.to_dict()},
        unit=PEOPLE.many,
        people_tried=found.people,
    )


def all_rows_known(table: pl.DataFrame, plan: Plan, original: object) -> RowsOfOnePerson:
    """Count whom the attack hurts, in a released table whose columns fit the plan."""
    if not plan.unit.counts_people:
        raise InputError("the plan does not say with person whom a row is about", code="attack-no-person")
    decorrelated = plan.decorrelated_attributes
    names = tuple(name for name in plan.names(Role.SENSITIVE) if name in table.columns and name not in decorrelated)
    return rows_of_one_person(_people(table, released_rows(original, plan), plan, names), plan, names)


def _people(table: pl.DataFrame, original: pl.DataFrame, plan: Plan, sensitive: Sequence[str]) -> ShownPeople:
    """The people of a release: the rows of the original table as the release shows them."""
    shown = ShownTable.of(table, plan.quasi_identifiers, ties=plan.unit.links)
    class_of = class_of_original(shown, table, original, plan)
    cells = [
        pl.Series(name, [*texts, SUPPRESSED], dtype=pl.String).gather(np.append(numbers, len(texts))[class_of])
        for name, texts, numbers in zip(shown.names, shown.texts, shown.cells.T, strict=True)
    ]
    persons = persons_of_original(original, plan)
    rows = pl.DataFrame([*cells, *(as_text(original[name]).alias(name) for name in sensitive)]).with_columns(
        pl.Series(PERSON, persons.codes),
        *([] if persons.links is None else [_ties(persons.links, class_of < shown.classes)]),
        pl.lit(1, pl.Int64).alias(COUNT),
    )
    return ShownPeople(rows, shown.names, plan.unit.judges_sets)


def _ties(links: Codes, kept: Bools) -> pl.Series:
    """What ties the rows together; suppressed rows do not show it."""
    return pl.select(pl.when(pl.Series(kept)).then(pl.Series(links)).alias(LINK)).to_series()


def _starred(table: pl.DataFrame, plan: Plan) -> pl.Series:
    shown = pl.DataFrame([as_text(table[name]).alias(name) for name in plan.quasi_identifiers])
    return shown.select(pl.all_horizontal(pl.all().eq_missing(pl.lit(SUPPRESSED)))).to_series()
