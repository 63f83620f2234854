"""Where values lie on a line, in whole steps: by these, Mondrian finds the widest attribute without rounding."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from math import gcd, lcm

import numpy as np
import polars as pl

from kohorte.hierarchies import Builder
from kohorte.hierarchies.order import dates, numbers
from kohorte.kernels.arrays import Integers

MOST = 2**62
"""The most steps of a line, so that 64 bits hold them; longer lines are measured in so many steps."""
Place = int | Fraction


def places_of(distinct: pl.Series, builder: Builder | None) -> list[Place] | None:
    """Where values lie, exactly: numbers as they are, dates in seconds; None unless all are dates or all are numbers.

    None also for texts that have the form of a date but are not in the calendar, such as 2023-02-30.
    """
    moments = dates(distinct, builder)
    if moments is not None:
        return _seconds(moments)
    found = numbers(distinct, builder)
    return None if found is None else [one if isinstance(one, int) else Fraction(one) for one in found]


def _seconds(moments: Sequence[str | tuple[int, ...]]) -> list[Place] | None:
    try:
        return [_of_text(one) if isinstance(one, str) else _of_parts(*one) for one in moments]
    except ValueError:
        return None


def _of_text(text: str) -> Place:
    """The seconds of a date of the form 2024-02-17, with or without a time."""
    parts = text[11:].split(":") if len(text) > 10 else []
    hour, minute, second = (*map(Fraction, parts), *[Fraction(0)] * (3 - len(parts)))
    if hour >= 24 or minute >= 60 or second > 60:
        raise ValueError("not a time of the day")
    return date.fromisoformat(text[:10]).toordinal() * 86_400 + hour * 3_600 + minute * 60 + second


def _of_parts(year: int, month: int = 1, day: int = 1, hour: int = 0, minute: int = 0, second: int = 0) -> Place:
    return date(year, month, day).toordinal() * 86_400 + hour * 3_600 + minute * 60 + second


def whole_steps(places: Sequence[Place]) -> Integers:
    """The distance of each place from the lowest, in the largest step that divides all of these distances."""
    if not places:
        return np.empty(0, dtype=np.int64)
    scale = lcm(*(place.denominator for place in places))
    whole = [place.numerator * (scale // place.denominator) for place in places]
    lowest = min(whole)
    distances = [number - lowest for number in whole]
    step = max(1, gcd(*distances))
    longest = max(distances)
    if longest // step > MOST:
        return np.array([distance * MOST // longest for distance in distances], dtype=np.int64)
    return np.array([distance // step for distance in distances], dtype=np.int64)


def whole_weights(weights: Sequence[float]) -> Integers:
    """Whole numbers in the same proportions as weights in the decimals in which they are written: 0.1 is 1/10."""
    exact = [Fraction(repr(float(weight))) for weight in weights]
    return whole_steps([Fraction(0), *exact])[1:]
