"""Compute aggregates from noisy whole numbers, each with an error bound.

Nothing here reads the table. Half-widths come from interval arithmetic: all measurements of an aggregate lie within
their bounds at the same time with the stated confidence, and the aggregate then lies within the interval. They cover
noise only, not clamping, rounding or sampling error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TypeAlias

from kohorte.dp.noise.measurements import Kind, Measurement, parts_of, square_unit
from kohorte.dp.noise.quantiles import QuantileChoice
from kohorte.dp.noise.releasing import Mechanism, Releaser
from kohorte.dp.schema.columns import Column
from kohorte.dp.sql.plan import Aggregate, Function

CONFIDENCE = 0.95
Interval: TypeAlias = tuple[float, float]


@dataclass(frozen=True)
class Derived:
    """A value of the answer and its error bound; None if the noise is too large for a value."""

    value: float | int | None
    half_width: float | None


@dataclass(frozen=True)
class Deriver:
    """Computes one aggregate from its measurements."""

    aggregate: Aggregate
    releaser: Releaser

    @property
    def parts(self) -> tuple[Measurement, ...]:
        """The measurements of the aggregate."""
        return parts_of(self.aggregate)

    @property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Their mechanisms."""
        return tuple(self.releaser.mechanisms[part] for part in self.parts)

    @property
    def column(self) -> Column:
        """The column of the aggregate, which has bounds."""
        return self.releaser.metadata.columns[str(self.aggregate.column)]

    @cached_property
    def bounds(self) -> list[float]:
        """The error bound of each measurement, simultaneously valid with the confidence."""
        alpha = (1 - CONFIDENCE) / len(self.parts)
        return [0.0 if isinstance(m, QuantileChoice) else m.half_width(alpha) for m in self.mechanisms]

    @cached_property
    def rank_error(self) -> float | None:
        """The error bound of a quantile in ranks, with the confidence; None for other aggregates."""
        [*_, last] = self.mechanisms
        return last.rank_error(1 - CONFIDENCE) if isinstance(last, QuantileChoice) else None

    def derive(self, numbers: list[int]) -> Derived:
        """Return the aggregate of one group."""
        if self.rank_error is not None:
            return Derived(self._number(numbers[0]), None)
        bounds = self.bounds
        if len(numbers) == 1:
            return self._single(numbers[0], bounds[0])
        intervals = [(number - bound, number + bound) for number, bound in zip(numbers, bounds, strict=True)]
        if self.aggregate.function is Function.AVG:
            return self._mean(numbers, intervals)
        return self._spread(numbers, intervals)

    def _single(self, number: int, bound: float) -> Derived:
        if self.aggregate.function is Function.SUM:
            return Derived(self._number(number), bound * float(self.column.unit))
        return Derived(number, bound)

    def _number(self, steps: int) -> float | int:
        exact = Fraction(steps) * self.column.unit
        return int(exact) if self.column.datatype == "int" and exact.denominator == 1 else float(exact)

    def _mean(self, numbers: list[int], intervals: list[Interval]) -> Derived:
        count, total = numbers
        if count < 1:
            return Derived(None, None)
        column = self.column
        low, high = float(column.lowest * column.unit), float(column.highest * column.unit)

        def mean(steps: float) -> float:
            return min(max((steps + column.middle) * float(column.unit), low), high)

        value = mean(total / count)
        if intervals[0][0] < 1:
            return Derived(value, max(value - low, high - value))
        between = [mean(steps / rows) for rows, steps in product(*intervals)]
        return Derived(value, max(value - min(between), max(between) - value))

    def _spread(self, numbers: list[int], intervals: list[Interval]) -> Derived:
        count, total, squares = numbers
        if count < 2:
            return Derived(None, None)
        greatest = self.column.furthest**2 * 2.0
        value = _variance(count, total / count, squares * square_unit(self.column) / count)
        low, high = (0.0, greatest) if intervals[0][0] < 2 else self._variances(intervals)
        value, low, high = (min(max(number, 0.0), greatest) for number in (value, low, high))
        unit = float(self.column.unit)
        if self.aggregate.function is Function.STDDEV:
            value, low, high, scale = math.sqrt(value), math.sqrt(low), math.sqrt(high), unit
        else:
            scale = unit**2
        return Derived(value * scale, max(value - low, high - value) * scale)

    def _variances(self, intervals: list[Interval]) -> Interval:
        """The least and the greatest variance within the intervals, in squared steps."""
        rows, totals, squares = intervals
        unit = square_unit(self.column)
        means = [total / count for count, total in product(rows, totals)]
        nearest = 0.0 if min(means) <= 0 <= max(means) else min(map(abs, means))
        furthest = max(map(abs, means))
        ratios = [total * unit / count for count, total in product(rows, squares)]
        lowest, highest = min(ratios) - furthest**2, max(ratios) + unit - nearest**2
        factors = [count / (count - 1) for count in rows]
        return min(lowest * factor for factor in factors), max(highest * factor for factor in factors)


def _variance(count: int, mean: float, mean_square: float) -> float:
    return (mean_square - mean**2) * count / (count - 1)


def typical_numbers(deriver: Deriver, rows: int) -> list[int]:
    """The measurements of a group whose values are evenly distributed between the bounds."""
    found = []
    for part in deriver.parts:
        if part.kind in (Kind.ROWS, Kind.VALUES, Kind.PEOPLE):
            found.append(rows)
        elif part.kind is Kind.SQUARES:
            found.append(rows * deriver.column.furthest**2 // 3 // square_unit(deriver.column))
        else:
            found.append(0 if part.kind is Kind.CENTRED else rows * deriver.column.middle)
    return found
