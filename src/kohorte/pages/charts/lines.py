"""Line charts over time or numbers; each line has its name at its end."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from markupsafe import Markup

from kohorte.errors import InternalError
from kohorte.in_words import number
from kohorte.pages.charts.axis import Axis, Position, as_number, date_ticks
from kohorte.pages.charts.svg import LETTER, Drawing, Heading, cut_text, joined, line, mark, path, text

WIDTH, HEIGHT = 760, 320
TOP, BOTTOM, LEFT = 30, HEIGHT - 48, 66
MOST_LETTERS = 24
LABEL = 15.0
STRONG = 1.15
"""How much wider the bold letters of a name are."""
TONES = 6


@dataclass(frozen=True)
class Line:
    """A name and its points, from left to right: numbers or dates, and figures."""

    label: str
    points: tuple[tuple[Position, float], ...]

    def __post_init__(self) -> None:
        positions = [as_number(x) for x, _ in self.points]
        whole = all(math.isfinite(x) and math.isfinite(y) for (_, y), x in zip(self.points, positions, strict=True))
        if not whole or positions != sorted(positions):
            raise InternalError("a line needs finite points, from left to right", code="chart-data")


def line_chart(
    heading: Heading,
    lines: Sequence[Line],
    *,
    axes: tuple[str, str],
    shown: Callable[[float], str] = number,
    limit: tuple[str, float] | None = None,
    highest: float | None = None,
    places: Sequence[str] = (),
    counted: Callable[[float], str] = number,
) -> Drawing:
    """Draw the lines; `axes` are the words below and at the left, `limit` is a dashed line with its name.

    `shown` writes the figures, `counted` the numbers of the horizontal axis.
    All positions must be numbers, or all dates. If no figure can exceed `highest`, the vertical axis ends there.
    `places` are names for the positions 0, 1, 2, ..., if the values between them have no meaning or are too uneven.
    """
    right = WIDTH - 24 - STRONG * LETTER * min(MOST_LETTERS, max((len(one.label) for one in lines), default=0))
    positions = [x for one in lines for x, _ in one.points]
    heights = [y for one in lines for _, y in one.points] + ([] if limit is None else [limit[1]])
    across = Axis.over([as_number(x) for x in positions] or [0.0], LEFT, right)
    up = _upwards(heights) if highest is None else Axis(0.0, highest, BOTTOM, TOP)
    dates = any(isinstance(x, date) for x in positions)
    below = _below(across, positions, places, counted, dates=dates)
    named = {as_number(x): counted(as_number(x)) for x in positions} | dict(enumerate(places))
    parts = [_axes(across, up, axes, shown, below)]
    if limit is not None:
        parts.append(line(LEFT, up.at(limit[1]), right, up.at(limit[1]), "whisker dash"))
        parts.append(text(LEFT + 6, up.at(limit[1]) - 5, f"{limit[0]} {shown(limit[1])}", "small"))
    for tone, one in enumerate(lines):
        parts.append(_drawn(one, across, up, f"{tone % TONES}", shown, named))
    parts += _names(lines, across, up, right)
    return Drawing(heading.name, heading.title, heading.caption, WIDTH, HEIGHT, joined(parts))


def _upwards(heights: Sequence[float]) -> Axis:
    """The vertical axis; it starts at 0 unless a value is negative."""
    above = min(heights, default=0.0) >= 0
    return Axis.over(heights or [0.0], BOTTOM, TOP, from_zero=above)


def _few_whole(positions: Sequence[Position]) -> list[float]:
    """The positions themselves if they are a few whole numbers, such as those of releases."""
    distinct = sorted({as_number(x) for x in positions})
    return distinct if len(distinct) <= 12 and all(x == int(x) for x in distinct) else []


def _below(
    across: Axis,
    positions: Sequence[Position],
    places: Sequence[str],
    counted: Callable[[float], str],
    *,
    dates: bool,
) -> list[tuple[float, str]]:
    """The labels of the horizontal axis."""
    if places:
        return [(float(position), place) for position, place in enumerate(places)]
    if dates:
        return date_ticks(across)
    return [(tick, counted(tick)) for tick in _few_whole(positions) or across.ticks()]


def _axes(
    across: Axis,
    up: Axis,
    words: tuple[str, str],
    shown: Callable[[float], str],
    below: Sequence[tuple[float, str]],
) -> Markup:
    parts = [text(LEFT - 8, 14, words[1], "small soft")]
    for tick in up.ticks(5):
        parts.append(line(LEFT, up.at(tick), across.end, up.at(tick), "grid" if tick != up.low else "axis"))
        parts.append(text(LEFT - 8, up.at(tick) + 4, shown(tick), "small soft end"))
    for tick, label in below:
        parts.append(line(across.at(tick), BOTTOM, across.at(tick), BOTTOM + 4, "axis"))
        parts.append(text(across.at(tick), BOTTOM + 18, label, "small soft mid"))
    parts.append(text((LEFT + across.end) / 2, BOTTOM + 38, words[0], "small soft mid"))
    return joined(parts)


def _drawn(
    one: Line, across: Axis, up: Axis, tone: str, shown: Callable[[float], str], places: Mapping[float, str]
) -> Markup:
    positions = [(across.at(as_number(x)), up.at(y)) for x, y in one.points]
    outline = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in positions)
    drawn = path(outline, f"stroke{tone}") if len(positions) > 1 else Markup()
    marks = (
        mark(x, y, f"tone{tone}", f"{one.label}, {_named(at, places)}: {shown(value)}")
        for (x, y), (at, value) in zip(positions, one.points, strict=True)
    )
    return drawn + joined(marks)


def _named(at: Position, places: Mapping[float, str]) -> str:
    return str(at) if isinstance(at, date) else places[at]


def _names(lines: Sequence[Line], across: Axis, up: Axis, right: float) -> list[Markup]:
    """The names at the ends of the lines, moved apart if they would overlap."""
    ends = [(up.at(one.points[-1][1]), tone, one) for tone, one in enumerate(lines) if one.points]
    positions = spread([y for y, _, _ in ends], LABEL, TOP, BOTTOM)
    parts = []
    for (y, tone, one), at in zip(ends, positions, strict=True):
        end = across.at(as_number(one.points[-1][0]))
        if abs(at - y) > LABEL / 3 or right - end > LABEL:
            parts.append(line(end + 6, y, right + 2, at, "leader"))
        parts.append(cut_text(right + 6, at + 4, one.label, f"small strong tone{tone % TONES}", MOST_LETTERS))
    return parts


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions near the wanted ones, in the same order and at least a gap apart, between the ends if possible."""
    order = sorted(range(len(wanted)), key=lambda position: wanted[position])
    found = [0.0] * len(wanted)
    last = low - gap
    for position in order:
        found[position] = last = max(wanted[position], last + gap)
    last = high + gap
    for position in reversed(order):
        found[position] = last = min(found[position], last - gap)
    return found
