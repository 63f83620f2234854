"""The codes of sensitive attributes, in the order of their values where they have one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl

from kohorte.groups import Domain
from kohorte.hierarchy import Builder, Ordering
from kohorte.hierarchy.decimals import number_parts
from kohorte.kernels.arrays import Codes

_ISO_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}($|[ T])"


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """The codes of a sensitive attribute, and what is known of its values."""

    name: str
    codes: Codes = field(repr=False)
    domain: Domain = field(repr=False)


def in_order(text: pl.Series, codes: Codes, maps: Sequence[Codes], builder: Builder | None) -> SensitiveColumn:
    """Renumber codes that follow the values as text (missing last), so that they follow the order of the values."""
    distinct = text.drop_nulls().unique().sort()
    places = None if text.null_count() else _places(distinct, builder)
    kinds = list(range(len(distinct))) if maps else _kinds(distinct)  # a hierarchy says what 1 and 1.0 are
    order = list(dict.fromkeys(kinds))
    if places is not None:
        order.sort(key=dict(zip(kinds, places, strict=True)).__getitem__)
        maps = [level[order] for level in maps]
    numbers = {kind: number for number, kind in enumerate(order)}
    missing = [len(order)] if text.null_count() else []
    renumbered = np.array([*(numbers[kind] for kind in kinds), *missing], dtype=np.uint32)[codes]
    overall = np.bincount(renumbered, minlength=len(order) + len(missing))
    return SensitiveColumn(text.name, renumbered, Domain(overall, ordered=places is not None, maps=tuple(maps)))


def _kinds(distinct: pl.Series) -> list[Any]:
    """The values, numbers as numbers: however they are written, equal ones are one value."""
    numeric = number_parts(distinct)["whole"].is_not_null()
    return [Decimal(value) if number else value for value, number in zip(distinct, numeric, strict=True)]


def _places(distinct: pl.Series, builder: Builder | None) -> list[Any] | None:
    """What to sort the values by: as the hierarchy names them, ISO dates or numbers; None where nothing fits."""
    if isinstance(builder, Ordering) and builder.values is not None:
        places = {value: place for place, value in enumerate(builder.values)}
        return [places[value] for value in distinct]
    if distinct.str.contains(_ISO_DATE).all():
        return list(distinct)
    if number_parts(distinct)["whole"].null_count() == 0:
        return [Decimal(value) for value in distinct]
    return None
