"""The canonical text of a value, used to look it up in hierarchies."""

from __future__ import annotations

from decimal import Decimal

import polars as pl

from kohorte.data.columns import check_types, missing_as_null

_WHOLE_BELOW = 2.0**63


def as_text(series: pl.Series) -> pl.Series:
    """Return the canonical text of every value; missing (null, NaN, empty text) stays null.

    Whole floats lose their ".0", so that a column of integers which pandas turned into floats because of
    missing values still matches its hierarchy. Columns whose cells are not single plain values are refused by name.
    """
    check_types(series.to_frame(), source="the table")
    values = series.alias("values").to_frame()  # a column's own name could be taken for a pattern
    text = values.select(_text(pl.col("values"), series.dtype))
    if series.dtype.is_float():
        text = text.with_columns(_without_exponents(text.to_series()))
    return missing_as_null(text).to_series().alias(series.name)


def _text(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    if dtype.is_float():
        return _float_text(column)
    if isinstance(dtype, pl.Datetime):
        zone = "%:z" if dtype.time_zone else ""
        return column.dt.to_string(f"%Y-%m-%d %H:%M:%S%.f{zone}")
    if isinstance(dtype, pl.Time):
        return column.dt.to_string("%H:%M:%S%.f")
    if isinstance(dtype, pl.Date):
        return column.dt.to_string("%Y-%m-%d")
    return column.cast(pl.String)


def _without_exponents(text: pl.Series) -> pl.Series:
    """Write very small and very large numbers in digits, as people and hierarchies do."""
    odd = text.filter(text.str.contains("e", literal=True)).unique()
    return text.replace(odd, [format(Decimal(number), "f") for number in odd]) if len(odd) else text


def _float_text(column: pl.Expr) -> pl.Expr:
    number = column.fill_nan(None)
    whole = (number == number.round(0)) & (number.abs() < _WHOLE_BELOW)
    return pl.when(whole).then(number.cast(pl.Int64, strict=False).cast(pl.String)).otherwise(number.cast(pl.String))
