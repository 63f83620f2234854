"""The types of Spark that are supported, and expressions that give columns one notion of missing and of zero.

Columns are named c0, c1 and so on in expressions, so that no name of a table has to be quoted; texts are written in
hexadecimal digits, because how Spark reads quotes and backslashes depends on its settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from kohorte.data import as_text
from kohorte.data.columns import check_names, quoted
from kohorte.errors import InputError
from kohorte.sources.sql import refuse_own_names

TYPES: Mapping[str, pl.DataType] = {
    "StringType": pl.String(),
    "CharType": pl.String(),
    "VarcharType": pl.String(),
    "NullType": pl.String(),
    "BooleanType": pl.Boolean(),
    "ByteType": pl.Int8(),
    "ShortType": pl.Int16(),
    "IntegerType": pl.Int32(),
    "LongType": pl.Int64(),
    "FloatType": pl.Float32(),
    "DoubleType": pl.Float64(),
    "DateType": pl.Date(),
    "TimestampNTZType": pl.Datetime("us"),
}


@dataclass(frozen=True)
class Column:
    """A column of a frame: its name in expressions, its type here, and its type in Spark."""

    own: str
    dtype: pl.DataType
    sql: str

    @property
    def cleaned(self) -> str:
        """The values with one notion of missing and of zero, as `missing_as_null` makes them of a frame."""
        if self.dtype == pl.String:
            return f"nullif(collate(CAST({self.own} AS STRING), 'UTF8_BINARY'), '') AS {self.own}"
        if self.dtype.is_float():
            zero = f"WHEN {self.own} = 0 THEN CAST(0 AS {self.sql})"
            return f"CASE WHEN isnan({self.own}) THEN NULL {zero} ELSE {self.own} END AS {self.own}"
        return self.own

    def unmarked(self, marks: Sequence[str]) -> str:
        """The values without those whose text is one of the marks."""
        meant = [f"CAST({_text(mark)} AS {self.sql})" for mark in marks if _is_text_of(mark, self.dtype)]
        if not meant:
            return self.own
        return f"CASE WHEN {self.own} IN ({', '.join(meant)}) THEN NULL ELSE {self.own} END AS {self.own}"


def own_names(count: int) -> list[str]:
    """The names of so many columns in expressions."""
    return [f"c{number}" for number in range(count)]


def checked_columns(schema: Any, *, source: str) -> dict[str, Column]:
    """Return the columns of a frame; refuse names and types that are not supported."""
    names = [field.name for field in schema]
    check_names(names, source=source)
    refuse_own_names(names, source=source)
    if len({name.casefold() for name in names}) < len(names):
        raise InputError(
            f"{source}: Spark cannot tell apart column names that differ in capitals only; rename these columns",
            code="table-duplicate-columns",
        )
    types = {field.name: _dtype(field.dataType) for field in schema}
    if odd := [name for name, dtype in types.items() if dtype is None]:
        raise InputError(
            f"{source}: the type of {quoted(odd)} is not supported in Spark, such as a point in time with a time zone; "
            "leave the column out, or turn it into text, numbers, dates or timestamp_ntz",
            code="table-column-type",
        )
    return {
        field.name: Column(own, types[field.name] or pl.String(), _sql(field.dataType))
        for own, field in zip(own_names(len(names)), schema, strict=True)
    }


def _dtype(given: Any) -> pl.DataType | None:
    if type(given).__name__ == "DecimalType":
        return pl.Decimal(given.precision, given.scale)
    return TYPES.get(type(given).__name__)


def _sql(given: Any) -> str:
    textual = TYPES.get(type(given).__name__) == pl.String
    return "STRING" if textual else str(given.simpleString())


def _text(text: str) -> str:
    """A text in an expression."""
    return f"CAST(X'{text.encode().hex()}' AS STRING)"


def _is_text_of(mark: str, dtype: pl.DataType) -> bool:
    """Whether a value of a type has this text."""
    if dtype == pl.String:
        return True
    if dtype == pl.Boolean:
        return mark in ("true", "false")
    given = pl.Series([mark])
    if isinstance(dtype, pl.Date):
        value = given.str.to_date("%Y-%m-%d", strict=False)
    elif isinstance(dtype, pl.Datetime):
        value = given.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
    else:
        value = given.cast(dtype, strict=False)
    return bool(as_text(value)[0] == mark)
