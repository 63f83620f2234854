"""The encoding of sensitive attributes; codes follow the order of the values if there is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl

from kohorte.groups import Domain
from kohorte.hierarchies import Builder
from kohorte.hierarchies.decimals import number_parts
from kohorte.hierarchies.order import sort_keys
from kohorte.kernels.arrays import Codes, Counts


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """The codes of a sensitive attribute, and its domain."""

    name: str
    codes: Codes = field(repr=False)
    domain: Domain = field(repr=False)


def in_order(
    name: str,
    distinct: pl.Series,
    codes: Codes,
    *,
    weights: Counts | None,
    maps: Sequence[Codes],
    builder: Builder | None,
) -> SensitiveColumn:
    """Renumber codes from alphabetical order (missing last) to the order of the values."""
    some_missing = bool((codes == len(distinct)).any())
    keys = None if some_missing else sort_keys(distinct, builder)
    kinds = list(range(len(distinct))) if maps else _kinds(distinct)  # a hierarchy distinguishes 1 and 1.0
    order = list(dict.fromkeys(kinds))
    if keys is not None:
        order.sort(key=dict(zip(kinds, keys, strict=True)).__getitem__)
        maps = [level[order] for level in maps]
    numbers = {kind: number for number, kind in enumerate(order)}
    missing = [len(order)] if some_missing else []
    renumbered = np.array([*(numbers[kind] for kind in kinds), *missing], dtype=np.uint32)[codes]
    overall = np.bincount(renumbered, weights, minlength=len(order) + len(missing)).astype(np.int64)
    return SensitiveColumn(name, renumbered, Domain(overall, ordered=keys is not None, maps=tuple(maps)))


def _kinds(distinct: pl.Series) -> list[Any]:
    """The values, with numbers as decimals: 1 and 1.0 are the same value."""
    numeric = number_parts(distinct)["whole"].is_not_null()
    return [Decimal(value) if number else value for value, number in zip(distinct, numeric, strict=True)]
