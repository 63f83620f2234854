"""Who reads a report, and figures in words: counts of rows tell the public nothing about small groups."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

LEAST = 5
"""No group of fewer rows is named or, for the public, counted; a plan with a larger k raises it to k."""


class View(StrEnum):
    """Who may read a report: everybody who gets the release, or the house alone."""

    PUBLIC = "public"
    INTERNAL = "internal"


def percent(share: float | None) -> str:
    """A share for people."""
    if share is None:
        return "unknown"
    if 0.9995 <= share < 1:
        return "over 99.9 %"
    return "below 0.001 %" if 0 < share < 1e-5 else f"{100 * share:.3g} %"


def counted(number: int, noun: str) -> str:
    """A number of things."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


@dataclass(frozen=True)
class Figures:
    """How counts of rows are written: exactly, or so that nobody can tell how many are in a small group.

    A count is also hidden where the rest of the rows would be a small group: it follows by subtraction.
    """

    least: int
    exact: bool

    def hidden(self, rows: int, of: int) -> bool:
        """Whether the count would tell the size of a small group."""
        return not self.exact and (0 < rows < self.least or 0 < of - rows < self.least)

    def count(self, rows: int, of: int) -> str:
        """So many of all rows."""
        if not self.hidden(rows, of):
            return f"{rows:,}"
        if of < self.least:
            return f"at most {self.least - 1}"
        return f"fewer than {self.least}" if 0 < rows < self.least else f"all but fewer than {self.least}"

    def rows(self, rows: int, of: int) -> str:
        """So many of all rows, with the noun."""
        return counted(rows, "row") if not self.hidden(rows, of) else f"{self.count(rows, of)} rows"

    def with_share(self, rows: int, of: int) -> str:
        """So many of all rows, and which share of them that is."""
        if self.hidden(rows, of) or not of:
            return self.count(rows, of)
        return f"{rows:,} ({percent(rows / of)})"
