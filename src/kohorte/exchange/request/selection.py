"""The rows that satisfy a condition; a comparison is typed by the column that it looks at."""

from __future__ import annotations

from collections.abc import Collection
from functools import reduce
from operator import and_, or_

import polars as pl

from kohorte.data import as_text
from kohorte.errors import InputError, nearest
from kohorte.exchange.request.conditions import COMPARISONS, Condition

NUMBER = r"^[-+]?[0-9]+(?:\.[0-9]+)?$"
DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
ORDERED = ("at_least", "at_most")


def selected_rows(frame: pl.DataFrame, condition: Condition) -> pl.Series:
    """Tell for each row whether it satisfies the condition; a missing cell satisfies no comparison."""
    for name in condition.attributes:
        if name not in frame.columns:
            raise InputError(
                f"the condition names the column {name!r}, which the table does not have{nearest(name, frame.columns)}",
                code="exchange-request-column",
            )
    columns = {name: as_text(frame[name]) for name in condition.attributes}
    return _satisfied(columns, condition)


def satisfied_without(frame: pl.DataFrame, condition: Condition, unknown: Collection[str]) -> pl.Series:
    """Tell for each row whether it satisfies the condition; null if that depends on columns that are unknown."""
    columns = {name: as_text(frame[name]) for name in condition.attributes}
    return _satisfied(columns, condition, unknown)


def _satisfied(columns: dict[str, pl.Series], condition: Condition, unknown: Collection[str] = ()) -> pl.Series:
    if condition.operator in COMPARISONS:
        text = columns[condition.attribute]
        if condition.attribute in unknown:
            return pl.repeat(None, len(text), dtype=pl.Boolean, eager=True)
        return _compared(text, condition).fill_null(value=False)
    parts = [_satisfied(columns, part, unknown) for part in condition.parts]
    if condition.operator == "not":
        return ~parts[0]
    return reduce(and_ if condition.operator == "all" else or_, parts)


def _compared(text: pl.Series, condition: Condition) -> pl.Series:
    operator, values = condition.operator, condition.values
    if operator == "starts_with":
        return _plain(text).str.starts_with(_folded(values[0]))
    if operator in ORDERED:
        return _ordered(text, condition)
    numbers = _numbers(text)
    if numbers is not None:
        wanted = [number for value in values if (number := _number(value)) is not None]
        return numbers.is_in(wanted)
    return _plain(text).is_in([_folded(value) for value in values])


def _ordered(text: pl.Series, condition: Condition) -> pl.Series:
    [value] = condition.values
    numbers, bound = _numbers(text), _number(value)
    if numbers is not None and bound is not None:
        return numbers >= bound if condition.operator == "at_least" else numbers <= bound
    present = text.drop_nulls()
    if isinstance(value, str) and pl.Series([value]).str.contains(DATE).all() and present.str.contains(DATE).all():
        return text >= value if condition.operator == "at_least" else text <= value
    raise InputError(
        f"the condition orders the column {condition.attribute!r}, which has neither numbers nor dates such as "
        "2026-12-31, or compares it with a value of another kind",
        code="exchange-request-column",
    )


def _numbers(text: pl.Series) -> pl.Series | None:
    """The column as numbers, if every cell that is not missing is one."""
    if not text.str.contains(NUMBER).fill_null(value=True).all():
        return None
    return text.cast(pl.Float64, strict=False)


def _number(value: object) -> float | None:
    if isinstance(value, str):
        return float(value) if pl.Series([value]).str.contains(NUMBER).all() else None
    return float(str(value))


def _plain(text: pl.Series) -> pl.Series:
    """Texts as they are compared: blanks around them and capital letters do not count."""
    return text.str.strip_chars().str.to_lowercase()


def _folded(value: object) -> str:
    return str(value).strip().lower()
