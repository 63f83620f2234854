"""Admissions: date, age, birth date and sex."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cache
from itertools import pairwise

import numpy as np

from kohorte.cohorts.draw import Dice, Table, band, table
from kohorte.kernels.arrays import Bools, Counts

SEXES = ("female", "male", "diverse")
OLDEST = 102

FIRST_DAY = date(2022, 1, 1)
LAST_DAY = date(2024, 12, 31)

# Planned admissions are mostly on Monday to Thursday; there are more in winter and fewer in the summer holidays.
_WEEKDAYS = (18, 17, 16, 16, 13, 9, 11)
_MONTHS = (108, 106, 106, 100, 100, 98, 96, 94, 98, 102, 104, 96)

# Admissions by age, interpolated linearly: many newborns, few children, then rising with age.
_AGES = (
    (0, 600), (1, 120), (3, 60), (6, 36), (12, 36), (15, 50), (20, 64), (30, 84), (36, 76), (45, 80),
    (55, 125), (65, 150), (75, 180), (82, 200), (86, 160), (90, 90), (95, 30), (100, 5), (OLDEST, 1),
)  # fmt: skip

# From this age on: women, men and diverse persons among 10,000.
_SEX = (
    (0, (4700, 5297, 3)),
    (15, (6290, 3690, 20)),
    (40, (4890, 5095, 15)),
    (65, (4695, 5300, 5)),
    (80, (5798, 4200, 2)),
)


@dataclass(frozen=True, eq=False)
class People:
    """One admission for every row; days are counted from 1970-01-01, ages in completed years."""

    admission: Counts
    birth: Counts
    age: Counts
    sex: Counts

    @property
    def born_today(self) -> Bools:
        """Admitted on the day of birth."""
        return np.equal(self.admission, self.birth)

    @property
    def admission_month(self) -> Counts:
        """0 is January."""
        return self.admission.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12

    @property
    def birth_year(self) -> Counts:
        """The calendar year."""
        return self.birth.astype("datetime64[D]").astype("datetime64[Y]").astype(np.int64) + 1970


def admit(dice: Dice) -> People:
    """Draw the admissions."""
    admission = _day_number(FIRST_DAY) + dice.choose("admission_date", _days())
    age = dice.choose("age", _ages())
    sex = dice.choose("sex", _sexes(), band(age, [start for start, _ in _SEX]))
    return People(admission=admission, birth=admission - _lived(dice, age), age=age, sex=sex)


def _lived(dice: Dice, age: Counts) -> Counts:
    """Days between birth and admission that make exactly `age` completed years, for any leap years."""
    since_birthday = dice.below("birthday", 364)
    at_birth = (age == 0) & dice.happens("born here", 0.6)
    return np.where(at_birth, 0, (age * 1461 + 3) // 4 + since_birthday)


def _day_number(day: date) -> int:
    return day.toordinal() - date(1970, 1, 1).toordinal()


@cache
def _days() -> Table:
    days = [date.fromordinal(number) for number in range(FIRST_DAY.toordinal(), LAST_DAY.toordinal() + 1)]
    return table([[_WEEKDAYS[day.weekday()] * _MONTHS[day.month - 1] for day in days]])


@cache
def _ages() -> Table:
    weights = [_AGES[0][1]]
    for (start, first), (end, last) in pairwise(_AGES):
        weights += [first + (last - first) * (age - start) // (end - start) for age in range(start + 1, end + 1)]
    return table([weights])


@cache
def _sexes() -> Table:
    return table(weights for _, weights in _SEX)
