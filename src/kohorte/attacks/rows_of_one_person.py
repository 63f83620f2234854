"""Attack with all rows of one person: the attacker lays the classes of these rows over each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from kohorte.attacks.attack import Attack
from kohorte.data import Role, as_text, to_polars
from kohorte.errors import InputError
from kohorte.hierarchies import SUPPRESSED
from kohorte.kernels.arrays import Counts
from kohorte.plans.columns import check_columns
from kohorte.plans.plan import Plan
from kohorte.plans.population import PERSON, flagged_rows, without_flag
from kohorte.release.shown_people import LINK, ShownPeople
from kohorte.release.telling.one_person import rows_of_one_person
from kohorte.risks.shown.compatible import compatible_classes, overlaps
from kohorte.risks.shown.table import ShownTable, checked_table
from kohorte.sources import COUNT, FrameSource

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
    unit = plan.unit
    if not unit.counts_people:
        raise InputError("the plan does not say with person whom a row is about", code="attack-no-person")
    table = checked_table(frame, plan)
    decorrelated = plan.decorrelated_attributes
    names = tuple(name for name in plan.names(Role.SENSITIVE) if name in table.columns and name not in decorrelated)
    people = _people(table, _original(original, plan), plan, names)
    found = rows_of_one_person(people, plan, names)
    return Attack(
        name=ROWS_OF_ONE_PERSON,
        people_hurt=found.people_hurt,
        rows_tried=table.height - int(_starred(table, plan).sum()),
        how="an attacker who knows all rows of a person lays their classes over each other: few people have rows in "
        "the same classes, or only one sensitive value occurs in all of them",
        prevented_by="attacker_knows: all_rows in person of the plan, so that k people share all their classes",
        facts={"attacker_knows": str(plan.person and plan.person.attacker_knows), **found.to_dict()},
    )


def _original(original: object, plan: Plan) -> pl.DataFrame:
    """The rows of the original table that are released."""
    try:
        table = to_polars(original)[0]
        check_columns(table.columns, plan)
        rows = without_flag(flagged_rows(table, plan), plan)
    except InputError as error:
        raise InputError(f"the original table: {error.message}", code=error.code) from None
    missing = sum(table[name].null_count() for name in plan.unit.columns)
    if missing:
        raise InputError(f"the original table: {missing:,} rows do not say whom they are about", code="person-missing")
    return rows


def _people(table: pl.DataFrame, original: pl.DataFrame, plan: Plan, sensitive: Sequence[str]) -> ShownPeople:
    """The people of a release: the rows of the original table as the release shows them."""
    names, unit = plan.quasi_identifiers, plan.unit
    ours, theirs = ShownTable.of(table, names), ShownTable.of(original, names)
    class_of = _class_of_rows(ours, theirs, plan)
    cells = [
        pl.Series(name, [*texts, SUPPRESSED], dtype=pl.String).gather(np.append(numbers, len(texts))[class_of])
        for name, texts, numbers in zip(ours.names, ours.texts, ours.cells.T, strict=True)
    ]
    rows = pl.DataFrame([*cells, *(as_text(original[name]).alias(name) for name in sensitive)]).with_columns(
        _numbers(original, unit.columns).alias(PERSON),
        *([_numbers(original, unit.links).alias(LINK)] if unit.links else []),
        pl.lit(1, pl.Int64).alias(COUNT),
    )
    people = ShownPeople(rows, names, unit.judges_sets)
    if not people.fit(FrameSource(table).count_shown([*names, *sensitive])):
        raise InputError(
            "the rows of the original table, generalized like the release, are not the rows of the release",
            code="attack-people-unclear",
        )
    return people


def _class_of_rows(ours: ShownTable, theirs: ShownTable, plan: Plan) -> Counts:
    """The class of the release that each row of the original fits; their number if it fits none."""
    left, right = compatible_classes(ours, theirs, overlaps(ours, theirs, plan, right_are_values=True))
    if several := len(right) - len(np.unique(right)):
        raise InputError(
            f"rows of the original table fit several classes of the release ({several:,} times), so that it is "
            "unknown whom these are about",
            code="attack-people-unclear",
        )
    of_class = np.full(theirs.classes, ours.classes, dtype=np.int64)
    of_class[right] = left
    found = np.full(theirs.rows, ours.classes, dtype=np.int64)
    found[theirs.kept] = of_class[theirs.class_of]
    return found


def _numbers(table: pl.DataFrame, columns: Sequence[str]) -> pl.Series:
    """The combinations of values of some columns, numbered."""
    texts = pl.DataFrame([as_text(table[name]).alias(name) for name in columns])
    return texts.select(pl.struct(pl.all()).rank("dense")).to_series()


def _starred(table: pl.DataFrame, plan: Plan) -> pl.Series:
    shown = pl.DataFrame([as_text(table[name]).alias(name) for name in plan.quasi_identifiers])
    return shown.select(pl.all_horizontal(pl.all().eq_missing(pl.lit(SUPPRESSED)))).to_series()
