"""Bars for numbers of rows, as shares of a table, with the figure beside them; both may be rounded."""

from __future__ import annotations

from collections.abc import Sequence

from kohorte.pages import Bar, Pair
from kohorte.report.rounding import Figures


def row_bar(label: str, rows: int, of: int, figures: Figures, tone: str = "tone0") -> Bar:
    """A bar for a number of rows of one table."""
    return Bar(label, figures.drawn(rows / of, of) if of else 0.0, _shown(rows, of, figures), tone)


def row_pair(label: str, rows: Sequence[int], of: Sequence[int], figures: Figures) -> Pair:
    """Two bars: rows of the table before and after."""
    sides = tuple(zip(rows, of, strict=True))
    before, after = (figures.drawn(some / whole, whole) if whole else 0.0 for some, whole in sides)
    return Pair(label, before, after, *(_shown(some, whole, figures) for some, whole in sides))


def _shown(rows: int, of: int, figures: Figures) -> str:
    return figures.part(rows, of) if rows else "none"
