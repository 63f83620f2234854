"""Horizontal bars with their names at the left: one for each name, or two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from kohorte.errors import InternalError
from kohorte.pages.charts.svg import LETTER, Drawing, Heading, bar, cut_text, joined, line, text

WIDTH = 760
ROW, THICK = 22, 14
MOST_LETTERS = 34
FIGURE = 150
"""The room for the figure at the end of a bar."""


@dataclass(frozen=True)
class Bar:
    """A figure with its name; `shown` is written beside it, `tone` is the class of its colour."""

    label: str
    value: float
    shown: str = ""
    tone: str = "tone0"

    def __post_init__(self) -> None:
        _refuse_figure(self.value)


@dataclass(frozen=True)
class Pair:
    """Two figures with one name, the first above the second; None if a figure is missing."""

    label: str
    first: float | None
    second: float | None
    first_shown: str = ""
    second_shown: str = ""

    def __post_init__(self) -> None:
        _refuse_figure(self.first or 0.0)
        _refuse_figure(self.second or 0.0)


def horizontal_bars(heading: Heading, bars: Sequence[Bar], *, highest: float | None = None) -> Drawing:
    """Bars, one below the other; `highest` is the figure of a full bar, else the largest."""
    left = _margin([one.label for one in bars])
    full = highest or max((one.value for one in bars), default=0.0) or 1.0
    parts = []
    for number, one in enumerate(bars):
        y, width = 6 + number * ROW, one.value / full * (WIDTH - left - FIGURE)
        parts.append(cut_text(left - 8, y + 11, one.label, "small end", MOST_LETTERS))
        parts.append(bar(left, y, width, THICK, one.tone, f"{one.label}: {one.shown}"))
        parts.append(text(left + width + 6, y + 11, one.shown, "small soft"))
    parts.append(line(left, 2, left, 6 + len(bars) * ROW, "axis"))
    return _drawing(heading, 12 + len(bars) * ROW, parts)


def paired_bars(heading: Heading, pairs: Sequence[Pair], *, names: tuple[str, str]) -> Drawing:
    """Two bars for each name, relative to the largest of all."""
    left = _margin([pair.label for pair in pairs])
    full = max((value or 0.0 for pair in pairs for value in (pair.first, pair.second)), default=0.0) or 1.0
    parts = [_legend(left, names)]
    for number, pair in enumerate(pairs):
        top = 30 + number * (2 * THICK + 8)
        parts.append(cut_text(left - 8, top + THICK + 3, pair.label, "small end", MOST_LETTERS))
        sides = ((pair.first, pair.first_shown, "tone5"), (pair.second, pair.second_shown, "tone0"))
        for side, (value, shown, tone) in enumerate(sides):
            y, width = top + side * (THICK - 1), (value or 0.0) / full * (WIDTH - left - FIGURE)
            if value is not None:
                parts.append(bar(left, y, width, THICK - 3, tone, f"{pair.label}, {names[side]}: {shown}"))
            parts.append(text(left + width + 6, y + 9, shown, "small soft"))
    bottom = 30 + len(pairs) * (2 * THICK + 8)
    parts.append(line(left, 26, left, bottom, "axis"))
    return _drawing(heading, bottom + 6, parts)


def _legend(x: float, names: tuple[str, str]) -> Markup:
    second = x + 40 + LETTER * len(names[0])
    return (
        bar(x, 4, 12, 10, "tone5")
        + text(x + 18, 13, names[0], "small")
        + bar(second, 4, 12, 10, "tone0")
        + text(second + 18, 13, names[1], "small")
    )


def _margin(labels: Sequence[str]) -> float:
    return 24 + LETTER * min(MOST_LETTERS, max((len(label) for label in labels), default=0))


def _drawing(heading: Heading, height: float, parts: Sequence[Markup]) -> Drawing:
    return Drawing(heading.name, heading.title, heading.caption, WIDTH, round(height), joined(parts))


def _refuse_figure(value: float) -> None:
    if not (math.isfinite(value) and value >= 0):
        raise InternalError("a bar needs a finite figure of at least 0", code="chart-data")
