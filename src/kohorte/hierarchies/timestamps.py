"""Read dates and timestamps in a given format, exactly and without guessing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from kohorte.errors import InputError

_SHORTHANDS = {"%F": "%Y-%m-%d", "%T": "%H:%M:%S"}
_NUMBERS = {"m": ("month", 1, 12), "d": ("day", 1, 31), "H": ("hour", 0, 23)}
_NUMBERS |= {"M": ("minute", 0, 59), "S": ("second", 0, 60)}
_NAMES = (
    *("january januar jänner jaenner", "february februar feber", "march märz maerz", "april", "may mai", "june juni"),
    *("july juli", "august", "september", "october oktober", "november", "december dezember"),
)
_SHORT_NAMES = (
    *("jan jän", "feb febr", "mar mär mrz", "apr", "may", "jun", "jul", "aug", "sep sept", "oct okt", "nov", "dec dez"),
)
FULL_MONTHS = {name: number for number, names in enumerate(_NAMES, start=1) for name in names.split()}
"""The names of months in English and German, in small letters."""
ALL_MONTHS = FULL_MONTHS | {
    name: number for number, names in enumerate(_SHORT_NAMES, start=1) for name in names.split()
}
"""The same with their abbreviations, without a point."""
_MONTHS = {"B": FULL_MONTHS, "b": ALL_MONTHS}
DIRECTIVES = ("%Y", "%m", "%b", "%B", "%d", "%H", "%M", "%S", "%f", "%z", "%F", "%T", "%%")


@dataclass(frozen=True)
class TimestampFormat:
    """A `strptime` format with a four-digit year; month names in English and German.

    %B reads full names, %b also abbreviations, with or without a point.

    Two-digit years are refused: the century is unknown, so a label could be false. One-digit months, days
    and so on are accepted unless two numbers follow each other without a separator.
    """

    format: str

    def __post_init__(self) -> None:
        if not isinstance(self.format, str):
            raise InputError("dates: format must be text", code="dates-format-invalid")
        if "%y" in self.format.replace("%%", ""):
            raise InputError(
                "dates: format: two-digit years (%y) leave the century open; write years with four digits",
                code="dates-format-invalid",
            )
        names = [name for directive in self._directives if (name := _part(directive))]
        if len(names) != len(set(names)):
            raise InputError("dates: format contains the same part twice", code="dates-format-invalid")
        if "year" not in names or ("day" in names and "month" not in names):
            raise InputError(
                "dates: format must contain the year (%Y), and the month if it contains the day",
                code="dates-format-invalid",
            )

    @cached_property
    def _directives(self) -> list[str]:
        text = self.format
        for short, long in _SHORTHANDS.items():
            text = re.sub(f"(?<!%)((?:%%)*){short}", rf"\g<1>{long}", text)
        directives = re.findall(r"%.|[^%]|%", text, flags=re.DOTALL)
        if any(directive[0] == "%" and directive not in DIRECTIVES for directive in directives):
            raise InputError(
                f"dates: format: only these directives are supported: {' '.join(DIRECTIVES)}",
                code="dates-format-invalid",
            )
        return directives

    @cached_property
    def parts(self) -> frozenset[str]:
        """The parts that the format contains: year, month, day, hour, minute, second."""
        return frozenset(name for directive in self._directives if (name := _part(directive)))

    @cached_property
    def _pattern(self) -> str:
        directives = self._directives
        joined = [*map(_is_number, directives), False]
        pieces = [
            _piece(directive, fixed=joined[position - 1] or joined[position + 1])
            for position, directive in enumerate(directives)
        ]
        return f"^{''.join(pieces)}$"

    def write(self, parts: Mapping[str, int]) -> str | None:
        """A date in this format; None if it has names of months, fractions of seconds or a time zone."""
        if any(directive in ("%b", "%B", "%f", "%z") for directive in self._directives):
            return None
        pieces = [
            directive[-1] if not (name := _part(directive)) else str(parts[name]).zfill(4 if name == "year" else 2)
            for directive in self._directives
        ]
        return "".join(pieces)

    def read(self, texts: pl.Series) -> pl.DataFrame:
        """The texts that are dates (column `text`) with their parts as whole numbers."""
        parts = texts.alias("text").to_frame().hstack(texts.str.extract_groups(self._pattern).struct.unnest())
        numbers = parts.with_columns(self._number(directive).alias(name) for directive, name in self._named())
        return numbers.filter(self._valid())

    def _named(self) -> list[tuple[str, str]]:
        return [(directive, name) for directive in self._directives if (name := _part(directive))]

    @staticmethod
    def _number(directive: str) -> pl.Expr:
        column = pl.col(_part(directive))
        if months := _MONTHS.get(directive[1]):
            return column.str.to_lowercase().replace_strict(months, default=None, return_dtype=pl.Int64)
        return column.cast(pl.Int64, strict=False)

    def _valid(self) -> pl.Expr:
        """Within the ranges of clock and calendar; false if the text does not have the format."""
        valid = pl.col("year") >= 1
        for name, least, most in _NUMBERS.values():
            if name in self.parts:
                valid &= pl.col(name).is_between(least, most)
        if "day" in self.parts:
            valid &= pl.col("day") <= month_length(pl.col("year"), pl.col("month"))
        return valid.fill_null(False)


def month_length(year: pl.Expr, month: pl.Expr) -> pl.Expr:
    """The number of days of a month."""
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    short = pl.when(month.is_in([4, 6, 9, 11])).then(30).otherwise(31)
    return pl.when(month != 2).then(short).when(leap).then(29).otherwise(28)


def _part(directive: str) -> str:
    """The part of a date that the directive reads, or "" for anything else."""
    if directive in ("%b", "%B"):
        return "month"
    if directive == "%Y":
        return "year"
    return _NUMBERS[directive[1]][0] if directive[0] == "%" and directive[1:] in _NUMBERS else ""


def _is_number(directive: str) -> bool:
    return directive in ("%Y", "%f") or (directive[0] == "%" and directive[1:] in _NUMBERS) or directive in "0123456789"


def _piece(directive: str, *, fixed: bool) -> str:
    match directive:
        case "%Y":
            return "(?P<year>[0-9]{4})"
        case "%b" | "%B":
            return rf"(?P<month>\p{{L}}{{3,9}}){'[.]?' if directive == '%b' else ''}"
        case "%f":
            return "[0-9]{1,9}"
        case "%z":
            return "(?:Z|[+-][0-9]{2}:?[0-9]{2})"
        case _ if name := _part(directive):
            return f"(?P<{name}>[0-9]{{{'2' if fixed else '1,2'}}})"
        case _:
            return f"\\x{{{ord(directive[-1]):X}}}"
