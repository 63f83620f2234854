"""Frequencies as exact fractions: 0.1 is one tenth, and 1/3 is one third."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Rational

from kohorte.errors import InputError

TOLERANCE = Fraction(1, 10**6)
"""The largest accepted deviation of the sum from 1; frequencies are then divided by their sum."""

_WRITTEN = re.compile(r"[0-9]{1,30}(?:\.[0-9]{1,30})?|\.[0-9]{1,30}|[0-9]{1,15}/[0-9]{1,15}")


def as_fraction(number: object, *, where: str) -> Fraction:
    """Return a frequency of at least 0, given as a number or as text such as 1/3."""
    found = _exactly(number)
    if found is None:
        raise InputError(f"{where} is a number from 0 to 1, or a fraction such as 1/3", code="survey-frequency")
    if found < 0:
        raise InputError(f"{where} must be between 0 and 1, not {float(found):g}", code="survey-frequency")
    return found


def _exactly(number: object) -> Fraction | None:
    """The exact value of the decimal notation, not of the binary floating-point number."""
    try:
        match number:
            case bool():
                return None
            case str():
                return Fraction(number) if _WRITTEN.fullmatch(number) else None
            case Rational() | Decimal():
                return Fraction(number)
            case _:
                return Fraction(repr(float(number)))  # type: ignore[arg-type]  # everything else is refused
    except (ValueError, TypeError, OverflowError, ZeroDivisionError):
        return None


def check_sum(frequencies: Sequence[Fraction], *, where: str) -> None:
    """Refuse frequencies that do not sum to 1."""
    total = sum(frequencies, Fraction())
    if abs(total - 1) > TOLERANCE:
        guess = (
            "percentages, or rounded" if 90 < total < 110 else "rounded" if Fraction(9, 10) < total < 2 else "counts"
        )
        advice = f"; if they are {guess}, write normalize: true, or --normalize, to divide them by it" if total else ""
        raise InputError(f"{where} sum to {float(total):.10g}, not to 1{advice}", code="survey-sum")


def scaled(numbers: Sequence[object], *, where: str) -> tuple[tuple[Fraction, ...], Fraction]:
    """Frequencies divided by their sum, and the sum."""
    found = [as_fraction(number, where=where) for number in numbers]
    total = sum(found, Fraction())
    if not total:
        raise InputError(f"{where} sum to 0", code="survey-sum")
    return normalized(found), total


def normalized(frequencies: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """The frequencies, with a sum of exactly 1."""
    total = sum(frequencies, Fraction())
    return tuple(frequencies) if total == 1 else tuple(frequency / total for frequency in frequencies)


def as_written(frequency: Fraction) -> int | float | str:
    """A frequency as a file writes it; reading it gives the same fraction."""
    if frequency.denominator == 1:
        return int(frequency)
    decimal = float(frequency)
    return decimal if Fraction(repr(decimal)) == frequency else f"{frequency.numerator}/{frequency.denominator}"


def whole_people(people: int, frequencies: Sequence[Fraction]) -> tuple[int, ...]:
    """Divide people by frequencies that sum to 1 into whole numbers, by the method of largest remainders."""
    shares = [people * frequency for frequency in frequencies]
    counts = [int(share) for share in shares]
    by_remainder = sorted(range(len(shares)), key=lambda position: (counts[position] - shares[position], position))
    for position in by_remainder[: people - sum(counts)]:
        counts[position] += 1
    return tuple(counts)
