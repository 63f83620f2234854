"""The codes of sensitive attributes, in the order of their values where they have one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl

from kohorte.groups import Domain, Groups, Histogram
from kohorte.hierarchy import Builder
from kohorte.hierarchy.decimals import number_parts
from kohorte.hierarchy.order import sort_keys
from kohorte.kernels.arrays import Bools, Codes, Counts


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """The codes of a sensitive attribute, and what is known of its values."""

    name: str
    codes: Codes = field(repr=False)
    domain: Domain = field(repr=False)


def classes_of_rows(
    columns: Sequence[SensitiveColumn],
    class_of: Codes | Counts,
    classes: int,
    *,
    rows: Bools | Codes | Counts | None = None,
    attributes: int,
) -> Groups:
    """The classes of rows (or of some of them) whose class is given, with the histograms of sensitive attributes."""
    histograms = {}
    for column in columns:
        values = column.codes if rows is None else column.codes[rows]
        width = len(column.domain.overall)
        keys, counts = np.unique(class_of.astype(np.int64) * width + values, return_counts=True)
        starts = np.searchsorted(keys, np.arange(classes + 1) * width)
        histograms[column.name] = Histogram(starts, (keys % width).astype(np.uint32), counts, column.domain)
    sizes = np.bincount(class_of, minlength=classes)
    return Groups(node=(), sizes=sizes, codes=_no_codes, histograms=histograms, attributes=attributes)


def _no_codes(which: Bools) -> Codes:
    raise AssertionError(f"classes that were given have no codes ({len(which)})")


def in_order(text: pl.Series, codes: Codes, maps: Sequence[Codes], builder: Builder | None) -> SensitiveColumn:
    """Renumber codes that follow the values as text (missing last), so that they follow the order of the values."""
    distinct = text.drop_nulls().unique().sort()
    places = None if text.null_count() else sort_keys(distinct, builder)
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
