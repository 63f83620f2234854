"""Dates shifted by one fixed number of days per person.

All dates of a person move by the same number of days, so that the time between them, and their order, stay true. The
number is derived from the key of the domain and the person, is never 0, and is different for another domain.

Guarantee
    Without the key nobody knows by how many days the dates of a person were moved.
Leaves open
    If somebody knows one true date of a person in the table, all others follow. Season and year stay roughly true,
    times of day exactly. Placeholders that everybody knows, such as 9999-12-31, are therefore removed; one that could
    be a true date, such as that of a table of one day, is only told.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date

import polars as pl

from kohorte.errors import InputError
from kohorte.identifiers.cells import COLUMN, COUNT, VALUE
from kohorte.in_words import count
from kohorte.plans.dates_in_text import dates_of
from kohorte.trust.keys import Keys

MOST_DAYS = 3650
FIRST_YEAR, LAST_YEAR = 1800, 2200
"""Dates of other years stand for something else, such as 9999-12-31 for no end."""
PLACEHOLDERS = frozenset(
    {date(1899, 12, 30), date(1899, 12, 31), date(1900, 1, 1), date(1901, 1, 1), date(1911, 11, 11)}
)
"""Dates that programs write if they know none."""
OFTEN, OFTEN_SHARE = 20, 0.2
"""A date in so many cells, and in such a share of them, may be a placeholder or known to everybody."""
_DATES = {
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d",
    "%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%m/%d/%Y", "%m-%d-%Y", "%m.%d.%Y",
}  # fmt: skip

_TIME = r"^[0-9./-]+([T ][0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)$"
"""What may follow a date and stays as it is."""


def stands_for_none(day: date) -> bool:
    """Whether a date is a placeholder: after it was shifted it would tell by how many days all others moved."""
    return not FIRST_YEAR <= day.year <= LAST_YEAR or day in PLACEHOLDERS


def offsets(originals: Sequence[str], versions: Sequence[int], keys: Keys, within: int) -> list[int]:
    """The days of each person: between -within and within, and not 0."""
    secrets = {version: keys.version(version).derived("dates") for version in set(versions)}
    found = []
    for original, version in zip(originals, versions, strict=True):
        drawn = int.from_bytes(hmac.digest(secrets[version], original.encode(), "sha256"), "big") % (2 * within)
        found.append(drawn - within if drawn < within else drawn - within + 1)
    return found


@dataclass
class DateColumn:
    """A column of dates; the format of dates in text is found in the first batch that has some, unless it is given."""

    name: str
    format: str | None = None
    shifted: int = 0
    removed: int = 0
    placeholders: int = 0
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in _DATES:
            raise InputError(f"--date-format: is one of {', '.join(sorted(_DATES))}", code="pseudonym-date-format")

    def shift(
        self, column: pl.Series, days: pl.Series, row: Callable[[int], int] = lambda place: place + 1
    ) -> pl.Series:
        """Return the dates moved by so many days; a placeholder, and a date without a person, become missing.

        `row` tells, for an error, the number of the row at a place of this batch.
        """
        before = self.placeholders
        found = self._text(column, days, row) if column.dtype == pl.String else self._typed(column, days)
        self.shifted += len(found) - found.null_count()
        self.removed += found.null_count() - column.null_count() - (self.placeholders - before)
        return found.alias(column.name)

    def _typed(self, column: pl.Series, days: pl.Series) -> pl.Series:
        if not isinstance(column.dtype, pl.Date | pl.Datetime | pl.Null):
            raise InputError(
                f"column {self.name!r}: has neither dates nor texts, so that nothing can be shifted",
                code="pseudonym-dates",
            )
        if isinstance(column.dtype, pl.Null):
            return column
        kept = self._without_placeholders(column, column.cast(pl.Date))
        moved = pl.DataFrame({"date": kept, "days": days}).select(pl.col("date") + pl.duration(days="days"))
        return moved.to_series()

    def _text(self, column: pl.Series, days: pl.Series, row: Callable[[int], int]) -> pl.Series:
        texts = column.str.strip_chars()
        format_ = self.format or self._found(texts, row)
        if format_ is None:
            return column
        self.format = format_
        parts = pl.DataFrame({"text": texts, "days": days}).with_columns(
            day=pl.col("text").str.extract(r"^([0-9./-]+)"), rest=pl.col("text").str.extract(_TIME)
        )
        whole = pl.col("day").fill_null("") + pl.col("rest").fill_null("") == pl.col("text")
        dates = parts.with_columns(date=pl.when(whole).then(pl.col("day")).str.to_date(format_, strict=False))
        self._refuse(dates.select(pl.col("text").is_not_null() & pl.col("date").is_null()).to_series(), format_, row)
        dates = dates.with_columns(self._without_placeholders(dates["date"], dates["date"]).alias("date"))
        moved = (pl.col("date") + pl.duration(days="days")).dt.to_string(format_) + pl.col("rest").fill_null("")
        return dates.select(moved).to_series()

    def _without_placeholders(self, column: pl.Series, days: pl.Series) -> pl.Series:
        """The column without dates that stand for none; notes one that may be known to everybody."""
        outside = ~days.dt.year().is_between(FIRST_YEAR, LAST_YEAR)
        wrong = (outside | days.is_in(sorted(PLACEHOLDERS))).fill_null(value=False)
        self.placeholders += int(wrong.sum())
        left = days.filter(~wrong).drop_nulls()
        if not self.notes and len(left):
            most = int(left.value_counts()["count"].max())  # type: ignore[arg-type]
            if most >= OFTEN and most >= OFTEN_SHARE * len(left):
                self.notes.append(
                    f"column {self.name!r}: {count(most)} of the first {count(len(left), 'date')} are the same; a "
                    "person who knows it, for example because it stands for an unknown date, knows by how many days "
                    "all dates of these people moved; empty these cells, or drop the column"
                )
        return pl.select(pl.when(~wrong).then(column)).to_series()

    def _found(self, texts: pl.Series, row: Callable[[int], int]) -> str | None:
        """The format of the dates; None if there are none yet."""
        cells = texts.drop_nulls().unique().sort()
        if not len(cells):
            return None
        table = pl.DataFrame({COLUMN: [0] * len(cells), VALUE: cells, COUNT: [1] * len(cells)})
        written = dates_of(table).get(0)
        if written is None:
            self._refuse(texts.is_not_null(), "a known kind", row)
        assert written is not None
        dates = {format_.partition("T")[0].partition(" ")[0] for format_ in written.formats}
        if len(dates) != 1 or not dates <= _DATES:
            named = any("%b" in format_ or "%B" in format_ for format_ in written.formats)
            do = "write the months as numbers" if named else "give --date-format"
            raise InputError(f"column {self.name!r}: {written.in_words()}; {do}", code="pseudonym-date-format")
        return dates.pop()

    def _refuse(self, wrong: pl.Series, format_: str, row: Callable[[int], int]) -> None:
        first = wrong.arg_max() if wrong.any() else None
        if first is not None:
            raise InputError(
                f"column {self.name!r}, row {row(first)}: is not a date of {format_} "
                f"({wrong.sum()} such cells in these rows); correct or empty them, or drop the column",
                code="pseudonym-dates",
            )


def dates_in_words(shifted: int, removed: int, placeholders: int, nobody: str) -> list[str]:
    """What happened to dates, in a sentence, if there were any; `nobody` says why dates without a person have none."""
    reasons = {f"because {nobody}": removed, "because they stand for no date, such as 9999-12-31": placeholders}
    told = "".join(f"; {count(number)} removed, {reason}" for reason, number in reasons.items() if number)
    return [f"{count(shifted, 'date')} shifted{told}"] if shifted or told else []
