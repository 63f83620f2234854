"""Numbers for people, in one style: thousands separated, a blank before %, few significant digits, the unit.

Programs get exact numbers, as JSON; these texts are for commands, certificates, reports and pages. The rule:

- Numbers, shares and sizes have three significant digits, times have two; whole numbers are never rounded.
- Costs have six, everywhere: releases are compared by their cost, and good ones often differ in the third digit.
- A number that was not measured is a dash.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

UNITS = ("bytes", "kB", "MB", "GB", "TB")
MINUTE, HOUR = 60, 3600
NONE = "\u2013"
FEW = 10
NOBODY = "note: nobody (0 people) is in the output; it has the names of its columns only"
"""The public is told no smaller number."""


def count(number: int | None, noun: str = "", plural: str = "") -> str:
    """A whole number with its noun in the right form: `1 row`, `2 rows`, `1,234 classes`."""
    if number is None:
        return NONE
    if not noun:
        return f"{number:,}"
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


@dataclass(frozen=True)
class Unit:
    """What a figure counts: the word for one and for many. Sentences take it from here, so that it is always true."""

    one: str
    many: str

    def count(self, number: int | None) -> str:
        """So many of them: `1 row`, `2 rows`."""
        return count(number, self.one, self.many)


ROWS = Unit("row", "rows")
PEOPLE = Unit("person", "people")


def number(value: float | None, digits: int = 3) -> str:
    """A number with so many significant digits, thousands separated, never in scientific notation."""
    if value is None:
        return NONE
    if not math.isfinite(value):
        return "not known" if math.isnan(value) else "no bound"
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def roughly(number: float) -> str:
    """A number of people or values for the public: none if there are few, up to 999 in tens, then with two digits.

    `about 820`, `about 1,500`. One digit would mislead: 1,484 of 1,500 people would become 1,000 of 2,000.
    """
    if number < FEW:
        return f"fewer than {FEW}"
    return f"about {count(round(round(number), -max(1, math.floor(math.log10(number)) - 1)))}"


def cost(value: float | None) -> str:
    """The cost of a release by a metric: `0.331967`, `50,411,998`."""
    return number(value, 6)


def compact(value: float) -> str:
    """A number for a narrow chart, millions and thousands of millions as M and G: `50.4 M`."""
    for scale, letter in ((1e9, " G"), (1e6, " M")):
        if abs(value) >= scale:
            return number(value / scale) + letter
    return number(value)


def percent(share: float | None, digits: int = 3) -> str:
    """A share as per cent: `4.24 %`. Only 0 is `0 %` and only 1 is `100 %`: a rare case is not shown as none."""
    if share is None:
        return NONE
    if 0 < share < 1 and float(f"{100 * share:.{digits}g}") >= 100:
        return "over 99.9 %"
    return f"{number(100 * share, digits)} %"


def seconds(duration: float | None) -> str:
    """A time span: `12 ms`, `0.1 s`, `12 s`, `3 min 20 s`, `2 h`."""
    if duration is None:
        return NONE
    if duration < 0.1:
        return f"{number(1000 * duration, 2)} ms"
    if duration < MINUTE:
        return f"{number(duration, 2)} s"
    if duration < HOUR:
        return _two_units(int(duration), MINUTE, "min", "s")
    return _two_units(int(duration // MINUTE), HOUR // MINUTE, "h", "min")


def _two_units(amount: int, factor: int, larger: str, smaller: str) -> str:
    whole, rest = divmod(amount, factor)
    return f"{whole:,} {larger} {rest} {smaller}" if rest else f"{whole:,} {larger}"


def size(amount: int) -> str:
    """An amount of data: `512 bytes`, `1.4 GB`."""
    scaled = float(amount)
    for unit in UNITS[:-1]:
        if scaled < 1000:
            return f"{number(scaled)} {unit}"
        scaled /= 1000
    return f"{number(scaled)} {UNITS[-1]}"


def listed(items: Sequence[str], last: str = "and") -> str:
    """Items as a list in a sentence: `a`, `a and b`, `a, b and c`."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"
