"""Exact decimal numbers in text, without binary floats."""

from __future__ import annotations

from decimal import Decimal

import polars as pl

MOST_DIGITS = 17
"""Scaled bounds stay below 10**17, so that all interval arithmetic fits 64 bits."""

_NUMBER = r"^(?P<sign>[+-]?)0*(?P<whole>[0-9]+)(?:%s(?P<fraction>[0-9]+))?$"


_GROUPED = r"^[+-]?[0-9]{1,3}(?:%s[0-9]{3})+(?:%s[0-9]+)?$"
THOUSANDS = ("", ".", ",", "'", "’", " ", "\u00a0", "\u202f")
"""What may separate thousands: nothing, a point, a comma, an apostrophe, or a blank of any width."""


def number_parts(values: pl.Series, *, point: str = ".", thousands: str = "") -> pl.DataFrame:
    """Sign, whole part and fraction of plain decimal numbers; all null if a text is not a number.

    Plain means an optional sign, digits, and optionally a decimal point with digits: no blanks, no exponent, no NaN.
    With `thousands`, this sign may separate groups of exactly three digits; 1.23 is then no number if it is the point.
    """
    values = without_thousands(values, point=point, thousands=thousands)
    parts = values.str.extract_groups(_NUMBER % f"[{point}]").struct.unnest()
    known = pl.col("whole").is_not_null()
    return parts.select("sign", "whole", pl.when(known).then(pl.col("fraction").fill_null("")))


def without_thousands(values: pl.Series, *, point: str, thousands: str) -> pl.Series:
    """The texts, with the thousands of correctly grouped numbers put together; all other texts stay as they are."""
    if not thousands:
        return values
    grouped = values.str.contains(_GROUPED % (f"[{thousands}]", f"[{point}]"))
    return (
        values.to_frame("text")
        .select(pl.when(grouped).then(pl.col("text").str.replace_all(thousands, "", literal=True)).otherwise("text"))[
            "text"
        ]
        .alias(values.name)
    )


def exact_decimals(values: pl.Series, *, point: str = ".", thousands: str = "") -> list[Decimal]:
    """The numbers of texts that are all plain decimal numbers."""
    plain = without_thousands(values, point=point, thousands=thousands)
    return [Decimal(value.replace(point, ".")) for value in plain]


def scaled_floors(parts: pl.DataFrame, decimals: int) -> pl.Series:
    """floor(number * 10**decimals), limited to +-10**17.

    Bounds have at most that many decimals, so comparing the floors is exact.
    """
    digits = pl.col("whole") + pl.col("fraction").str.slice(0, decimals).str.pad_end(decimals, "0")
    rest = pl.col("fraction").str.slice(decimals).str.contains("[1-9]")
    size = (
        pl.when(pl.col("whole").str.len_bytes() + decimals > MOST_DIGITS)
        .then(pl.lit(10**MOST_DIGITS))
        .otherwise(digits.cast(pl.Int64, strict=False))
    )
    floors = pl.when(pl.col("sign") == "-").then(-size - rest.cast(pl.Int64)).otherwise(size)
    return parts.select(floors.alias("floor")).to_series()


def whole_numbers(parts: pl.DataFrame) -> pl.Series:
    """Which of the numbers are whole ("39" and "39.0" are); null if a text is not a number."""
    return parts.select(~pl.col("fraction").str.contains("[1-9]")).to_series()


def decimals_of(number: int | Decimal) -> int:
    """The number of decimals that the number needs."""
    exponent = Decimal(number).normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def number_text(number: Decimal, *, point: str = ".") -> str:
    """The number in digits, without exponent and trailing zeros."""
    whole = number == number.to_integral_value()
    return format(number.to_integral_value() if whole else number.normalize(), "f").replace(".", point)
