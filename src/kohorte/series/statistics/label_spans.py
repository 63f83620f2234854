"""Which positions a label of a statistic covers: a value, a range such as 40-59 or [40, 60), a group of values."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal

import numpy as np
import polars as pl

from kohorte.errors import InputError
from kohorte.kernels.arrays import Integers
from kohorte.series.domain.axis import Axis
from kohorte.series.domain.categories import CategoryAxis
from kohorte.series.domain.measures import UNKNOWN, DateAxis, NumberAxis
from kohorte.series.domain.regions import OUTSIDE

Spans = Integers
"""Start (inclusive) and end (exclusive) of each label; OUTSIDE in a gap, UNKNOWN outside the domain."""

_BETWEEN = r"^\[\s*(%s)\s*[,;]\s*(%s)\s*\)$"
_UP_TO = r"^(%s)\s*(?:-|–| to )\s*(%s)$"
_DAY = r"\d{4}-\d{2}-\d{2}"


def spans(axis: Axis, labels: Sequence[str | None]) -> Spans:
    """The positions of each label; an empty one means that a value is missing."""
    texts = pl.Series([label or None for label in labels], dtype=pl.String)
    positions = axis.positions_of_values(texts.fill_null(""))
    positions[texts.is_null().to_numpy()] = axis.known if axis.missing else OUTSIDE
    found = np.stack([positions, np.where(positions < 0, positions, positions + 1)], axis=1)
    for number in np.flatnonzero(positions == UNKNOWN).tolist():
        low, high = _span(axis, str(texts[number])) or (UNKNOWN, UNKNOWN + 1)
        found[number] = (low, high) if low < high else (OUTSIDE, OUTSIDE)
    return found


def unknown(axis: Axis, what: str) -> InputError:
    """The error for a label that covers nothing in the domain."""
    return InputError(
        f"{what} is neither a value of {axis.name!r} nor a range or group of values in its domain ({axis.in_words})",
        code="series-statistics",
    )


def _span(axis: Axis, label: str) -> tuple[int, int] | None:
    if isinstance(axis, CategoryAxis):
        return _group(axis, label)
    if isinstance(axis, NumberAxis | DateAxis):
        edges = _numbers(axis, label) if isinstance(axis, NumberAxis) else _days(label)
        first, last = _edge(axis, 0), _edge(axis, axis.known, end=True)
        if edges is None or not first <= edges[0] < edges[1] <= last:
            return None
        low, high = (bisect_left(range(axis.known), edge, key=lambda position: _edge(axis, position)) for edge in edges)
        return low, high
    return None


def _group(axis: CategoryAxis, label: str) -> tuple[int, int] | None:
    """The positions of a group of any level; its values lie side by side on the axis."""
    hierarchy = axis.hierarchy
    for names, groups in zip(hierarchy.labels, hierarchy.groups, strict=True):
        if label in names:
            members = np.flatnonzero(groups == names.index(label))
            positions = axis.positions_of_values(pl.Series([hierarchy.values[member] for member in members.tolist()]))
            return int(positions.min()), int(positions.max()) + 1
    return None


def _numbers(axis: NumberAxis, label: str) -> tuple[Decimal, Decimal] | None:
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


def _edge(axis: NumberAxis | DateAxis, position: int, *, end: bool = False) -> Decimal:
    """The start of a position, or the end of the one before it."""
    text = axis.ticks(position - 1, position)[1] if end else axis.ticks(position, position + 1)[0]
    return _number(text) if isinstance(axis, DateAxis) else Decimal(text.replace(axis.decimal, "."))


def _number(day: str) -> Decimal:
    return Decimal(date.fromisoformat(day).toordinal())


def shared(found: Spans) -> Iterator[tuple[int, int]]:
    """Pairs of labels that share positions although one of them covers more than one."""
    order = np.lexsort((-found[:, 1], found[:, 0]))
    reach, holder = OUTSIDE, -1
    for number in order.tolist():
        low, high = found[number].tolist()
        if low < reach and (high - low > 1 or found[holder, 1] - found[holder, 0] > 1):
            yield min(holder, number), max(holder, number)
        if high > reach:
            reach, holder = high, number
