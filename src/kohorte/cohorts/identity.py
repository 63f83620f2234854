"""Direct identifiers: family and given name, and a social security number (Versicherungsnummer).

Structure of the number: two digits of the area, the day, month and year of birth (two digits each), the first
letter of the family name, a serial number (from 50 on for women), a check digit. Areas 90 to 99 are never
issued, so that no number here belongs to a real person.

Source
    Versicherungsnummern-, Kontoführungs- und Versicherungsverlaufsverordnung (VKVV), section 2 and annex.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache
from string import ascii_uppercase

import numpy as np
import polars as pl

from kohorte.cohorts import names
from kohorte.cohorts.draw import Dice, Table, band, falling, labelled, table
from kohorte.cohorts.people import SEXES, People
from kohorte.errors import InputError
from kohorte.kernels.arrays import Counts

_FIRST_AREA = 90
_SERIALS = 50
_CAPACITY = (100 - _FIRST_AREA) * _SERIALS
_STRIDE = 137  # has no factor in common with the capacity, so that stepping by it visits every number once
_FACTORS = (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)


@dataclass(frozen=True, eq=False)
class _Names:
    """All names without duplicates, and the tables to draw from them."""

    families: tuple[str, ...]
    initials: Counts
    given: tuple[str, ...]
    origin: Table
    family: Table
    first: Table


def identify(dice: Dice, people: People) -> tuple[pl.Series, pl.Series]:
    """A social security number and a name ("family, given") for everyone."""
    known = _names()
    generation = band(people.birth_year, names.GENERATIONS)
    origin = dice.choose("origin", known.origin, generation)
    family = dice.choose("family name", known.family, origin)
    context = (origin * len(names.GENERATIONS) + generation) * len(SEXES) + people.sex
    first = dice.choose("given name", known.first, context)
    parts = pl.DataFrame({"family": labelled(known.families, family), "given": labelled(known.given, first)})
    name = parts.select(pl.concat_str("family", "given", separator=", ")).to_series()
    return _numbers(people, known.initials[family]), name


@cache
def _names() -> _Names:
    families = names.families()
    given = [
        group
        for origin in names.ORIGINS
        for generation in range(len(names.GENERATIONS))
        for group in names.given(origin, generation)
    ]
    family_names, family = _chosen_from(families, start=6)
    given_names, first = _chosen_from(given, start=4)
    letters = [ord(unicodedata.normalize("NFD", name)[0].upper()) - ord("A") for name in family_names]
    return _Names(family_names, np.asarray(letters), given_names, table(names.SHARES), family, first)


def _chosen_from(groups: list[tuple[str, ...]], *, start: int) -> tuple[tuple[str, ...], Table]:
    """All names of the groups, and a table with one context per group; the first name of a group is the commonest."""
    every = tuple(dict.fromkeys(name for group in groups for name in group))
    contexts = []
    for group in groups:
        weight = dict(zip(group, falling(len(group), start=start), strict=True))
        contexts.append([weight.get(name, 0) for name in every])
    return every, table(contexts)


def _numbers(people: People, initials: Counts) -> pl.Series:
    day, month, year = _calendar(people.birth)
    women = (people.sex != SEXES.index("male")).astype(np.int64)
    key = (((year * 12 + month - 1) * 31 + day - 1) * 26 + initials) * 2 + women
    rank = _rank(key)
    if int(rank.max()) >= _CAPACITY:
        raise InputError(f"rows: there are no more social security numbers for {len(key)} rows", code="cohort-rows")
    position = (rank * _STRIDE + key * 7) % _CAPACITY
    area, serial = _FIRST_AREA + position // _SERIALS, position % _SERIALS + _SERIALS * women
    date = (day * 100 + month) * 100 + year
    check = check_digit(area, date, initials, serial)
    tail = (initials * 100 + serial) * 10 + check
    return _written(area, date, tail)


def _calendar(days: Counts) -> tuple[Counts, Counts, Counts]:
    """Day, month and the last two digits of the year."""
    dates = days.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    day = (dates - months).astype(np.int64) + 1
    months_since_1970 = months.astype(np.int64)
    return day, months_since_1970 % 12 + 1, (months_since_1970 // 12 + 1970) % 100


def _rank(key: Counts) -> Counts:
    """How many earlier rows have the same key."""
    order = np.argsort(key, kind="stable")
    position = np.arange(len(key))
    begins = np.diff(key[order], prepend=-1) != 0
    rank = np.empty_like(position)
    rank[order] = position - np.maximum.accumulate(np.where(begins, position, 0))
    return rank


def check_digit(area: Counts, date: Counts, initials: Counts, serial: Counts) -> Counts:
    """The last digit; `date` is the number DDMMYY, initial 0 is the letter A."""
    number = ((area * 10**6 + date) * 100 + initials + 1) * 100 + serial
    total = np.zeros_like(number)
    for position, factor in enumerate(reversed(_FACTORS)):
        product = number // 10**position % 10 * factor
        total += product // 10 + product % 10
    return total % 10


def _written(area: Counts, date: Counts, tail: Counts) -> pl.Series:
    digits, tails = _pieces()
    parts = pl.DataFrame(
        {
            "area, day": labelled(digits, area * 100 + date // 10_000),
            "month, year": labelled(digits, date % 10_000),
            "letter, serial, check": labelled(tails, tail),
        }
    )
    return parts.select(pl.concat_str(pl.all())).to_series()


@cache
def _pieces() -> tuple[pl.Series, pl.Series]:
    digits = pl.Series([f"{number:04}" for number in range(10_000)])
    return digits, pl.Series([f"{letter}{number:03}" for letter in ascii_uppercase for number in range(1000)])
