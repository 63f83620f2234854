"""The codes of sensitive attributes, in the order of their values where they have one."""

from __future__ import annotations

from bisect import bisect_left
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
    if places is None:
        values = len(distinct) + (text.null_count() > 0)
        return SensitiveColumn(text.name, codes, Domain(np.bincount(codes, minlength=values), maps=tuple(maps)))
    if not maps:  # 1 and 1.0 are one value; with a hierarchy, that says what they are
        order = sorted(set(places))
        renumbered = np.array([bisect_left(order, place) for place in places], dtype=np.uint32)
        overall = np.bincount(renumbered[codes], minlength=len(order))
        return SensitiveColumn(text.name, renumbered[codes], Domain(overall, ordered=True))
    by_place = np.array(sorted(range(len(places)), key=places.__getitem__), dtype=np.int64)
    renumbered = np.empty(len(by_place), dtype=np.uint32)
    renumbered[by_place] = np.arange(len(by_place), dtype=np.uint32)
    overall = np.bincount(renumbered[codes], minlength=len(by_place))
    in_place = tuple(level[by_place] for level in maps)
    return SensitiveColumn(text.name, renumbered[codes], Domain(overall, ordered=True, maps=in_place))


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
