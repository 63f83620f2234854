"""Which places a label of a statistic stands for: a value, a range such as 40-59 or [40, 60), or a group of values."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohorte.errors import InputError
from kohorte.series.domain.axis import Axis
from kohorte.series.domain.categories import Categories
from kohorte.series.domain.measures import UNKNOWN, Days, Numbers
from kohorte.series.domain.regions import OUTSIDE

Spans = NDArray[np.int64]
"""From (inclusive) and to (exclusive) of each label; OUTSIDE in a gap, UNKNOWN where the domain has no such values."""

_BETWEEN = r"^\[\s*(%s)\s*[,;]\s*(%s)\s*\)$"
_UP_TO = r"^(%s)\s*(?:-|–| to )\s*(%s)$"
_DAY = r"\d{4}-\d{2}-\d{2}"


def spans(axis: Axis, labels: Sequence[str | None]) -> Spans:
    """The places of each label; an empty one means that a value is missing."""
    texts = pl.Series([label or None for label in labels], dtype=pl.String)
    places = axis.place_values(texts.fill_null(""))
    places[texts.is_null().to_numpy()] = axis.known if axis.missing else OUTSIDE
    found = np.stack([places, np.where(places < 0, places, places + 1)], axis=1)
    for number in np.flatnonzero(places == UNKNOWN).tolist():
        low, high = _span(axis, str(texts[number])) or (UNKNOWN, UNKNOWN + 1)
        found[number] = (low, high) if low < high else (OUTSIDE, OUTSIDE)
    return found


def unknown(axis: Axis, what: str) -> InputError:
    """The error for a label that stands for nothing in the domain."""
    return InputError(
        f"{what} is no value of {axis.name!r}, and no range or group of values within its domain ({axis.in_words})",
        code="series-statistics",
    )


def _span(axis: Axis, label: str) -> tuple[int, int] | None:
    if isinstance(axis, Categories):
        return _group(axis, label)
    if isinstance(axis, Numbers | Days):
        edges = _numbers(axis, label) if isinstance(axis, Numbers) else _days(label)
        first, last = _edge(axis, 0), _edge(axis, axis.known, end=True)
        if edges is None or not first <= edges[0] < edges[1] <= last:
            return None
        low, high = (bisect_left(range(axis.known), edge, key=lambda place: _edge(axis, place)) for edge in edges)
        return low, high
    return None


def _group(axis: Categories, label: str) -> tuple[int, int] | None:
    """The places of a group of any level; a walk through the hierarchy meets its values one after another."""
    hierarchy = axis.hierarchy
    for names, groups in zip(hierarchy.labels, hierarchy.groups, strict=True):
        if label in names:
            members = np.flatnonzero(groups == names.index(label))
            places = axis.place_values(pl.Series([hierarchy.values[member] for member in members.tolist()]))
            return int(places.min()), int(places.max()) + 1
    return None


def _numbers(axis: Numbers, label: str) -> tuple[Decimal, Decimal] | None:
    number = rf"[+-]?\d+(?:\{axis.decimal}\d+)?"
    for pattern, beyond in ((_BETWEEN, 0), (_UP_TO, 1)):
        found = re.match(pattern % (number, number), label)
        if found is not None and (axis.whole or not beyond):
            low, high = (Decimal(end.replace(axis.decimal, ".")) for end in found.groups())
            return low, high + beyond
    return None


def _days(label: str) -> tuple[Decimal, Decimal] | None:
    for pattern, beyond in ((_BETWEEN, 0), (_UP_TO, 1)):
        found = re.match(pattern % (_DAY, _DAY), label)
        if found is not None:
            try:
                low, high = (_number(end) for end in found.groups())
            except ValueError:  # no day of the calendar
                return None
            return low, high + beyond
    return None


def _edge(axis: Numbers | Days, place: int, *, end: bool = False) -> Decimal:
    """Where a place begins, or where the one before it ends."""
    text = axis.ticks(place - 1, place)[1] if end else axis.ticks(place, place + 1)[0]
    return _number(text) if isinstance(axis, Days) else Decimal(text.replace(axis.decimal, "."))


def _number(day: str) -> Decimal:
    return Decimal(date.fromisoformat(day).toordinal())


def shared(found: Spans) -> Iterator[tuple[int, int]]:
    """Pairs of labels that share places although one of them stands for more than one."""
    order = np.lexsort((-found[:, 1], found[:, 0]))
    reach, holder = OUTSIDE, -1
    for number in order.tolist():
        low, high = found[number].tolist()
        if low < reach and (high - low > 1 or found[holder, 1] - found[holder, 0] > 1):
            yield min(holder, number), max(holder, number)
        if high > reach:
            reach, holder = high, number
