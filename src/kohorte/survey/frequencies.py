"""Frequencies as exact fractions: 0.1 is one tenth, and a third is a third."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Rational

from kohorte.errors import InputError

TOLERANCE = Fraction(1, 10**6)
"""How far frequencies may be from a sum of 1; they are then divided by their sum."""

_WRITTEN = re.compile(r"[0-9]{1,30}(?:\.[0-9]{1,30})?|\.[0-9]{1,30}|[0-9]{1,15}/[0-9]{1,15}")


def as_fraction(number: object, *, place: str) -> Fraction:
    """Return a frequency of at least 0, given as a number, or as text such as 1/3."""
    found = _exactly(number)
    if found is None:
        raise InputError(f"{place} is a number from 0 to 1, or a fraction such as 1/3", code="survey-frequency")
    if found < 0:
        raise InputError(f"{place} must lie between 0 and 1, not at {float(found):g}", code="survey-frequency")
    return found


def _exactly(number: object) -> Fraction | None:
    """The number as it is written in decimals, not as the binary number that a computer makes of it."""
    try:
        match number:
            case bool():
                return None
            case str():
                return Fraction(number) if _WRITTEN.fullmatch(number) else None
            case Rational() | Decimal():
                return Fraction(number)
            case _:
                return Fraction(repr(float(number)))  # type: ignore[arg-type]  # what is no number is refused
    except (ValueError, TypeError, OverflowError, ZeroDivisionError):
        return None


def check_sum(frequencies: Sequence[Fraction], *, place: str) -> None:
    """Refuse frequencies that do not sum to 1."""
    total = sum(frequencies, Fraction())
    if abs(total - 1) > TOLERANCE:
        guess = (
            "percentages, or rounded" if 90 < total < 110 else "rounded" if Fraction(9, 10) < total < 2 else "counts"
        )
        advice = f"; if they are {guess}, write normalize: true, or --normalize, to divide them by it" if total else ""
        raise InputError(f"{place} sum to {float(total):.10g}, not to 1{advice}", code="survey-sum")


def scaled(numbers: Sequence[object], *, place: str) -> tuple[tuple[Fraction, ...], Fraction]:
    """Frequencies divided by their sum, and the sum."""
    found = [as_fraction(number, place=place) for number in numbers]
    total = sum(found, Fraction())
    if not total:
        raise InputError(f"{place} sum to 0", code="survey-sum")
    return normalized(found), total


def normalized(frequencies: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """The frequencies, with a sum of exactly 1."""
    total = sum(frequencies, Fraction())
    return tuple(frequencies) if total == 1 else tuple(frequency / total for frequency in frequencies)


def as_written(frequency: Fraction) -> int | float | str:
    """A frequency as a file writes it, so that the same fraction is read again."""
    if frequency.denominator == 1:
        return int(frequency)
    decimal = float(frequency)
    return decimal if Fraction(repr(decimal)) == frequency else f"{frequency.numerator}/{frequency.denominator}"


def whole_people(people: int, frequencies: Sequence[Fraction]) -> tuple[int, ...]:
    """So many people, divided by frequencies that sum to 1: whole numbers, the largest remainders rounded up."""
    shares = [people * frequency for frequency in frequencies]
    counts = [int(share) for share in shares]
    by_remainder = sorted(range(len(shares)), key=lambda place: (counts[place] - shares[place], place))
    for place in by_remainder[: people - sum(counts)]:
        counts[place] += 1
    return tuple(counts)
