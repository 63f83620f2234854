"""Bars: lying ones with names at the left, standing ones in an order, and two for each name."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kohorte.drawing.axis import Axis, number
from kohorte.drawing.style import short
from kohorte.drawing.svg import LETTER, Drawing, Heading, bar, line, text
from kohorte.errors import InternalError

WIDTH = 760
ROW, THICK = 22, 14
MOST_LETTERS = 34
WIDEST = 90
FIGURE = 150
"""The room for the figure at the end of a bar."""

Shown = Callable[[float], str]


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
    """Two figures with one name, the first above the second; None where there is none."""

    label: str
    first: float | None
    second: float | None
    first_shown: str = ""
    second_shown: str = ""

    def __post_init__(self) -> None:
        _refuse_figure(self.first or 0.0)
        _refuse_figure(self.second or 0.0)


def horizontal_bars(heading: Heading, bars: Sequence[Bar], *, highest: float | None = None) -> Drawing:
    """Lying bars, one below the other; `highest` is the figure of a full bar, else the largest."""
    left = _margin([one.label for one in bars])
    full = highest or max((one.value for one in bars), default=0.0) or 1.0
    parts = []
    for place, one in enumerate(bars):
        y, width = 6 + place * ROW, one.value / full * (WIDTH - left - FIGURE)
        parts.append(_name(left, y + 11, one.label))
        parts.append(bar(left, y, width, THICK, one.tone, f"{one.label}: {one.shown}"))
        parts.append(text(left + width + 6, y + 11, one.shown, "small soft"))
    parts.append(line(left, 2, left, 6 + len(bars) * ROW, "axis"))
    return _drawing(heading, 12 + len(bars) * ROW, parts)


def paired_bars(heading: Heading, pairs: Sequence[Pair], *, names: tuple[str, str]) -> Drawing:
    """Two lying bars for each name, both measured against the largest of all."""
    left = _margin([pair.label for pair in pairs])
    full = max((value or 0.0 for pair in pairs for value in (pair.first, pair.second)), default=0.0) or 1.0
    parts = [_legend(left, names)]
    for place, pair in enumerate(pairs):
        top = 30 + place * (2 * THICK + 8)
        parts.append(_name(left, top + THICK + 3, pair.label))
        sides = ((pair.first, pair.first_shown, "tone5"), (pair.second, pair.second_shown, "tone0"))
        for number_, (value, shown, tone) in enumerate(sides):
            y, width = top + number_ * (THICK - 1), (value or 0.0) / full * (WIDTH - left - FIGURE)
            if value is not None:
                parts.append(bar(left, y, width, THICK - 3, tone, f"{pair.label}, {names[number_]}: {shown}"))
            parts.append(text(left + width + 6, y + 9, shown, "small soft"))
    bottom = 30 + len(pairs) * (2 * THICK + 8)
    parts.append(line(left, 26, left, bottom, "axis"))
    return _drawing(heading, bottom + 6, parts)


def histogram(heading: Heading, bars: Sequence[Bar], *, axes: tuple[str, str], shown: Shown = number) -> Drawing:
    """Standing bars in their order; `axes` are the words below and at the left."""
    height, left, bottom = 250, 66, 196
    axis = Axis.over([one.value for one in bars] or [0.0], bottom, 28, from_zero=True)
    parts = [_grid(axis, left, shown), text(left - 8, 14, axes[1], "small soft")]
    pitch = min((WIDTH - left - 16) / max(len(bars), 1), WIDEST)
    every = max(1, math.ceil(LETTER * max((len(one.label) for one in bars), default=0) / pitch))
    for place, one in enumerate(bars):
        x, y = left + place * pitch + pitch * 0.08, axis.at(one.value)
        parts.append(bar(x, y, pitch * 0.84, bottom - y, one.tone, f"{one.label}: {one.shown}"))
        if place % every == 0:
            parts.append(text(x + pitch * 0.42, bottom + 16, one.label, "small soft mid"))
        if one.value and pitch >= LETTER * len(one.shown):
            parts.append(text(x + pitch * 0.42, y - 4, one.shown, "small mid"))
    parts.append(text((left + WIDTH) / 2, bottom + 36, axes[0], "small soft mid"))
    return _drawing(heading, height, parts)


def _grid(axis: Axis, left: float, shown: Shown) -> str:
    return "".join(
        line(left, axis.at(tick), WIDTH - 16, axis.at(tick), "grid" if tick else "axis")
        + text(left - 8, axis.at(tick) + 4, shown(tick), "small soft end")
        for tick in axis.ticks(5)
    )


def _legend(x: float, names: tuple[str, str]) -> str:
    second = x + 40 + LETTER * len(names[0])
    return (
        bar(x, 4, 12, 10, "tone5")
        + text(x + 18, 13, names[0], "small")
        + bar(second, 4, 12, 10, "tone0")
        + text(second + 18, 13, names[1], "small")
    )


def _name(left: float, y: float, label: str) -> str:
    cut = short(label, MOST_LETTERS)
    return text(left - 8, y, cut, "small end", hint=label if cut != label else "")


def _margin(labels: Sequence[str]) -> float:
    return 24 + LETTER * min(MOST_LETTERS, max((len(label) for label in labels), default=0))


def _drawing(heading: Heading, height: float, parts: Sequence[str]) -> Drawing:
    return Drawing(heading.name, heading.title, heading.caption, WIDTH, round(height), "".join(parts))


def _refuse_figure(value: float) -> None:
    if not (math.isfinite(value) and value >= 0):
        raise InternalError("a bar needs a finite figure of at least 0", code="chart-data")
