"""The order of values: as their hierarchy names them, as numbers or as dates."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import polars as pl

from kohorte.hierarchy.builder import Builder
from kohorte.hierarchy.dates import Dates
from kohorte.hierarchy.decimals import number_parts
from kohorte.hierarchy.intervals import Intervals
from kohorte.hierarchy.ordering import Ordering

_DAY, _TIME = "[0-9]{4}-[0-9]{2}-[0-9]{2}", r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]+)?)?"
_ISO_DATES = (f"^{_DAY}$", f"^{_DAY} {_TIME}$", f"^{_DAY}T{_TIME}$")
"""Dates that sort as text, if all are written in one of these ways; with a time zone they do not."""


def sort_keys(distinct: pl.Series, builder: Builder | None) -> list[Any] | None:
    """What to sort distinct values by: a list of places, dates or numbers; None where nothing fits."""
    if isinstance(builder, Ordering) and builder.values is not None:
        places = {value: place for place, value in enumerate(builder.values)}
        return [places[value] for value in distinct]
    return dates(distinct, builder) or numbers(distinct, builder)


def dates(distinct: pl.Series, builder: Builder | None) -> list[Any] | None:
    """The values as dates, where all of them are."""
    if isinstance(builder, Dates):
        return builder.moments(distinct)
    return list(distinct) if any(distinct.str.contains(pattern).all() for pattern in _ISO_DATES) else None


def numbers(distinct: pl.Series, builder: Builder | None) -> list[Any] | None:
    """The values as exact numbers, where all of them are."""
    point = builder.decimal if isinstance(builder, Intervals) else "."
    if number_parts(distinct, point=point)["whole"].null_count():
        return None
    if distinct.str.contains("^[0-9]{1,18}$").all():
        return distinct.cast(pl.Int64).to_list()
    return [Decimal(value.replace(point, ".")) for value in distinct]
