"""Axes of numbers and dates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

import numpy as np
import polars as pl

from kohorte.errors import InputError
from kohorte.hierarchies.builders.dates import Dates
from kohorte.hierarchies.decimals import decimals_of, number_parts, number_text, scaled_floors, whole_numbers
from kohorte.hierarchies.options import plain_number
from kohorte.kernels.arrays import Integers
from kohorte.series.domain.axis import Axis, Column, refuse_too_many, runs
from kohorte.series.domain.regions import OUTSIDE

Exact = int | Decimal
UNKNOWN = OUTSIDE - 1
"""The position of a value outside the domain."""


@dataclass(frozen=True)
class NumberAxis(Axis):
    """Numbers in steps: each span (from, to) is divided into steps, beginning at its lower end; `to` is excluded.

    With `digits`, the values are codes of this many digits, such as postal codes; labels keep leading zeros.
    """

    spans: tuple[tuple[Exact, Exact], ...]
    step: Exact
    digits: int | None = None
    decimal: str = "."
    thousands: str = ""

    kind: ClassVar[str] = "numbers"

    def __post_init__(self) -> None:
        if self.step <= 0:
            raise InputError(f"regions: {self.name}: step must be above 0", code="series-axis")
        for lower, upper in self.spans:
            if lower >= upper:
                raise InputError(f"regions: {self.name}: a piece must begin below its end", code="series-axis")
            if Decimal(upper - lower) % Decimal(self.step):
                raise InputError(
                    f"regions: {self.name}: the step must divide each piece into whole steps", code="series-axis"
                )
        for (_, end), (start, _) in pairwise(self.spans):
            if end > start:
                raise InputError(f"regions: {self.name}: pieces must not overlap, lowest first", code="series-axis")
        refuse_too_many(self.name, self.known)

    @cached_property
    def whole(self) -> bool:
        """Whether all values must be whole numbers, so that labels name the last one: 40-54."""
        return not self._decimals

    @cached_property
    def _decimals(self) -> int:
        return max(decimals_of(number) for number in (self.step, *(end for span in self.spans for end in span)))

    def _scaled(self, number: Exact) -> int:
        return int(Decimal(number).scaleb(self._decimals))

    @cached_property
    def _counts(self) -> tuple[int, ...]:
        return tuple(
            (self._scaled(upper) - self._scaled(lower)) // self._scaled(self.step) for lower, upper in self.spans
        )

    @property
    def known(self) -> int:
        """How many steps there are."""
        return sum(self._counts)

    @cached_property
    def pieces(self) -> tuple[tuple[int, int], ...]:
        """One for each span."""
        return runs(self._counts, missing=self.missing)

    def positions_of_values(self, values: pl.Series) -> Column:
        """The step that every number falls into."""
        parts = number_parts(values, point=self.decimal, thousands=self.thousands)
        if self.whole:
            parts = parts.with_columns(pl.when(whole_numbers(parts)).then(pl.all()))
        floors = scaled_floors(parts, self._decimals)
        numbers = floors.fill_null(-(10**18)).to_numpy()
        positions: Column = np.full(len(numbers), UNKNOWN, dtype=np.int64)
        first, last = self._scaled(self.spans[0][0]), self._scaled(self.spans[-1][1])
        positions[(numbers >= first) & (numbers < last)] = OUTSIDE
        for (lower, upper), (start, _) in zip(self.spans, self.pieces, strict=True):
            inside = (numbers >= self._scaled(lower)) & (numbers < self._scaled(upper))
            positions[inside] = start + (numbers[inside] - self._scaled(lower)) // self._scaled(self.step)
        if self.digits is not None:
            positions[(~values.str.contains(f"^[0-9]{{{self.digits}}}$")).to_numpy()] = UNKNOWN
        return positions

    def _edge(self, position: int, *, end: bool = False) -> int:
        """The scaled number at which a position begins, or at which an interval before it ends."""
        for (lower, _), (start, stop) in zip(self.spans, self.pieces, strict=True):
            if position < stop or (end and position == stop):
                return self._scaled(lower) + (position - start) * self._scaled(self.step)
        return self._scaled(self.spans[-1][1])

    def label_known(self, low: int, high: int) -> str:
        """40-54 for whole numbers, [40.5, 55) for others."""
        start, end = self._edge(low), self._edge(high, end=True)
        if not self.whole:
            return f"[{self._text(start)}{'; ' if self.decimal == ',' else ', '}{self._text(end)})"
        if end - start == 1:
            return self._text(start)
        return f"{self._text(start)}{' to ' if start < 0 else '-'}{self._text(end - 1)}"

    def _text(self, scaled: int) -> str:
        if self.digits is not None:
            return str(scaled).zfill(self.digits)
        return number_text(Decimal(scaled).scaleb(-self._decimals), point=self.decimal)

    def ticks(self, low: int, high: int) -> tuple[str, str]:
        """The numbers at both ends."""
        return self._text(self._edge(low)), self._text(self._edge(min(high, self.known), end=True))

    @property
    def in_words(self) -> str:
        """The first and the last number."""
        first, end = self._scaled(self.spans[0][0]), self._scaled(self.spans[-1][1])
        if self.digits is not None:
            return f"codes of {self.digits} digits from {self._text(first)} to {self._text(end - 1)}"
        if self.whole:
            return f"whole numbers from {self._text(first)} to {self._text(end - 1)}"
        return f"numbers from {self._text(first)} up to, but not including, {self._text(end)}"

    def to_dict(self) -> dict[str, object]:
        """The spans and the step."""
        given: dict[str, object] = {
            "pieces": [[plain_number(lower), plain_number(upper)] for lower, upper in self.spans],
            "step": plain_number(self.step),
        }
        if self.digits is not None:
            given = {"digits": self.digits, **given}
        signs = {"decimal": (self.decimal, "."), "thousands": (self.thousands, "")}
        return given | {name: sign for name, (sign, usual) in signs.items() if sign != usual}


PERIODS = ("day", "month", "quarter", "year")


@dataclass(frozen=True)
class DateAxis(Axis):
    """Dates in periods: each span (from, to) is divided at the start of each day, month, quarter or year."""

    spans: tuple[tuple[date, date], ...]
    step: str
    builder: Dates

    kind: ClassVar[str] = "dates"

    def __post_init__(self) -> None:
        if self.step not in PERIODS:
            raise InputError(f"regions: {self.name}: step must be one of {', '.join(PERIODS)}", code="series-axis")
        for lower, upper in self.spans:
            if lower >= upper:
                raise InputError(f"regions: {self.name}: a piece must begin before its end", code="series-axis")
            for end in (lower, upper):
                if _begin(end, self.step) != end:
                    raise InputError(
                        f"regions: {self.name}: pieces must begin and end at the beginning of a {self.step}",
                        code="series-axis",
                    )
        for (_, end), (start, _) in pairwise(self.spans):
            if end > start:
                raise InputError(f"regions: {self.name}: pieces must not overlap, earliest first", code="series-axis")
        refuse_too_many(self.name, (self.spans[-1][1] - self.spans[0][0]).days)

    @cached_property
    def _edges(self) -> tuple[list[date], ...]:
        """The first days of the positions of each span, and its end."""
        found = []
        for lower, upper in self.spans:
            edges = [lower]
            while edges[-1] < upper:
                edges.append(_next(edges[-1], self.step))
            found.append(edges)
        return tuple(found)

    @property
    def known(self) -> int:
        """How many periods there are."""
        return sum(len(edges) - 1 for edges in self._edges)

    @cached_property
    def pieces(self) -> tuple[tuple[int, int], ...]:
        """One for each span."""
        return runs([len(edges) - 1 for edges in self._edges], missing=self.missing)

    def positions_of_values(self, values: pl.Series) -> Column:
        """The period that every date falls into."""
        days = self._days(values)
        positions: Column = np.full(len(values), UNKNOWN, dtype=np.int64)
        positions[(days >= _number(self.spans[0][0])) & (days < _number(self.spans[-1][1]))] = OUTSIDE
        for edges, (start, _) in zip(self._edges, self.pieces, strict=True):
            numbers = np.array([_number(edge) for edge in edges])
            inside = (days >= numbers[0]) & (days < numbers[-1])
            positions[inside] = start + np.searchsorted(numbers, days[inside], side="right") - 1
        return positions

    def _days(self, values: pl.Series) -> Integers:
        """The number of each day; a very early one for text that is not a date."""
        read = self.builder.days(values)
        return read.fill_null(-(10**9)).to_numpy()

    def _edge(self, position: int, *, end: bool = False) -> date:
        for edges, (start, stop) in zip(self._edges, self.pieces, strict=True):
            if position < stop or (end and position == stop):
                return edges[min(position - start, len(edges) - 1)]
        return self.spans[-1][1]

    def label_known(self, low: int, high: int) -> str:
        """[2020-01-01, 2020-07-01), or the day alone."""
        start, end = self._edge(low), self._edge(high, end=True)
        return start.isoformat() if end - start == timedelta(days=1) else f"[{start.isoformat()}, {end.isoformat()})"

    def ticks(self, low: int, high: int) -> tuple[str, str]:
        """The days at both ends."""
        return self._edge(low).isoformat(), self._edge(min(high, self.known), end=True).isoformat()

    @property
    def in_words(self) -> str:
        """The first and the last day."""
        return f"{self.spans[0][0].isoformat()} up to, but not including, {self.spans[-1][1].isoformat()}"

    def to_dict(self) -> dict[str, object]:
        """The spans and the step."""
        return {
            "pieces": [[lower.isoformat(), upper.isoformat()] for lower, upper in self.spans],
            "step": self.step,
        }


def _number(day: date) -> int:
    return (day - date(1970, 1, 1)).days


def _begin(day: date, step: str) -> date:
    """The first day of the period that contains a day."""
    month = {"day": day.month, "month": day.month, "quarter": (day.month - 1) // 3 * 3 + 1, "year": 1}[step]
    return day if step == "day" else date(day.year, month, 1)


def _next(day: date, step: str) -> date:
    """The first day of the next period."""
    if step == "day":
        return day + timedelta(days=1)
    months = {"month": 1, "quarter": 3, "year": 12}[step]
    last = day.month - 1 + months
    return date(day.year + last // 12, last % 12 + 1, 1)
