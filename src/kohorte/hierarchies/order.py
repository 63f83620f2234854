"""The order of values: the order given in their hierarchy, or as numbers or dates."""

from __future__ import annotations

from typing import Any

import polars as pl

from kohorte.hierarchies.builder import Builder
from kohorte.hierarchies.builders.dates import Dates
from kohorte.hierarchies.builders.intervals import Intervals
from kohorte.hierarchies.builders.ordering import Ordering
from kohorte.hierarchies.decimals import exact_decimals, number_parts

_DAY, _TIME = "[0-9]{4}-[0-9]{2}-[0-9]{2}", r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]+)?)?"
_ISO_DATES = (f"^{_DAY}$", f"^{_DAY} {_TIME}$", f"^{_DAY}T{_TIME}$")
"""Dates that sort correctly as text if all have one of these forms; with a time zone they do not."""
_DOTTED = r"^[0-9]{1,2}[.][0-9]{1,2}[.][0-9]{4}"
_DOTTED_DATES = tuple(Dates(f"%d.%m.%Y{time}", ("year",)) for time in ("", " %H:%M", " %H:%M:%S"))


def sort_keys(distinct: pl.Series, builder: Builder | None) -> list[Any] | None:
    """The sort keys of distinct values: positions, dates or numbers; None if no order is known."""
    if isinstance(builder, Ordering) and builder.values is not None:
        positions = {value: position for position, value in enumerate(builder.values)}
        return [positions[value] for value in distinct]
    return dates(distinct, builder) or numbers(distinct, builder)


def dates(distinct: pl.Series, builder: Builder | None) -> list[Any] | None:
    """The values as dates; None unless all of them are dates.

    Without a `dates` hierarchy: ISO dates, and those with dots, which are written with the day first.
    """
    if isinstance(builder, Dates):
        return builder.moments(distinct)
    if any(distinct.str.contains(pattern).all() for pattern in _ISO_DATES):
        return list(distinct)
    if not distinct.head(1).str.contains(_DOTTED).all():
        return None
    return next((found for reader in _DOTTED_DATES if (found := reader.moments(distinct)) is not None), None)


def numbers(distinct: pl.Series, builder: Builder | None) -> list[Any] | None:
    """The values as exact numbers; None unless all of them are numbers."""
    point, thousands = (builder.decimal, builder.thousands) if isinstance(builder, Intervals) else (".", "")
    if number_parts(distinct, point=point, thousands=thousands)["whole"].null_count():
        return None
    if distinct.str.contains("^[0-9]{1,18}$").all():
        return distinct.cast(pl.Int64).to_list()
    return exact_decimals(distinct, point=point, thousands=thousands)
