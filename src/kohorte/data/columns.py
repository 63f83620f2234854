"""Checks for every table: named columns of plain types, and one representation of missing values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import polars as pl

from kohorte.errors import InputError

NAMES_SHOWN = 5
_PLAIN = (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Date, pl.Datetime, pl.Time, pl.Null)


def quoted(names: Sequence[str]) -> str:
    """Return names for a message: 'a', 'b' and 3 more."""
    shown = ", ".join(repr(name) for name in names[:NAMES_SHOWN])
    more = len(names) - NAMES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def check_names(names: Sequence[str], *, source: str) -> None:
    """Refuse tables without columns, empty names and duplicate names."""
    if not names:
        raise InputError(f"{source} has no columns", code="table-no-columns")
    if "" in names:
        positions = [str(at) for at, name in enumerate(names, 1) if name == ""]
        shown = ", ".join(positions[:NAMES_SHOWN])
        raise InputError(
            f"{source}: {len(positions)} of {len(names)} columns have no name (position {shown}); "
            "give every column a name in the first line",
            code="table-unnamed-columns",
        )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(
            f"{source}: more than one column is named {quoted(twice)}; column names must differ",
            code="table-duplicate-columns",
        )


def check_types(frame: pl.DataFrame, *, source: str) -> None:
    """Refuse columns whose cells are not single plain values."""
    odd = [name for name, dtype in frame.schema.items() if not _is_plain(dtype)]
    if odd:
        kind = str(frame.schema[odd[0]].base_type()).lower()
        raise InputError(
            f"{source}: the type of {quoted(odd)} is not supported ({odd[0]!r} is of type {kind}); "
            "remove the column, or turn it into text, numbers or dates",
            code="table-column-type",
        )


def check_rows(frame: pl.DataFrame, *, source: str) -> None:
    """Refuse a table without rows."""
    if frame.height == 0:
        raise InputError(f"{source} has columns but no rows", code="table-no-rows")


def _is_plain(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or isinstance(dtype, _PLAIN)


def missing_as_null(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with null for everything that means missing: null, NaN and the empty text.

    Minus zero becomes zero: otherwise the sign would distinguish rows that count as equal.
    """
    changed = []
    for column in frame.iter_columns():
        if column.dtype == pl.String and (column == "").any():
            changed.append(column.replace("", None))
        elif column.dtype.is_float():
            changed.append(column.fill_nan(None).set(column == 0.0, 0.0))
    return frame.with_columns(changed) if changed else frame


def is_coded(column: pl.Series) -> bool:
    """Whether a column stores numbers of texts instead of a text for each row."""
    return isinstance(column.dtype, pl.Categorical | pl.Enum)


def tallied(column: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The different texts of a coded column, without missing ones, and how many rows have each."""
    counted = column.drop_nulls().alias("text").value_counts(name="rows")
    return counted["text"].cast(pl.String), counted["rows"]


def dictionary(column: pl.Series) -> pl.Series:
    """All texts that a coded column can have, found without looking at its rows; some may be of no row any more."""
    categories = column.dtype.categories  # type: ignore[attr-defined]
    if isinstance(categories, pl.Series):
        return categories
    if categories.is_global():  # every program part may have added to these
        return tallied(column)[0]
    texts: pl.Series = categories.to_series()
    return texts


def categories_as_text(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with text for categories.

    A categorical column stores the list of all its values, including those of removed rows: a release
    would contain suppressed values.
    """
    categorical = [column for column in frame.iter_columns() if is_coded(column)]
    return frame.with_columns([column.cast(pl.String) for column in categorical]) if categorical else frame
