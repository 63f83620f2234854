"""Read a table of frequencies from CSV; an error names the column and the row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from kohorte.data import as_text, read_table
from kohorte.errors import InputError, refuse_unknown_keys
from kohorte.exchange.statistics.entries import Entry, StatisticsTable, ages_of, comparable, one_sex
from kohorte.exchange.statistics.origin import LINE, Origin, is_line
from kohorte.identifiers import identify_alone

COLUMNS = ("value", "share", "per_100000", "count", "of", "age", "sex", "country", "source")
AMOUNTS = ("share", "per_100000", "count")
_NUMBER = re.compile(r"(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,2})?")
_COUNTRY = re.compile(r"[A-Z]{2}")


def read_statistics(path: str | Path, origin: Origin) -> StatisticsTable:
    """Read a CSV file with the columns `value` and one of `share`, `per_100000`, `count`; the others are optional.

    `age` is such as 40-49 or 90+, `country` has two letters. `of` is the number of people whom a count is taken from;
    by default it is the size of the reference population. An empty cell of `age`, `sex` or `country` means all.
    `source` names the publication of a row, if the table is made from several.
    """
    frame, source = read_table(path).frame, Path(path).name
    entries = entries_of(frame, origin, source=source)
    refuse_identifiers(as_text(frame["value"]), source)
    return StatisticsTable(origin, tuple(entries))


def refuse_identifiers(values: pl.Series, source: str) -> None:
    """Refuse a table with a value that is an identifier, which an answer would then show as known."""
    found = identify_alone(values.fill_null("")).arg_true()
    if len(found):
        raise InputError(
            f"{source}, row {found[0] + 1}: column 'value' is a name, a number or an address that identifies somebody; "
            "statistics are about many people",
            code="exchange-statistics-cell",
        )


def entries_of(frame: pl.DataFrame, origin: Origin, *, source: str) -> list[Entry]:
    """The entries of a table with the columns that `read_statistics` describes."""
    refuse_unknown_keys(frame.columns, COLUMNS, where=source, code="exchange-statistics-column")
    amount = [name for name in AMOUNTS if name in frame.columns]
    if "value" not in frame.columns or len(amount) != 1:
        raise InputError(
            f"{source}: a table of frequencies has a column value and one of {', '.join(AMOUNTS)}",
            code="exchange-statistics-column",
        )
    if amount == ["count"] and "of" not in frame.columns and origin.population is None:
        raise InputError(
            f"{source}: a table of counts needs the size of its reference population (--population), or a column of",
            code="exchange-statistics-column",
        )
    found = list(_entries(pl.DataFrame([as_text(column) for column in frame.get_columns()]), origin, source))
    _refuse_repeated(found, source)
    return found


def _entries(frame: pl.DataFrame, origin: Origin, source: str) -> Iterator[Entry]:
    for number, row in enumerate(frame.iter_rows(named=True), start=1):
        cell = _Cells(row, f"{source}, row {number}", origin)
        yield Entry(cell.value(), cell.share(), cell.ages(), cell.sex(), cell.country(), cell.source())


class _Cells:
    """The cells of one row; `where` names the file and the row."""

    def __init__(self, row: Mapping[str, str | None], where: str, origin: Origin) -> None:
        self._row, self._where, self._origin = row, where, origin

    def value(self) -> str:
        text = self._text("value")
        if text is None:
            raise self._wrong("value", "is missing")
        if self._origin.kind == "age" and ages_of(text) is None:
            raise self._wrong("value", "is an age or a span of ages, such as 47, 40-49 or 90+")
        if self._origin.kind == "sex":
            return one_sex(text)
        return comparable(text)

    def share(self) -> float:
        if "share" in self._row:
            share = self._number("share")
        elif "per_100000" in self._row:
            share = self._number("per_100000") / 100_000
        else:
            share = self._number("count") / self._whole()
        if not 0 < share <= 1:
            raise self._wrong(
                next(name for name in AMOUNTS if name in self._row),
                "must be above 0 and at most everybody: leave out what is not known, a gap is not a zero",
            )
        return share

    def ages(self) -> tuple[int, int] | None:
        text = self._text("age")
        found = None if text is None else ages_of(text)
        if text is not None and found is None:
            raise self._wrong("age", "is an age or a span of ages, such as 47, 40-49 or 90+")
        return found

    def sex(self) -> str | None:
        text = self._text("sex")
        return None if text is None else one_sex(text)

    def country(self) -> str | None:
        text = self._text("country")
        if text is not None and not _COUNTRY.fullmatch(text.strip()):
            raise self._wrong("country", "has two capital letters, such as AT")
        return None if text is None else text.strip()

    def source(self) -> str | None:
        text = self._text("source")
        if text is not None and not is_line(text):
            raise self._wrong("source", LINE)
        return text

    def _whole(self) -> float:
        whole = float(self._origin.population or 0) if self._row.get("of") is None else self._number("of")
        if whole <= 0:
            raise self._wrong("of", "must be above 0")
        return whole

    def _number(self, column: str) -> float:
        text = self._text(column)
        if text is None or not _NUMBER.fullmatch(text.strip()):
            raise self._wrong(column, "is not a number of at least 0 with a decimal point")
        return float(text)

    def _text(self, column: str) -> str | None:
        text = self._row.get(column)
        return None if text is None or not text.strip() else text

    def _wrong(self, column: str, what: str) -> InputError:
        return InputError(f"{self._where}: column {column!r} {what}", code="exchange-statistics-cell")


def _refuse_repeated(entries: list[Entry], source: str) -> None:
    seen: dict[tuple[object, ...], int] = {}
    for number, entry in enumerate(entries, start=1):
        key = (entry.value, entry.ages, entry.sex, entry.country)
        if key in seen:
            raise InputError(
                f"{source}: rows {seen[key]} and {number} are about the same value, age, sex and country",
                code="exchange-statistics-cell",
            )
        seen[key] = number
