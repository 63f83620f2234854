"""How the dates of columns are written, found for many columns at a time; day and month are never guessed."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from kohorte.hierarchies import Dates
from kohorte.hierarchies.timestamps import ALL_MONTHS, FULL_MONTHS, month_length
from kohorte.identifiers.cells import COLUMN, COUNT, VALUE

_PATTERN = (
    r"^(?:(?P<y1>[0-9]{4})(?P<s1>[-/.])(?P<m1>[0-9]{1,2})(?P<s2>[-/.])(?P<d1>[0-9]{1,2})"
    r"|(?P<y2>(?:1[89]|20)[0-9]{2})(?P<m2>[0-9]{2})(?P<d2>[0-9]{2})"
    r"|(?P<a>[0-9]{1,2})(?P<s3>[-/.])(?P<b>[0-9]{1,2})(?P<s4>[-/.])(?P<y3>[0-9]{4}|[0-9]{2})"
    r"|(?P<d4>[0-9]{1,2})(?P<s5>[.]? |[-/.])(?P<name>\p{L}{3,9})(?P<point>[.]?)(?P<s6>[-/ ]?)(?P<y4>[0-9]{4}|[0-9]{2}))"
    r"(?:(?P<gap>[T ])(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?P<part>[.][0-9]{1,9})?)?"
    r"(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})?)?$"
)
_DAY_LEVELS = ("month", "quarter", "year", "decade")
_TIME_LEVELS = ("day", "month", "year", "decade")


@dataclass(frozen=True)
class WrittenDates:
    """The dates of a column: in how many rows, and in which formats they can be read.

    `formats` has one entry if the order of day and month is certain, two if every cell fits both orders, and none if
    the cells have several formats or years of two digits (`short_years`).
    """

    rows: int
    formats: tuple[str, ...]
    timed: bool
    short_years: bool

    @property
    def kind(self) -> str:
        """What the cells are, in words."""
        return "date and time" if self.timed else "date"

    def builder(self) -> Dates | None:
        """The hierarchy; None if the format is not certain."""
        if len(self.formats) != 1:
            return None
        return Dates(format=self.formats[0], levels=_TIME_LEVELS if self.timed else _DAY_LEVELS)

    def in_words(self) -> str:
        """How the dates are written, or why that is not certain."""
        if self.short_years:
            return "years of two digits leave the century open: write four"
        if not self.formats:
            return "the dates have several formats: write all in one"
        if len(self.formats) > 1:
            first, second = self.formats
            return f"day and month can be exchanged in every cell: choose dates with format {first} or {second}"
        return f"all cells have the format {self.formats[0]}"


def dates_of(table: pl.DataFrame) -> dict[int, WrittenDates]:
    """The dates of each column of distinct cells; columns without dates are left out."""
    likely = table.filter(pl.col(VALUE).str.contains(_PATTERN))
    if not likely.height:
        return {}
    parts = likely.hstack(likely[VALUE].str.extract_groups(_PATTERN).struct.unnest())
    year = pl.coalesce("y1", "y2", "y3", "y4").cast(pl.Int64)
    named = pl.col("name").str.to_lowercase().replace_strict(ALL_MONTHS, default=None, return_dtype=pl.Int64)
    month, day = pl.coalesce("m1", "m2").cast(pl.Int64), pl.coalesce("d1", "d2", "d4").cast(pl.Int64)
    first, second = pl.col("a").cast(pl.Int64), pl.col("b").cast(pl.Int64)
    stated = _valid(year, pl.coalesce(month, named), day)
    known = parts.with_columns(
        shape=_shape(),
        short=pl.coalesce("y3", "y4").str.len_chars() == 2,
        day_first=pl.when(pl.col("a").is_null()).then(stated).otherwise(_valid(year, second, first)),
        month_first=pl.when(pl.col("a").is_null()).then(stated).otherwise(_valid(year, first, second)),
    ).filter(_clock() & (pl.col("day_first") | pl.col("month_first")) & _same_separator())
    facts = known.group_by(COLUMN).agg(
        pl.col(COUNT).sum().alias("rows"),
        pl.col("shape").unique().sort().alias("shapes"),
        pl.col("day_first").all(),
        pl.col("month_first").all(),
        (pl.col("name").str.to_lowercase().is_in(list(FULL_MONTHS)) & (pl.col("point") == "")).all().alias("full"),
        pl.col("gap").is_not_null().any().alias("timed"),
        pl.col("short").any(),
    )
    return {
        column: WrittenDates(
            rows,
            _formats([shape.replace("NAME", "%B" if full else "%b") for shape in shapes], *orders, short=bool(short)),
            timed,
            bool(short),
        )
        for column, rows, shapes, *orders, full, timed, short in facts.iter_rows()
    }


def _valid(year: pl.Expr, month: pl.Expr, day: pl.Expr) -> pl.Expr:
    fits = (year >= 1) | (year == 0)  # a year of two digits can be 00
    return (fits & month.is_between(1, 12) & (day >= 1) & (day <= month_length(year, month))).fill_null(value=False)


def _clock() -> pl.Expr:
    """Hours, minutes and seconds are those of a clock, if there are any."""
    limits = {"hour": 23, "minute": 59, "second": 60}
    fits = [pl.col(name).cast(pl.Int64).fill_null(0) <= most for name, most in limits.items()]
    return pl.all_horizontal(fits)


def _same_separator() -> pl.Expr:
    return pl.col("s1").eq_missing(pl.col("s2")) & pl.col("s3").eq_missing(pl.col("s4"))


def _shape() -> pl.Expr:
    """The format, with A and B for the two numbers before the year."""
    date = (
        pl.when(pl.col("y1").is_not_null())
        .then(pl.format("%Y{}%m{}%d", pl.col("s1").fill_null(""), pl.col("s1").fill_null("")))
        .when(pl.col("y2").is_not_null())
        .then(pl.lit("%Y%m%d"))
        .when(pl.col("y4").is_not_null())
        .then(pl.format("%d{}NAME{}%Y", pl.col("s5").fill_null(""), pl.col("s6").fill_null("")))
        .otherwise(pl.format("A{}B{}%Y", pl.col("s3").fill_null(""), pl.col("s3").fill_null("")))
    )
    pieces = {"gap": "%H:%M", "second": ":%S", "part": ".%f", "zone": "%z"}
    texts = [
        pl.when(pl.col(name).is_not_null()).then(pl.lit(text)).otherwise(pl.lit("")) for name, text in pieces.items()
    ]
    return pl.concat_str(date, pl.col("gap").fill_null(""), *texts)


def _formats(shapes: list[str], day_first: bool, month_first: bool, *, short: bool) -> tuple[str, ...]:
    """The formats in which every cell can be read; with points between the numbers the day always comes first."""
    if short or len(shapes) > 1:
        return ()
    [shape] = shapes
    if "A" not in shape:
        return (shape,)
    orders = [("%d", "%m")] if day_first else []
    if month_first and not (day_first and shape.startswith("A.")):
        orders.append(("%m", "%d"))
    return tuple(shape.replace("A", first).replace("B", second) for first, second in orders)
