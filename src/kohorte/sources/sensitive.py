"""The encoding of sensitive attributes; codes follow the order of the values if there is one.

All spellings of a value have one code, so that spellings never make a class diverse; a text of which nothing can be
seen is missing. 1 and 1.0 are one value, too, unless a hierarchy tells them apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl

from kohorte.data import spelling_keys
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
    """Renumber codes from alphabetical order (missing last) to the order of the values.

    Of several spellings in a hierarchy, the first one says to which groups the value belongs.
    """
    kinds = [*counted_as(distinct, numbers=not maps), *([None] if (codes == len(distinct)).any() else [])]
    some_missing = None in kinds
    keys = None if some_missing else sort_keys(distinct, builder)
    first: dict[Any, int] = {}
    for at, kind in enumerate(kinds):
        first.setdefault(kind, at)
    order = _last(first) if keys is None else sorted(first, key=lambda kind: keys[first[kind]])
    numbers = {kind: number for number, kind in enumerate(order)}
    renumbered = np.array([numbers[kind] for kind in kinds], dtype=np.uint32)[codes]
    overall = np.bincount(renumbered, weights, minlength=len(order)).astype(np.int64)
    maps = tuple(level[[first[kind] for kind in order]] for level in maps)
    return SensitiveColumn(name, renumbered, Domain(overall, ordered=keys is not None, maps=maps))


def _last(kinds: Iterable[Any]) -> list[Any]:
    """The values in their order, missing last."""
    return sorted(kinds, key=lambda kind: kind is None)


def counted_as(distinct: pl.Series, *, numbers: bool = True) -> list[Any]:
    """What distinct texts count as: the key of all spellings, or None if nothing can be seen.

    With `numbers`, numbers are decimals: 1 and 1.0 are the same value.
    """
    keys = spelling_keys(distinct)
    if not numbers:
        return keys.to_list()
    numeric = number_parts(keys)["whole"].is_not_null()
    return [Decimal(key) if number else key for key, number in zip(keys, numeric, strict=True)]
