"""A release of the engine as a candidate of the ledger: which class shows each person of the original table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from kohorte.data import as_text, person_keys, without_marks
from kohorte.data.person_keys import spelling_keys
from kohorte.disclosures.candidate import Candidate, ReleaseKind
from kohorte.disclosures.ledger import Ledger
from kohorte.errors import InputError, nearest
from kohorte.kernels.arrays import Integers
from kohorte.plans.plan import Plan
from kohorte.risks.shown.table import ShownTable
from kohorte.risks.shown.whom import class_of_original, released_rows


@dataclass(frozen=True)
class Passing:
    """To whom a release goes, what for, and how it leaves."""

    recipient: str
    purpose: str = ""
    kind: ReleaseKind = ReleaseKind.FILE
    about: str = ""


def people_of(ledger: Ledger, table: pl.DataFrame, plan: Plan) -> Integers:
    """The person of each row of a table, as an index of the ledger; new people are added."""
    if not plan.unit.counts_people:
        raise InputError(
            "the ledger remembers people: say in the plan with 'person' whom a row is about", code="disclosure-person"
        )
    for name in plan.unit.columns:
        if name not in table.columns:
            raise InputError(f"the table has no column {name!r}{nearest(name, table.columns)}", code="columns-missing")
    rows = without_marks(table.select(plan.unit.columns), plan.missing_values)
    return ledger.fingerprints(person_keys([as_text(rows[name]) for name in plan.unit.columns]))


def candidate_of_classes(
    ledger: Ledger, rows: pl.DataFrame, classes: Integers, release: pl.DataFrame, plan: Plan, passing: Passing
) -> Candidate:
    """The candidate of a release of which the class of each row is known; -1 is a row that it does not show."""
    table = without_marks(rows, plan.missing_values)
    people = people_of(ledger, rows, plan)
    return Candidate(
        people,
        classes.astype(np.int64),
        passing.recipient,
        passing.kind,
        columns=_columns(release, plan),
        purpose=passing.purpose,
        about=passing.about,
        table=people,
        sensitive={name: _codes(table[name]) for name in plan.histograms},
    )


def candidate_of(
    ledger: Ledger, original: pl.DataFrame, release: pl.DataFrame, plan: Plan, passing: Passing
) -> Candidate:
    """Find out whom a release shows in which class, and add the people of the original table to the ledger.

    Suppressed rows are shown as stars, so that they are a class of their own. The columns that models protect are
    examined for a value that people who can be told apart have in common.
    """
    rows = released_rows(original, plan)
    shown = ShownTable.of(release, plan.quasi_identifiers)
    classes = class_of_original(shown, release, rows, plan)
    return candidate_of_classes(ledger, rows, classes, release, plan, passing)


def _columns(release: pl.DataFrame, plan: Plan) -> dict[str, str]:
    """The columns that are shown; of quasi-identifiers the number of different labels, never a label."""
    counts = {name: f"{as_text(release[name]).n_unique():,} labels" for name in plan.quasi_identifiers}
    return {name: counts.get(name, "as it is") for name in release.columns}


def _codes(values: pl.Series) -> Integers:
    """A number for each value, the same for all its spellings."""
    codes = spelling_keys(as_text(values)).rank("dense").cast(pl.Int64) - 1
    return codes.fill_null(-1).to_numpy()
