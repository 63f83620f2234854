"""Find out whom the rows of a table are about: from the table, from its original, or from the run that made it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from kohorte.data import Role, as_text, to_polars, without_marks
from kohorte.errors import InputError
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.kernels.distinct import distinct_numbers
from kohorte.plans.columns import check_columns
from kohorte.plans.people.person_notes import identifiers, person_notes
from kohorte.plans.people.project_pseudonyms import keyed_pseudonyms
from kohorte.plans.people.unstated_person import IN_ROWS
from kohorte.plans.plan import Plan
from kohorte.plans.population import PERSON, flagged_rows, without_flag
from kohorte.release.shown_people import LINK, ShownPeople
from kohorte.risks.shown.compatible import compatible_classes, overlaps
from kohorte.risks.shown.people_in_classes import PeopleInClasses
from kohorte.risks.shown.table import NOT_NEEDED, ShownTable
from kohorte.sources import COUNT, FrameSource, PersonColumns, Persons

CLASS, OTHERS = "\0class", "\0others"
UNCLEAR = ("people-unclear", "attack-too-large")
"""Why the rows of a release cannot be found in the table from which it was made."""


def shown_people(
    table: pl.DataFrame,
    plan: Plan,
    *,
    original: object = None,
    known: ShownPeople | None = None,
    most_suppressed: int | None = None,
) -> ShownTable:
    """Count the classes of a table and, if the plan counts people, the people in them.

    Whom a row is about is said by the table itself, as long as it has the columns of `person`; otherwise by the run
    that made it (`known`), or by the `original` table from which it was made. Without any of them `people` is None, and
    only rows can be counted.
    """
    shown = ShownTable.of(table, plan.quasi_identifiers, most_suppressed=most_suppressed, ties=plan.unit.links)
    if not plan.unit.counts_people:
        return shown
    if set(plan.unit.needed_columns) <= set(table.columns):
        return shown.with_people(_of_table(shown, table, plan))
    if known is not None:
        return shown.with_people(_of_release(shown, known))
    return shown if original is None else shown.with_people(_of_original(shown, table, original, plan))


def people_in_doubt(table: pl.DataFrame, plan: Plan, original: object = None) -> tuple[str, ...]:
    """Say what a table, or the original from which it was made, says about people and the plan does not.

    An original with other rows says nothing about a table of which rows are counted.
    """
    source = FrameSource(table)
    alone = person_notes(source, plan)
    if original is None or set(identifiers(plan)) <= set(table.columns):
        return alone
    rows = released_rows(original, plan)
    if alone and not plan.unit.counts_people:
        try:
            class_of_original(ShownTable.of(table, plan.quasi_identifiers), table, rows, plan)
        except InputError as error:
            if error.code not in UNCLEAR:
                raise
            return (f"{IN_ROWS}: {error.message}",)
    return person_notes(source, plan, original=FrameSource(rows))


def released_rows(original: object, plan: Plan) -> pl.DataFrame:
    """The rows of the original table that are released."""
    try:
        table = without_marks(to_polars(original)[0], plan.missing_values)
        check_columns(table.columns, plan, may_lack=NOT_NEEDED)
        _refuse_absent(table, plan)
        return keyed_pseudonyms(without_flag(flagged_rows(table, plan), plan), plan)
    except InputError as error:
        raise InputError(f"the original table: {error.message}", code=error.code) from None


def _refuse_absent(table: pl.DataFrame, plan: Plan) -> None:
    if absent := [name for name in plan.unit.needed_columns if name not in table.columns]:
        hints = ", ".join(map(repr, absent))
        raise InputError(f"it does not have the columns that say whom a row is about: {hints}", code="columns-missing")


def persons_of_original(rows: pl.DataFrame, plan: Plan) -> Persons:
    """Number the people of all rows of the original table, and what ties rows together."""
    try:
        return _persons(rows, plan)
    except InputError as error:
        raise InputError(f"the original table: {error.message}", code=error.code) from None


def class_of_original(shown: ShownTable, table: pl.DataFrame, original: pl.DataFrame, plan: Plan) -> Counts:
    """The class of a released table for each row of its original; the number of classes if the row is suppressed.

    Each row is found by its quasi-identifiers. Refused if a row fits several classes, or if the rows found are not
    those of the release, which is seen by their sensitive values.
    """
    ours = ShownTable.of(table, shown.names)
    found = _fitting(ours, ShownTable.of(original, shown.names), plan)
    found = _in(ours, shown)[found]
    changed = {*plan.decorrelated_attributes, *plan.unit.links}
    known = set(table.columns) & set(original.columns) - changed
    compared = [name for name in plan.names(Role.SENSITIVE) if name in known]
    frames = ((table, shown.class_of_all_rows), (original, found))
    ours_counted, theirs_counted = (
        pl.DataFrame([pl.Series(CLASS, classes), *(as_text(frame[name]).alias(name) for name in compared)])
        .group_by(pl.all())
        .agg(pl.len().alias(COUNT))
        for frame, classes in frames
    )
    both = ours_counted.join(theirs_counted, on=[CLASS, *compared], how="full", nulls_equal=True, suffix=OTHERS)
    if not both.select(pl.col(COUNT).eq_missing(pl.col(COUNT + OTHERS)).all()).item():
        raise InputError(
            "the rows of the original table, generalized like the release, are not the rows of the release",
            code="people-unclear",
        )
    return found


def _of_table(shown: ShownTable, table: pl.DataFrame, plan: Plan) -> PeopleInClasses:
    persons = _persons(table, plan)
    if shown.suppressed and plan.unit.stays_tied:  # suppressed rows do not say whom they are about
        persons = _without_others(persons, shown.kept)
    return _made(shown.class_of, persons, shown.kept, table, plan, of_row=True)


def _without_others(persons: Persons, kept: Codes) -> Persons:
    """Number only the people of the kept rows."""
    found, numbers = np.unique(persons.codes[kept], return_inverse=True)
    codes = np.zeros_like(persons.codes)
    codes[kept] = numbers
    return replace(persons, codes=codes, count=len(found))


def _of_original(shown: ShownTable, table: pl.DataFrame, original: object, plan: Plan) -> PeopleInClasses:
    rows = released_rows(original, plan)
    persons, classes = persons_of_original(rows, plan), class_of_original(shown, table, rows, plan)
    kept = np.flatnonzero(classes < shown.classes).astype(np.uint32)
    return _made(classes[kept].astype(np.uint32), persons, kept, rows, plan)


def _persons(table: pl.DataFrame, plan: Plan) -> Persons:
    """Number the people of all rows; refuse rows without a person, and ties between different people."""
    unit, source = plan.unit, FrameSource(table, merged=False)
    columns = PersonColumns(unit.columns, unit.links, unit.judges_sets)
    return columns.numbered(source, source.distinct(unit.needed_columns))[0]


def _made(
    class_of: Codes, persons: Persons, kept: Codes, table: pl.DataFrame, plan: Plan, *, of_row: bool = False
) -> PeopleInClasses:
    """Put together the people of the kept rows of a table."""
    own = persons.chosen(kept)
    sensitive = [name for name in plan.names(Role.SENSITIVE) if name in table.columns]
    return PeopleInClasses(
        class_of=class_of,
        person=own.codes,
        rows=np.ones(len(kept), dtype=np.int64),
        everybody=persons.count,
        by_sets=persons.by_sets,
        entries=pl.DataFrame([table[name][kept] for name in sensitive]),
        link=own.links,
        person_of_row=own.codes if of_row else None,
    )


def _of_release(shown: ShownTable, known: ShownPeople) -> PeopleInClasses:
    """The people of a release that was just made."""
    names = list(shown.names)
    numbers = shown.shown().with_row_index(CLASS)
    found = known.tuples.join(numbers, on=names, how="left", nulls_equal=True, maintain_order="left")
    person, everybody = _numbers(found[PERSON])
    link = _numbers(found[LINK])[0] if LINK in found.columns else None
    hidden = known.starred if shown.suppressed else pl.lit(value=False)
    kept: Bools = found.select(pl.col(CLASS).is_not_null() & ~hidden).to_series().to_numpy()
    found = found.filter(pl.Series(kept))
    return PeopleInClasses(
        class_of=found[CLASS].cast(pl.UInt32).to_numpy(),
        person=person[kept],
        rows=found[COUNT].cast(pl.Int64).to_numpy(),
        everybody=everybody,
        by_sets=known.by_sets,
        entries=found.drop(CLASS, COUNT, PERSON, LINK, strict=False),
        link=None if link is None else link[kept],
    )


def _numbers(column: pl.Series) -> tuple[Codes, int]:
    distinct, numbers = np.unique(column.rank("dense").to_numpy(), return_inverse=True)
    return numbers.astype(np.uint32), len(distinct)


def _fitting(ours: ShownTable, theirs: ShownTable, plan: Plan) -> Counts:
    """The class of the release that each row of the original fits; the number of classes if it fits none."""
    left, right = compatible_classes(ours, theirs, overlaps(ours, theirs, plan, right_are_values=True))
    if several := len(right) - len(distinct_numbers(right)):
        raise InputError(
            f"rows of the original table fit several classes of the release ({several:,} times), so that it is "
            "unknown whom these are about",
            code="people-unclear",
        )
    of_class = np.full(theirs.classes + 1, ours.classes, dtype=np.int64)
    of_class[right] = left
    return of_class[theirs.class_of_all_rows]


def _in(ours: ShownTable, shown: ShownTable) -> Counts:
    """The number in `shown` of each class of `ours`, and of suppressed rows, which may be a class there."""
    found = np.full(ours.classes + 1, shown.classes, dtype=np.int64)
    found[ours.class_of_all_rows] = shown.class_of_all_rows
    return found
