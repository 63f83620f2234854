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
    if not maps:  # 1 and 1.0 are one value; where there is a hierarchy, that says what they are
        kinds = _kinds(distinct)
        order = sorted(set(kinds)) if places is not None and _comparable(kinds) else list(dict.fromkeys(kinds))
        numbers = {kind: number for number, kind in enumerate(order)}
        missing = [len(order)] if text.null_count() else []
        renumbered = np.array([*(numbers[kind] for kind in kinds), *missing], dtype=np.uint32)
        overall = np.bincount(renumbered[codes], minlength=len(order) + len(missing))
        return SensitiveColumn(text.name, renumbered[codes], Domain(overall, ordered=places is not None))
    if places is None:
        values = len(distinct) + (text.null_count() > 0)
        return SensitiveColumn(text.name, codes, Domain(np.bincount(codes, minlength=values), maps=tuple(maps)))
    by_place = np.array(sorted(range(len(places)), key=places.__getitem__), dtype=np.int64)
    renumbered = np.empty(len(by_place), dtype=np.uint32)
    renumbered[by_place] = np.arange(len(by_place), dtype=np.uint32)
    overall = np.bincount(renumbered[codes], minlength=len(by_place))
    in_place = tuple(level[by_place] for level in maps)
    return SensitiveColumn(text.name, renumbered[codes], Domain(overall, ordered=True, maps=in_place))


def _kinds(distinct: pl.Series) -> list[Any]:
    """The values, numbers as numbers: however they are written, equal ones are one value."""
    numeric = number_parts(distinct)["whole"].is_not_null()
    return [Decimal(value) if number else value for value, number in zip(distinct, numeric, strict=True)]


def _comparable(kinds: list[Any]) -> bool:
    return len({type(kind) for kind in kinds}) <= 1


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
