"""Calendar periods, for dates and timestamps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

import polars as pl

from kohorte.errors import InputError, nearest
from kohorte.hierarchies.builder import Builder, Labels, placeable
from kohorte.hierarchies.labels import SUPPRESSED
from kohorte.hierarchies.options import listed
from kohorte.hierarchies.timestamps import TimestampFormat

LEVELS = ("hour", "day", "week", "month", "quarter", "year", "five-years", "decade", "century")
_NEEDS = {"hour": ("month", "day", "hour"), "day": ("month", "day"), "week": ("month", "day")}
_NEEDS |= {"month": ("month",), "quarter": ("month",)}


@dataclass(frozen=True)
class Dates(Builder):
    """2024-02-17, 2024-02, 2024-Q1, 2024, 2020-2029, 1900-1999: periods that nest, finest first.

    `format` is a `strptime` format; `levels` are some of hour, day, week, month, quarter, year, five-years,
    decade, century. ISO weeks cross the ends of months and years, so only `*` may follow week.
    Values that do not have the format, or are not a date of the calendar, are left out. A UTC offset (%z)
    is ignored: the label shows the date as it is written.
    """

    name: ClassVar[str] = "dates"

    format: str = "%Y-%m-%d"
    levels: Sequence[str] = ("month", "quarter", "year", "decade")

    def __post_init__(self) -> None:
        levels = tuple(_level_name(level) for level in listed(self.levels, option="dates: levels"))
        object.__setattr__(self, "levels", levels)
        if "week" in levels[:-1]:
            raise InputError(
                "dates: levels: week must be the last level: an ISO week can belong to two months, quarters "
                "or years, so levels above it would not be monotone",
                code="dates-not-nested",
            )
        if any(LEVELS.index(fine) >= LEVELS.index(coarse) for fine, coarse in pairwise(levels)):
            raise InputError(
                f"dates: levels must get coarser, in this order: {', '.join(LEVELS)}", code="dates-not-nested"
            )
        for level in levels:
            self._check_parts(level)

    def _check_parts(self, level: str) -> None:
        missing = [part for part in _NEEDS.get(level, ()) if part not in self.reader.parts]
        if missing:
            raise InputError(
                f"dates: the level {level} needs the {missing[0]}, which the format does not have",
                code="dates-format-too-coarse",
            )

    @cached_property
    def reader(self) -> TimestampFormat:
        """Reads the dates."""
        return TimestampFormat(self.format)

    def label(self, values: Sequence[str], *, attribute: str) -> Labels:  # noqa: ARG002 - nothing to refuse
        """Read the dates and name their periods."""
        known = self.reader.read(placeable(values))
        periods = [_period(level).alias(str(number)) for number, level in enumerate(self.levels, start=1)]
        return Labels(known.select(pl.col("text").alias("0"), *periods, pl.lit(SUPPRESSED).alias("top")))

    def meaning(self, level: int, top: int) -> str:
        """The period of a level."""
        del top
        return self.levels[level - 1].replace("-", " ")

    def moments(self, values: pl.Series) -> list[tuple[int, ...]] | None:
        """The values as (year, month, ...); None unless all are dates of this format, in one time zone."""
        if "%z" in self.format:
            return None
        known = self.reader.read(values)
        if len(known) < len(values):
            return None
        parts = [part for part in ("year", "month", "day", "hour", "minute", "second") if part in known.columns]
        return known.select(parts).rows()

    def days(self, values: pl.Series) -> pl.Series:
        """The days from 1970-01-01 to each value; null if the value is not a date of this format."""
        known = self.reader.read(values.unique().drop_nulls())
        parts = [pl.col(part) if part in known.columns else pl.lit(1) for part in ("year", "month", "day")]
        days = pl.date(*parts).cast(pl.Int32).cast(pl.Int64).alias("days")
        return values.alias("text").to_frame().join(known.select("text", days), on="text", how="left")["days"]


def _level_name(level: object) -> str:
    if not isinstance(level, str) or level not in LEVELS:
        raise InputError(
            f"dates: levels must be some of {', '.join(LEVELS)}{nearest(str(level), LEVELS)}",
            code="hierarchy-option-invalid",
        )
    return level


def _period(level: str) -> pl.Expr:
    year, month, day = _digits("year", 4), _digits("month", 2), _digits("day", 2)
    match level:
        case "hour":
            return pl.format("{}-{}-{} {}:00-{}:59", year, month, day, _digits("hour", 2), _digits("hour", 2))
        case "day":
            return pl.format("{}-{}-{}", year, month, day)
        case "week":
            date = pl.date("year", "month", "day")
            week_year = date.dt.iso_year().cast(pl.String).str.zfill(4)
            return pl.format("{}-W{}", week_year, date.dt.week().cast(pl.String).str.zfill(2))
        case "month":
            return pl.format("{}-{}", year, month)
        case "quarter":
            return pl.format("{}-Q{}", year, (pl.col("month") + 2) // 3)
        case "year":
            return year
        case _:
            return _years({"five-years": 5, "decade": 10, "century": 100}[level])


def _years(span: int) -> pl.Expr:
    first = pl.col("year") // span * span
    return pl.format("{}-{}", first.cast(pl.String).str.zfill(4), (first + span - 1).cast(pl.String).str.zfill(4))


def _digits(part: str, width: int) -> pl.Expr:
    return pl.col(part).cast(pl.String).str.zfill(width)
