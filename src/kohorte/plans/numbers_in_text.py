"""How the numbers of columns are written: decimal sign and thousands separator, found for many columns at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import floor, log10

import polars as pl

from kohorte.hierarchies import Builder, Intervals
from kohorte.hierarchies.decimals import number_parts, without_thousands
from kohorte.identifiers.cells import COLUMN, COUNT, VALUE

READINGS = (
    *((".", ""), (",", ""), (",", "."), (".", ","), (".", "'"), (".", "’")),
    *((",", " "), (",", "\u00a0"), (",", "\u202f"), (".", " ")),
)
"""Decimal sign and thousands separator, the usual ones first."""

_EITHER = r"^[-+]?[1-9][0-9]{0,2}[.,][0-9]{3}$"
"""1.234 and 1,234: a thousand, or one and a bit."""

MOST_EXACT = 1e15
"""Larger numbers are codes rather than measurements, and floats do not represent them exactly."""

MOST_SIGNS = 17
"""Longer numbers have more digits than floats represent, so that the bounds would not be certain."""

FEWEST = 4
"""Intervals are proposed for columns with at least so many different numbers."""

_NAMES = {".": "point", ",": "comma", "'": "apostrophe", "’": "apostrophe"}


@dataclass(frozen=True)
class Numbers:
    """The numbers of a column: how they are written, and between which bounds they lie.

    `rows` have numbers; `integer`: all are whole. `ambiguous`: every separator could stand for decimals or thousands.
    """

    point: str
    thousands: str
    rows: int
    integer: bool
    ambiguous: bool
    distinct: int
    least: float
    most: float
    longest: int

    @property
    def _too_long(self) -> bool:
        return max(abs(self.least), abs(self.most)) > MOST_EXACT or self.longest > MOST_SIGNS

    def in_words(self) -> str:
        """How the numbers are written, or why they get no intervals."""
        if self.ambiguous:
            return "the sign in them can separate thousands or decimals: choose intervals with decimal or thousands"
        if self._too_long:
            return "numbers of so many digits are codes rather than measurements"
        if self.distinct < FEWEST:
            return f"fewer than {FEWEST} different numbers need no intervals"
        decimals = "" if self.integer else f"decimal {_NAMES[self.point]}"
        grouped = f"thousands separated by {_NAMES.get(self.thousands, 'blank')}" if self.thousands else ""
        return ", ".join(filter(None, (decimals, grouped))) or "whole numbers"

    def intervals(self) -> Builder | None:
        """Intervals that start at a round number and contain all values; None if there is no reasonable choice."""
        if self.ambiguous or self._too_long or self.distinct < FEWEST:
            return None
        width = _round_width(Decimal(repr(self.most)) - Decimal(repr(self.least)), whole=self.integer)
        lower = (Decimal(repr(self.least)) // width - (self.least < 0)) * width
        upper = lower + 4 * width
        while upper <= Decimal(repr(self.most)):
            upper += 4 * width
        return Intervals(
            lower=lower,
            upper=upper,
            widths=[width, 2 * width, 4 * width],
            integer=self.integer,
            decimal=self.point,
            thousands=self.thousands,
        )


def numbers_of(table: pl.DataFrame, typed: Sequence[int] = ()) -> dict[int, Numbers]:
    """The numbers of each column of distinct cells, in the reading that fits most rows.

    `typed` are columns whose cells are numbers in the file, not text: a point in them is the decimal sign.
    """
    found: dict[int, Numbers] = {}
    left = table.filter(pl.col(VALUE).str.contains(r"^[-+]?[0-9][0-9.,'’ \u00a0\u202f]*$"))
    for point, thousands in READINGS:
        if not left.height:
            break
        found |= _read(left, point, thousands, better_than=found, typed=typed)
        whole = [column for column, rows in _rows(left) if column in found and found[column].rows == rows]
        left = left.filter(~pl.col(COLUMN).is_in(whole))
    return found


def _rows(table: pl.DataFrame) -> list[tuple[int, int]]:
    return table.group_by(COLUMN).agg(pl.col(COUNT).sum()).rows()


def _read(
    table: pl.DataFrame, point: str, thousands: str, *, better_than: dict[int, Numbers], typed: Sequence[int]
) -> dict[int, Numbers]:
    """The numbers of each column in one reading, if it fits more rows than the readings before."""
    plain = without_thousands(table[VALUE], point=point, thousands=thousands)
    parts = number_parts(plain, point=point)
    known = table.with_columns(
        number=plain.str.replace(point, ".", literal=True).cast(pl.Float64, strict=False),
        whole=parts["fraction"] == "",
        separated=table[VALUE].str.contains(r"[.,]"),
        either=table[VALUE].str.contains(_EITHER),
    ).filter(parts["whole"].is_not_null())
    facts = known.group_by(COLUMN).agg(
        rows=pl.col(COUNT).sum(),
        integer=pl.col("whole").all(),
        ambiguous=pl.col("separated").any() & pl.col("either").filter("separated").all(),
        distinct=pl.len(),
        least=pl.col("number").min(),
        most=pl.col("number").max(),
        longest=pl.col(VALUE).str.len_chars().max(),
    )
    found = {}
    for column, rows, integer, ambiguous, distinct, *bounds in facts.iter_rows():
        if column not in better_than or rows > better_than[column].rows:
            unclear = ambiguous and column not in typed
            found[column] = Numbers(point, thousands, rows, integer, unclear, distinct, *bounds)
    return found


def _round_width(span: Decimal, *, whole: bool) -> Decimal:
    """The next of ..., 0.5, 1, 2, 5, 10, ... above a twentieth of the span; at least 1 for whole numbers."""
    wanted = span / 20
    size = Decimal(10) ** (floor(log10(wanted)) if wanted > 0 else 0)
    width = next(step * size for step in (1, 2, 5, 10) if step * size >= wanted)
    return max(width, Decimal(1)) if whole else width
