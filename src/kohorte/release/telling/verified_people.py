"""Find out whom the rows of a table are about that is verified, or say why only its rows can be counted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import polars as pl

from kohorte.algorithm_names import RECODER_NAMES
from kohorte.models import (
    AlphaKAnonymity,
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    RecursiveLDiversity,
    SafeHarborRule,
)
from kohorte.plans.people.person_notes import identifiers
from kohorte.plans.people.unstated_person import IN_ROWS
from kohorte.plans.plan import Plan
from kohorte.plans.population import flagged_rows
from kohorte.plans.unit import Unit
from kohorte.release.shown_classes import Classes, all_starred
from kohorte.release.shown_people import ShownPeople
from kohorte.release.telling.recoded_again import recoded_again
from kohorte.sources import COUNT, TableSource

OTHER_ROWS = "its rows are not those of the original table, so that people cannot be counted"
NOT_COUNTED = "people were not counted, only rows"
BY_ROW = "levels differ from row to row"
OTHERWISE_RECODED = f"{BY_ROW}, and the original table, recoded again as the plan says, does not give the same rows"
NO_LEVEL = f"a column stands at no level of its hierarchy: {BY_ROW}, or the original is another table"
"""An algorithm that is given with the command, not in the plan, may have recoded row by row."""
ROWS_FAIL = "a model that fails by rows can hold for people, because a person with several rows counts once"
ASK_ORIGINAL = f"{ROWS_FAIL}: only the original table tells (--population FILE)"
NOT_TOLD = f"{ROWS_FAIL}: whether it does is not known, although the original table was given"
OF_CLASSES = (KAnonymity, AlphaKAnonymity, DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity, SafeHarborRule)
"""Models whose verdict on a class needs no other rows than those of the class."""


@dataclass(frozen=True, eq=False)
class VerifiedPeople:
    """The people of a table, if the plan counts people and they are known.

    `partly`: only those of the rows that are not suppressed. `unknown` says why they are not known, `problem` what is
    wrong with the table; each is empty if there is nothing to say. `compared`: the original table was given.
    """

    people: ShownPeople | None = field(default=None, repr=False)
    partly: bool = False
    unknown: str = ""
    problem: str = ""
    compared: bool = False

    @property
    def rows_fail(self) -> str:
        """What a model tells about people that fails by rows."""
        return NOT_TOLD if self.compared else ASK_ORIGINAL


def find_people(
    table: TableSource,
    tuples: pl.DataFrame,
    classes: Classes,
    plan: Plan,
    *,
    known: ShownPeople | None = None,
    original: pl.DataFrame | None = None,
) -> VerifiedPeople:
    """Return the people of a table of which `tuples` are counted: those that are `known`, because it was just made;
    those that the table itself names, if the columns of the person stay in it; or those of the `original` table.
    """
    if known is not None:
        return _fitting(known, tuples)
    if not plan.unit.counts_people:
        if original is None or not _reads_identifiers(table, plan, original):
            return VerifiedPeople()
        return _compared(tuples, classes, plan, original)
    if set(plan.unit.needed_columns) <= set(table.columns):
        named = _named(table, classes, plan)
        if named.people is not None or original is None:
            return named
    if original is None:
        return VerifiedPeople(unknown=_unknown("the table does not say whom a row is about", plan.unit))
    return replace(_of_original(tuples, classes, plan, original), compared=True)


def _of_original(tuples: pl.DataFrame, classes: Classes, plan: Plan, original: pl.DataFrame) -> VerifiedPeople:
    """The people of a table by the rows of the original; if people are judged by all rows, some rows of a class may be
    suppressed.
    """
    if plan.search.algorithm in RECODER_NAMES:
        again = recoded_again(original, plan)
        if again is not None and again.fit(tuples):
            return VerifiedPeople(again)
        return _or_other_rows(tuples, plan, original, _unknown(OTHERWISE_RECODED, plan.unit))
    found = ShownPeople.of_original(original, classes, plan)
    if found is None:
        return _or_other_rows(tuples, plan, original, _unknown(NO_LEVEL, plan.unit))
    if not plan.unit.judges_sets or found.fit(tuples, plan.pseudonyms):
        return _fitting(found, tuples, plan)
    found = ShownPeople.of_original(original, classes, plan, suppressing=True)
    if found is not None and found.fit(tuples, plan.pseudonyms):
        return VerifiedPeople(found)
    unclear = _unknown("the original table does not say whose rows are suppressed", plan.unit)
    return _or_other_rows(tuples, plan, original, unclear)


def _named(table: TableSource, classes: Classes, plan: Plan) -> VerifiedPeople:
    """The people whom a table itself names; suppressed rows do not name theirs.

    Models that compare a class with the whole table need all people.
    """
    unit = plan.unit
    names = dict.fromkeys((*plan.quasi_identifiers, *plan.histograms, *unit.needed_columns))
    tuples = table.count_shown(list(names))
    if not classes.suppressed:
        return VerifiedPeople(ShownPeople.of_table(tuples, plan))
    if not all(isinstance(model, OF_CLASSES) for model in plan.judging_models):
        return VerifiedPeople(unknown=_unknown("suppressed rows do not say whom they are about", unit))
    kept = tuples.filter(~all_starred((*plan.quasi_identifiers, *unit.links)))
    return VerifiedPeople(ShownPeople.of_table(kept, plan), partly=True)


def _fitting(people: ShownPeople, tuples: pl.DataFrame, plan: Plan | None = None) -> VerifiedPeople:
    """The people of a table, if they have its rows; the original of a plan has other values than pseudonyms."""
    fits = people.fit(tuples, () if plan is None else plan.pseudonyms)
    return VerifiedPeople(people) if fits else VerifiedPeople(problem=OTHER_ROWS)


def _or_other_rows(tuples: pl.DataFrame, plan: Plan, original: pl.DataFrame, unclear: str) -> VerifiedPeople:
    """Why the rows of the original could not be compared with the table; another number of rows is a problem."""
    if flagged_rows(original, plan).height != int(tuples[COUNT].sum()):
        return VerifiedPeople(problem=OTHER_ROWS)
    return VerifiedPeople(unknown=unclear)


def _reads_identifiers(table: TableSource, plan: Plan, original: pl.DataFrame) -> bool:
    """Whether the original table, not the table itself, says if identifiers repeat, or was given for another reason."""
    needed = set(identifiers(plan))
    if not needed:
        return plan.subset is None
    return not needed <= set(table.columns) and needed <= set(original.columns)


def _compared(tuples: pl.DataFrame, classes: Classes, plan: Plan, original: pl.DataFrame) -> VerifiedPeople:
    """Whether a table of which rows are counted has the rows of the original table; nobody is counted."""
    rows = None if plan.search.algorithm in RECODER_NAMES else ShownPeople.of_original(original, classes, plan)
    if rows is None:
        why = BY_ROW if plan.search.algorithm in RECODER_NAMES else NO_LEVEL
        unclear = f"{IN_ROWS}: whether they are those of the original table is unclear; {why}"
        return _or_other_rows(tuples, plan, original, unclear)
    return VerifiedPeople(problem=_fitting(rows, tuples, plan).problem)


def _unknown(why: str, unit: Unit) -> str:
    """Why people were not counted, and what else was not checked then."""
    if not unit.judges_sets:
        return f"{NOT_COUNTED}: {why}"
    asks = "attacker_knows: all_rows"
    if unit.links:
        asks = "a person who stays in the release" if unit.linked_by is None else f"linked_by: {unit.linked_by}"
    return f"{NOT_COUNTED}: {why}; all rows of a person together, as {asks} asks for, were not checked either"
