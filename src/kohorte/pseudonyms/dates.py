"""Dates shifted by one fixed number of days per person.

All dates of a person move by the same number of days, so that the time between them, and their order, stay true. The
number is derived from the key of the domain and the person, is never 0, and is different for another domain.

Guarantee
    Without the key nobody knows by how many days the dates of a person were moved.
Leaves open
    If somebody knows one true date of a person in the table, all others follow. Season and year stay roughly true,
    times of day exactly.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from kohorte.errors import InputError
from kohorte.identifiers.cells import COLUMN, COUNT, VALUE
from kohorte.plans.dates_in_text import dates_of
from kohorte.trust.keys import Keys

MOST_DAYS = 3650
_DATES = {
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d",
    "%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%m/%d/%Y", "%m-%d-%Y", "%m.%d.%Y",
}  # fmt: skip

_TIME = r"^[0-9./-]+([T ][0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)$"
"""What may follow a date and stays as it is."""


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
    _seen: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in _DATES:
            raise InputError(f"--date-format: is one of {', '.join(sorted(_DATES))}", code="pseudonym-date-format")

    def shift(self, column: pl.Series, days: pl.Series) -> pl.Series:
        """Return the dates moved by so many days; a date without a person becomes missing."""
        found = self._text(column, days) if column.dtype == pl.String else self._typed(column, days)
        self.shifted += len(found) - found.null_count()
        self.removed += found.null_count() - column.null_count()
        self._seen += len(column)
        return found.alias(column.name)

    def _typed(self, column: pl.Series, days: pl.Series) -> pl.Series:
        if not isinstance(column.dtype, pl.Date | pl.Datetime | pl.Null):
            raise InputError(
                f"column {self.name!r}: has neither dates nor texts, so that nothing can be shifted",
                code="pseudonym-dates",
            )
        if isinstance(column.dtype, pl.Null):
            return column
        moved = pl.DataFrame({"date": column, "days": days}).select(pl.col("date") + pl.duration(days="days"))
        return moved.to_series()

    def _text(self, column: pl.Series, days: pl.Series) -> pl.Series:
        texts = column.str.strip_chars()
        format_ = self.format or self._found(texts)
        if format_ is None:
            return column
        self.format = format_
        parts = pl.DataFrame({"text": texts, "days": days}).with_columns(
            day=pl.col("text").str.extract(r"^([0-9./-]+)"), rest=pl.col("text").str.extract(_TIME)
        )
        whole = pl.col("day").fill_null("") + pl.col("rest").fill_null("") == pl.col("text")
        dates = parts.with_columns(date=pl.when(whole).then(pl.col("day")).str.to_date(format_, strict=False))
        self._refuse(dates.select(pl.col("text").is_not_null() & pl.col("date").is_null()).to_series(), format_)
        moved = (pl.col("date") + pl.duration(days="days")).dt.to_string(format_) + pl.col("rest").fill_null("")
        return dates.select(moved).to_series()

    def _found(self, texts: pl.Series) -> str | None:
        """The format of the dates; None if there are none yet."""
        cells = texts.drop_nulls().unique().sort()
        if not len(cells):
            return None
        table = pl.DataFrame({COLUMN: [0] * len(cells), VALUE: cells, COUNT: [1] * len(cells)})
        written = dates_of(table).get(0)
        if written is None:
            self._refuse(texts.is_not_null(), "a known kind")
        assert written is not None
        dates = {format_.partition("T")[0].partition(" ")[0] for format_ in written.formats}
        if len(dates) != 1 or not dates <= _DATES:
            named = any("%b" in format_ or "%B" in format_ for format_ in written.formats)
            do = "write the months as numbers" if named else "give --date-format"
            raise InputError(f"column {self.name!r}: {written.in_words()}; {do}", code="pseudonym-date-format")
        return dates.pop()

    def _refuse(self, wrong: pl.Series, format_: str) -> None:
        first = wrong.arg_max() if wrong.any() else None
        if first is not None:
            raise InputError(
                f"column {self.name!r}, row {self._seen + first + 1}: is not a date of {format_} "
                f"({wrong.sum()} such cells in these rows); correct or empty them, or drop the column",
                code="pseudonym-dates",
            )
