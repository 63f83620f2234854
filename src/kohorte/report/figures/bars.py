"""Bars for numbers of rows or people, as shares of a table, with the figure beside them; both may be rounded."""

from __future__ import annotations

from collections.abc import Sequence

from kohorte.pages import Bar, Pair
from kohorte.report.figures.rounding import Figures


def share_bar(label: str, some: int, of: int, figures: Figures, tone: str = "tone0") -> Bar:
    """A bar for a number of rows or people of one table."""
    return Bar(label, figures.drawn(some / of, of) if of else 0.0, _shown(some, of, figures), tone)


def share_pair(label: str, some: Sequence[int], of: Sequence[int], figures: Figures) -> Pair:
    """Two bars: rows or people of the table before and after."""
    sides = tuple(zip(some, of, strict=True))
    before, after = (figures.drawn(part / whole, whole) if whole else 0.0 for part, whole in sides)
    return Pair(label, before, after, *(_shown(part, whole, figures) for part, whole in sides))


def _shown(some: int, of: int, figures: Figures) -> str:
    return figures.part(some, of) if some else "none"
