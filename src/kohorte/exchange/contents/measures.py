"""Numbers with a unit: a number in the range that patients can have, with at most three significant digits.

A number that identifies somebody or something (a postal code, the number of a device or an account) mostly has more
digits than a measurement can be exact to, or lies outside of the range.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache

from kohorte.identifiers.names import words_of

UNITS: Mapping[str, tuple[float, float]] = {
    "kg": (0, 700), "g": (0, 10_000), "mg": (0, 10_000), "µg": (0, 10_000), "cm": (0, 300), "mm": (0, 3_000),
    "l": (0, 30), "ml": (0, 20_000), "mmHg": (-50, 400), "kPa": (-5, 60), "°C": (20, 45), "%": (0, 100),
    "/min": (0, 400), "/nl": (0, 2_000), "/µl": (0, 3_000_000), "T/l": (0, 15), "kg/m²": (5, 150), "m²": (0, 4),
    "mmol/l": (0, 400), "µmol/l": (0, 3_000), "mmol/mol": (0, 250), "mg/dl": (0, 5_000), "mg/l": (0, 1_000),
    "g/dl": (0, 30), "g/l": (0, 300), "ng/ml": (0, 10_000), "ng/l": (0, 100_000), "pg/ml": (0, 100_000),
    "U/l": (0, 50_000), "mU/l": (0, 500), "kU/l": (0, 500), "ml/min": (0, 250), "mm/h": (0, 150), "mval/l": (0, 400),
    "ms": (0, 1_000), "s": (0, 1_000), "minutes": (0, 3_000), "hours": (0, 1_000), "days": (0, 999), "weeks": (0, 99),
    "months": (0, 200), "years": (0, 89), "points": (0, 100), "count": (0, 999), "ratio": (0, 100),
    "EUR": (0, 1_000_000), "USD": (0, 1_000_000), "CHF": (0, 1_000_000),
}  # fmt: skip
"""The units, with the least and the largest number that a column may have: our own choice, wide enough for patients."""

DIGITS = 3
_NUMBER = r"[-+−]?[0-9]+(?:[.,][0-9]+)?"
_ONE = re.compile(rf"(?:[<>]=?|[≤≥~])? ?({_NUMBER}) ?(?:\+)?(?: ?([^0-9\s].*))?")
_SPAN = re.compile(rf"({_NUMBER}) ?(?:-|–|to|bis) ?({_NUMBER})(?: ?([^0-9\s].*))?")
_BETWEEN = re.compile(rf"[\[(\]]({_NUMBER}), ?({_NUMBER})[\])\[](?: ?([^0-9\s].*))?")
_BY_NAME = {"mmhg": "mmHg", "min": "minutes", "percent": "%", "bmi": "kg/m²", "tage": "days", "jahre": "years"}


def fits_unit(text: str, unit: str) -> bool:
    """Whether a text is a number or a span of numbers that patients can have in this unit, which it may name."""
    return _fits(" ".join(text.split()), unit)


@lru_cache(maxsize=1 << 16)
def _fits(text: str, unit: str) -> bool:
    if (span := _SPAN.fullmatch(text) or _BETWEEN.fullmatch(text)) is not None:
        numbers, named = [_number(span[1]), _number(span[2])], span[3]
        exact = numbers[0] <= numbers[1] and all(map(ends_a_span, (span[1], span[2])))
    elif (one := _ONE.fullmatch(text)) is not None:
        numbers, named = [_number(one[1])], one[2]
        exact = _significant(one[1]) <= DIGITS
    else:
        return False
    least, largest = UNITS[unit]
    return exact and named in (None, unit) and all(least <= number <= largest for number in numbers)


def unit_by_name(column: str) -> str | None:
    """The unit that the name of a column ends with: `weight_kg` is in kg."""
    words = words_of(column).split()
    known = {unit.casefold(): unit for unit in UNITS if len(unit) > 1} | _BY_NAME
    ends = ("".join(words[-number:]) for number in (1, 2) if len(words) > number)
    return next((known[end] for end in ends if end in known), None)


def exact_digits(text: str) -> bool:
    """Whether a number has no more significant digits than a measurement; infinity has none."""
    return _significant(text) <= DIGITS


def ends_a_span(text: str) -> bool:
    """Whether a span of measurements can end with a number: one of few digits, or the last one below it (`1499`)."""
    digits = text.lstrip("+-−").replace(",", ".")
    places = len(digits.partition(".")[2])
    return exact_digits(text) or exact_digits(f"{(Decimal(digits) + Decimal(1).scaleb(-places)).normalize():f}")


def _number(text: str) -> float:
    return float(text.replace(",", ".").replace("−", "-"))


def _significant(text: str) -> int:
    """The number of significant digits; zeros at the end of a whole number do not count."""
    digits = re.sub(r"[^0-9.,]", "", text)
    if "." not in digits and "," not in digits:
        digits = digits.rstrip("0")
    return len(re.sub(r"[.,]", "", digits).lstrip("0"))
