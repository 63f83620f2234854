"""Generate a cohort."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from functools import cache

import polars as pl

from kohorte.cohorts.diagnoses import CODES, diagnose
from kohorte.cohorts.draw import Dice, Table, labelled, table
from kohorte.cohorts.identity import identify
from kohorte.cohorts.more import more_columns
from kohorte.cohorts.occupations import employ
from kohorte.cohorts.people import FIRST_DAY, LAST_DAY, OLDEST, SEXES, admit
from kohorte.cohorts.places import live
from kohorte.errors import InputError
from kohorte.kernels.arrays import Counts

_NAMES = (
    "ssn", "name", "zip", "birth_date", "sex", "occupation", "admission_date", "diagnosis", "blood_group",
)  # fmt: skip
_MORE_NAMES = ("marital_status", "insurance", "ward", "height_cm", "weight_kg")
_MAY_BE_MISSING = ("zip", "occupation", "blood_group")

_FIRST_BIRTH = date(FIRST_DAY.year - OLDEST - 1, 1, 1)

# Parts per thousand in Germany.
_BLOOD_GROUPS = {"A+": 370, "O+": 350, "B+": 90, "A-": 60, "O-": 60, "AB+": 40, "B-": 20, "AB-": 10}


def column_names(*, wide: bool = False) -> tuple[str, ...]:
    """The columns of the cohort, in order."""
    return _NAMES + (_MORE_NAMES if wide else ())


def cohort(rows: int, *, seed: int = 1, missing: float = 0.0, wide: bool = False) -> pl.DataFrame:
    """Generate admissions to a German hospital, one patient per row, all columns text.

    Everything is synthetic: names are random combinations of common names, the social security numbers
    were never issued (see `identity`), and the last digits of postal codes are invented. Do not use it
    for epidemiology: shares are plausible, not measured.

    The same seed gives the same rows on every machine, and a longer cohort begins with the shorter one;
    `wide` adds five columns and leaves the others as they are. `missing` is the fraction of empty cells in
    zip, occupation and blood_group.
    """
    _check(rows, seed, missing)
    dice = Dice(seed=seed, rows=rows)
    people = admit(dice)
    diagnosis = diagnose(dice, people)
    ssn, name = identify(dice, people)
    columns = {
        "ssn": ssn,
        "name": name,
        "zip": live(dice),
        "birth_date": _iso(people.birth),
        "sex": labelled(SEXES, people.sex),
        "occupation": employ(dice, people),
        "admission_date": _iso(people.admission),
        "diagnosis": labelled(CODES, diagnosis),
        "blood_group": labelled(tuple(_BLOOD_GROUPS), dice.choose("blood_group", _blood_groups())),
    }
    if wide:
        columns |= more_columns(dice, people, diagnosis)
    return pl.DataFrame(_with_gaps(dice, columns, missing))


def _check(rows: int, seed: int, missing: float) -> None:
    if rows < 1:
        raise InputError(f"rows must be at least 1, not {rows}", code="cohort-rows")
    if seed < 0:
        raise InputError(f"seed must be 0 or more, not {seed}", code="cohort-seed")
    if not 0 <= missing <= 1:
        raise InputError(f"missing is a fraction from 0 to 1, not {missing}", code="cohort-missing")


def _with_gaps(dice: Dice, columns: Mapping[str, pl.Series], missing: float) -> dict[str, pl.Series]:
    gaps = dict(columns)
    for name in _MAY_BE_MISSING if missing else ():
        empty = pl.Series(dice.happens(f"missing {name}", missing))
        gaps[name] = pl.select(pl.when(~empty).then(columns[name])).to_series()
    return gaps


@cache
def _blood_groups() -> Table:
    return table([list(_BLOOD_GROUPS.values())])


def _iso(days: Counts) -> pl.Series:
    return labelled(_calendar(), days - (_FIRST_BIRTH - date(1970, 1, 1)).days)


@cache
def _calendar() -> pl.Series:
    count = (LAST_DAY - _FIRST_BIRTH).days + 1
    return pl.Series([(_FIRST_BIRTH + timedelta(days=number)).isoformat() for number in range(count)])
