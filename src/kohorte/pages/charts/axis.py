"""Axes: round ends, a few ticks, and the position of a number or a date."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from kohorte.errors import InternalError

YEARS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
ROUND = (1, 1.5, 2, 3, 4, 5, 6, 8, 10)
Position = float | date
"""A value on an axis."""


def ceiling(value: float) -> float:
    """A round number that is at least as large."""
    if value < sys.float_info.min:
        return 1.0
    size = 10.0 ** math.floor(math.log10(value))
    return next(step * size for step in ROUND if step * size >= value * 1.02 or step == ROUND[-1])


@dataclass(frozen=True)
class Axis:
    """A stretch from `low` to `high` on the page, from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise InternalError("an axis needs two different finite ends", code="chart-data")

    @classmethod
    def over(cls, values: Sequence[float], start: float, end: float, *, from_zero: bool = False) -> Axis:
        """An axis that covers all values."""
        low, high = min(values, default=0.0), max(values, default=1.0)
        if from_zero:
            return cls(0.0, ceiling(high), start, end)
        room = (high - low) * 0.02 or max(abs(high), 1.0) * 0.5
        return cls(low - room, high + room, start, end)

    def at(self, value: float) -> float:
        """The position of a value on the page."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, most: int = 6) -> list[float]:
        """About `most` round numbers on the axis."""
        rough = (self.high - self.low) / max(most - 1, 1)
        size = 10.0 ** math.floor(math.log10(rough))
        step = next(round_ * size for round_ in (1, 2, 2.5, 5, 10) if round_ * size >= rough * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        return [count * step for count in range(first, math.floor(self.high / step + 1e-9) + 1)]


def as_number(position: Position) -> float:
    """A date as a number of days; a number as it is."""
    return float(position.toordinal()) if isinstance(position, date) else float(position)


def date_ticks(axis: Axis, most: int = 6) -> list[tuple[float, str]]:
    """Round dates on an axis of days, labelled with years, months or days."""
    days = axis.high - axis.low
    first = date.fromordinal(math.ceil(axis.low))
    last = date.fromordinal(math.floor(axis.high))
    if days > 365 * 2:
        step = next(round_ for round_ in YEARS if (last.year - first.year + 1) / round_ <= most)
        years = range(-(-(first.year + (first > date(first.year, 1, 1))) // step) * step, last.year + 1, step)
        return [(as_number(date(year, 1, 1)), str(year)) for year in years]
    if days > 70:
        months = [date(year, month, 1) for year in range(first.year, last.year + 1) for month in range(1, 13)]
        fitting = [month for month in months if first <= month <= last]
        return [(as_number(month), f"{month:%Y-%m}") for month in fitting[:: math.ceil(len(fitting) / most)]]
    step = max(1, math.ceil((last - first).days / max(most - 1, 1)))
    found = [first + timedelta(days=count) for count in range(0, (last - first).days + 1, step)]
    return [(as_number(day), day.isoformat()) for day in found]
