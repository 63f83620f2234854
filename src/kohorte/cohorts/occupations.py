"""Occupations by age and sex."""

from __future__ import annotations

from functools import cache

import polars as pl

from kohorte.cohorts.draw import Dice, Table, band, doubling, labelled, table
from kohorte.cohorts.people import SEXES, People

_STARTS = (0, 6, 16, 19, 25, 35, 50, 63, 67)

# Occupation, weight in each age band (see draw.doubling), parts of women and of men.
_PROFILES = (
    ("child", "900000000", 1, 1),
    ("pupil", "098100000", 1, 1),
    ("apprentice", "007810000", 2, 3),
    ("student", "001850000", 1, 1),
    ("homemaker", "000235552", 9, 1),
    ("unemployed", "004555540", 2, 3),
    ("retired", "000001699", 1, 1),
    ("nurse", "000455530", 5, 1),
    ("geriatric nurse", "000344420", 5, 1),
    ("medical assistant", "000344420", 20, 1),
    ("physician", "000034431", 1, 1),
    ("teacher", "000245530", 3, 1),
    ("childcare worker", "000444420", 9, 1),
    ("social worker", "000233320", 3, 1),
    ("cook", "001333310", 1, 1),
    ("waiter", "002432200", 2, 1),
    ("hairdresser", "001332210", 9, 1),
    ("cleaner", "000234431", 4, 1),
    ("shop assistant", "002555531", 3, 1),
    ("bank clerk", "000234420", 3, 2),
    ("accountant", "000234421", 2, 1),
    ("office clerk", "001556640", 3, 1),
    ("public servant", "000345540", 1, 1),
    ("lawyer", "000023321", 1, 1),
    ("police officer", "000333200", 1, 3),
    ("engineer", "000245541", 1, 4),
    ("technician", "000344430", 1, 7),
    ("software developer", "000344310", 1, 5),
    ("electrician", "001444420", 1, 30),
    ("mechanic", "002555530", 1, 20),
    ("metalworker", "001444420", 1, 15),
    ("bricklayer", "001333310", 1, 50),
    ("painter", "001333310", 1, 9),
    ("carpenter", "001333310", 1, 20),
    ("driver", "000345541", 1, 12),
    ("warehouse worker", "002555420", 1, 3),
    ("farmer", "000122332", 1, 3),
    ("gardener", "001222321", 1, 2),
)

OCCUPATIONS = tuple(profile[0] for profile in _PROFILES)


def employ(dice: Dice, people: People) -> pl.Series:
    """An occupation for everyone."""
    context = band(people.age, _STARTS) * len(SEXES) + people.sex
    return labelled(OCCUPATIONS, dice.choose("occupation", _choices(), context))


@cache
def _choices() -> Table:
    return table(
        [
            doubling(ages[age])[0] * (100 * (women, men, min(women, men))[sex] // (women + men))
            for _, ages, women, men in _PROFILES
        ]
        for age in range(len(_STARTS))
        for sex in range(len(SEXES))
    )
