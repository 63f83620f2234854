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

_ISO_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}($|[ T])"


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
    return list(distinct) if distinct.str.contains(_ISO_DATE).all() else None


def numbers(distinct: pl.Series, builder: Builder | None) -> list[Any] | None:
    """The values as exact numbers, where all of them are."""
    point = builder.decimal if isinstance(builder, Intervals) else "."
    if number_parts(distinct, point=point)["whole"].null_count():
        return None
    return [Decimal(value.replace(point, ".")) for value in distinct]
