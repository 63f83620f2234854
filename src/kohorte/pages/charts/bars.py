"""Horizontal bars below their names, on a scale with a unit: one bar for each name, or two.

A chart is as narrow as a phone, so that its text is legible there; a page puts several side by side. A bar is an image
with a name of its own, which a screen reader says; the texts beside it are then left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from kohorte.errors import InternalError
from kohorte.in_words import number, percent
from kohorte.languages import ENGLISH, Language
from kohorte.pages.charts.axis import ceiling
from kohorte.pages.charts.svg import LETTER, Drawing, Heading, bar, element, joined, line, path, silent, text
from kohorte.pages.style import short

WIDTH = 400
TEXT, THICK, GAP = 16, 9, 9
FIGURE = 130
"""The room for the figures beside two bars."""

TICKS = 4


@dataclass(frozen=True)
class Scale:
    """What a full bar stands for, in which unit, and how figures are written."""

    highest: float
    unit: str = ""
    shown: Callable[[float], str] = number

    def __post_init__(self) -> None:
        _refuse_figure(self.highest)

    def told(self, language: Language) -> Scale:
        """The same scale, with unit and figures in a language."""
        return replace(self, unit=language.tell(self.unit), shown=lambda figure: language.tell(self.shown(figure)))

    @classmethod
    def over(cls, figures: Sequence[float]) -> Scale:
        """A scale with a round end, for figures without a fixed one."""
        return cls(ceiling(max(figures, default=0.0)))


def shares_of(what: str) -> Scale:
    """The scale of shares, always from 0 to 100 %."""
    return Scale(1.0, f"share of {what}", percent)


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


def horizontal_bars(
    heading: Heading, bars: Sequence[Bar], *, scale: Scale | None = None, language: Language = ENGLISH
) -> Drawing:
    """Bars, one below the other; figures and the unit are written in the language, names as they are."""
    scale = (scale or Scale.over([one.value for one in bars])).told(language)
    parts, y = [], 4.0
    for one in (replace(one, shown=language.tell(one.shown)) for one in bars):
        parts.append(_words(y, one.label, one.shown))
        parts.append(
            bar(1, y + TEXT, _length(one.value, scale, WIDTH - 2), THICK, one.tone, _said(one.label, one.shown))
        )
        y += TEXT + THICK + GAP
    return _drawing(heading, y, _axis(scale, WIDTH - 2, 0, y), parts)


def paired_bars(
    heading: Heading,
    pairs: Sequence[Pair],
    *,
    names: tuple[str, str],
    scale: Scale | None = None,
    language: Language = ENGLISH,
) -> Drawing:
    """Two bars for each name, with their figures beside them; `names` are those of the two."""
    figures = [value or 0.0 for pair in pairs for value in (pair.first, pair.second)]
    scale = (scale or Scale.over(figures)).told(language)
    names = (language.tell(names[0]), language.tell(names[1]))
    room = WIDTH - FIGURE
    parts, y = [_legend(names)], 26.0
    for pair in pairs:
        parts.append(_words(y, pair.label, ""))
        sides = ((pair.first, pair.first_shown, "tone5"), (pair.second, pair.second_shown, "tone0"))
        for side, (value, figure, tone) in enumerate(sides):
            shown = language.tell(figure)
            top = y + TEXT + side * (THICK + 4)
            if value is not None:
                said = _said(f"{pair.label}, {names[side]}", shown)
                parts.append(bar(1, top, _length(value, scale, room), THICK, tone, said))
            parts.append(silent(text(WIDTH, top + THICK, _fitting(shown, FIGURE), "small soft end")))
        y += TEXT + 2 * THICK + 4 + GAP
    return _drawing(heading, y, _axis(scale, room, 22, y), parts)


def _length(value: float, scale: Scale, room: float) -> float:
    return min(value / scale.highest, 1.0) * room if scale.highest else 0.0


def _said(label: str, shown: str) -> str:
    return f"{label}: {shown}" if shown else label


def _words(y: float, label: str, shown: str) -> Markup:
    """The name at the left, the figure at the right; a name that is too long is cut."""
    figure = silent(text(WIDTH, y + 11, shown, "small soft end")) if shown else Markup()
    room = WIDTH - LETTER * len(shown) - 12
    cut = _fitting(label, room)
    return silent(text(5, y + 11, cut, "small", hint=label if cut != label else "")) + figure


def _fitting(words: str, room: float) -> str:
    return short(words, max(4, int(room / LETTER)))


def _axis(scale: Scale, room: float, top: float, bottom: float) -> Markup:
    """Lines at a few round figures, with the figures and the unit below."""
    places = [(1 + room * tick / TICKS, scale.highest * tick / TICKS) for tick in range(TICKS + 1)]
    outline = "".join(f"M{x:.1f} {top:g}V{bottom:g}" for x, _ in places[1:])
    parts = [path(outline, "grid"), line(1, top, 1, bottom, "axis")]
    for place, (x, figure) in enumerate(places):
        anchor = "" if place == 0 else " end" if place == TICKS else " mid"
        parts.append(silent(text(x, bottom + 14, scale.shown(figure), f"small soft{anchor}")))
    if scale.unit:
        parts.append(text(1, bottom + 29, scale.unit, "small soft"))
    return joined(parts)


def _legend(names: tuple[str, str]) -> Markup:
    second = 40 + LETTER * len(names[0])
    parts = (bar(1, 4, 12, 10, "tone5"), text(18, 13, names[0], "small"))
    others = (bar(second, 4, 12, 10, "tone0"), text(second + 18, 13, names[1], "small"))
    return element("g", {}, joined((*parts, *others)))


def _drawing(heading: Heading, bottom: float, axis: Markup, parts: Sequence[Markup]) -> Drawing:
    return Drawing(heading.name, heading.title, heading.caption, WIDTH, round(bottom + 36), axis + joined(parts))


def _refuse_figure(value: float) -> None:
    if not (math.isfinite(value) and value >= 0):
        raise InternalError("a bar needs a finite figure of at least 0", code="chart-data")
