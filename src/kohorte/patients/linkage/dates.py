"""Birth dates as they are written: whole, partly known, or replaced by a placeholder."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from functools import lru_cache

from kohorte.patients.linkage.names import REMEMBERED

FIRST_YEAR, LAST_YEAR = 1850, 2100
_FORMS = tuple(
    re.compile(form)
    for form in (
        r"(?P<year>\d{4})-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2}))?(?:[T ].*)?",
        r"(?P<day>\d{1,2})\. ?(?P<month>\d{1,2})\. ?(?P<year>\d{4})(?: .*)?",
        r"(?P<day>\d{1,2})[/-](?P<month>\d{1,2})[/-](?P<year>\d{4})",
        r"(?P<year>\d{4})[/.](?P<month>\d{1,2})[/.](?P<day>\d{1,2})",
        r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})",
        r"(?P<month>\d{1,2})[./](?P<year>\d{4})",
        r"(?P<year>\d{4})",
        r"(?P<day>\d{1,2})\. ?(?P<month>\d{1,2})\. ?\d{2}",
    )
)
_PLACEHOLDERS = frozenset({(1900, 1, 1), (1901, 1, 1), (1911, 11, 11), (1111, 11, 11), (9999, 12, 31)})


@dataclass(frozen=True, slots=True)
class BirthDate:
    """A birth date; parts that are not known are 0."""

    year: int = 0
    month: int = 0
    day: int = 0

    def __repr__(self) -> str:
        return "<BirthDate>"

    def __bool__(self) -> bool:
        return self.year > 0 or self.day > 0

    @property
    def whole(self) -> bool:
        """Whether year, month and day are known."""
        return self.year > 0 and self.month > 0 and self.day > 0

    @property
    def text(self) -> str:
        """The date in digits: YYYYMMDD."""
        return f"{self.year:04}{self.month:02}{self.day:02}"


NO_DATE = BirthDate()


@lru_cache(REMEMBERED)
def birth_date(text: str) -> BirthDate | None:
    """Read a date: ISO 8601, day first as in German (31.12.1960, 31/12/1960), YYYYMMDD, a month or only a year.

    00 is a part that is not known. 1 January is read as the year alone, because it is what is written in many
    countries when no more is known. An impossible year is not known. Placeholders such as 1 January 1900 are no date.
    A year of two digits is not known either, because it does not say the century. None if the text is not understood.
    """
    text = text.strip()
    for form in _FORMS:
        if (found := form.fullmatch(text)) is not None:
            parts = {name: int(value or 0) for name, value in found.groupdict().items()}
            return _date(parts.get("year", 0), parts.get("month", 0), parts.get("day", 0))
    return None


def _date(year: int, month: int, day: int) -> BirthDate | None:
    if (year, month, day) in _PLACEHOLDERS or year == month == day == 0:
        return NO_DATE
    if month > 12 >= day > 0:  # only the American order is possible
        month, day = day, month
    if not FIRST_YEAR <= year <= LAST_YEAR:
        year = 0
    if month > 12 or (day > 0 and day > _days(year, month)):
        return None
    if (month, day) == (1, 1):
        month = day = 0
    return BirthDate(year, month, day)


def _days(year: int, month: int) -> int:
    """The days of a month; without a year as many as it can have, without a month none."""
    return monthrange(year or 2000, month)[1] if month else 0
