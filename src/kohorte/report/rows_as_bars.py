"""Bars of rows: their length is a share of a table, and the figure is written beside them."""

from __future__ import annotations

from collections.abc import Sequence

from kohorte.drawing import Bar, Pair
from kohorte.report.figures import percent


def row_bar(label: str, rows: int, of: int, tone: str = "tone0") -> Bar:
    """So many rows of one table."""
    return Bar(label, rows, _shown(rows, of), tone)


def row_pair(label: str, rows: Sequence[int], of: Sequence[int]) -> Pair:
    """So many rows of the table before, and of the table after."""
    before, after = (some / whole if whole else 0.0 for some, whole in zip(rows, of, strict=True))
    return Pair(label, before, after, *(_shown(some, whole) for some, whole in zip(rows, of, strict=True)))


def _shown(rows: int, of: int) -> str:
    return f"{rows:,} ({percent(rows / of)})" if rows else "none"
