"""Regions: rectangles in a plane with two axes, such as the parts into which a table was cut."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kohorte.drawing.axis import Axis, number
from kohorte.drawing.style import short
from kohorte.drawing.svg import LETTER, Drawing, Heading, bar, line, text
from kohorte.errors import InternalError

WIDTH, HEIGHT = 760, 420
LEFT, TOP, RIGHT, BOTTOM = 66, 30, WIDTH - 16, HEIGHT - 48
TONES = 6
LINE = 14


@dataclass(frozen=True)
class Region:
    """A rectangle with a name; its tone is one of six, `hint` is shown when the mouse rests on it."""

    label: str
    left: float
    right: float
    low: float
    high: float
    tone: int = 0
    hint: str = ""

    def __post_init__(self) -> None:
        ends = (self.left, self.right, self.low, self.high)
        if not all(map(math.isfinite, ends)) or self.left > self.right or self.low > self.high:
            raise InternalError("a region needs finite ends, the smaller one first", code="chart-data")


def region_chart(
    heading: Heading, regions: Sequence[Region], *, axes: tuple[str, str], points: Sequence[tuple[float, float]] = ()
) -> Drawing:
    """Draw the regions, and points that may lie in them; `axes` are the words below and at the left."""
    across = Axis.over([x for one in regions for x in (one.left, one.right)] + [x for x, _ in points], LEFT, RIGHT)
    up = Axis.over([y for one in regions for y in (one.low, one.high)] + [y for _, y in points], BOTTOM, TOP)
    parts = [_axes(across, up, axes)]
    parts += [_region(one, across, up) for one in regions]
    parts += [_point(across.at(x), up.at(y)) for x, y in points]
    return Drawing(heading.name, heading.title, heading.caption, WIDTH, HEIGHT, "".join(parts))


def _axes(across: Axis, up: Axis, words: tuple[str, str]) -> str:
    parts = [
        text(LEFT - 8, 14, words[1], "small soft"),
        text((LEFT + RIGHT) / 2, HEIGHT - 8, words[0], "small soft mid"),
    ]
    for tick in up.ticks():
        parts.append(line(LEFT, up.at(tick), RIGHT, up.at(tick), "grid"))
        parts.append(text(LEFT - 8, up.at(tick) + 4, number(tick), "small soft end"))
    for tick in across.ticks():
        parts.append(line(across.at(tick), TOP, across.at(tick), BOTTOM, "grid"))
        parts.append(text(across.at(tick), BOTTOM + 18, number(tick), "small soft mid"))
    return "".join(parts) + line(LEFT, BOTTOM, RIGHT, BOTTOM, "axis") + line(LEFT, TOP, LEFT, BOTTOM, "axis")


def _region(one: Region, across: Axis, up: Axis) -> str:
    """The rectangle, with its name where there is room for it."""
    x, y = across.at(one.left), up.at(one.high)
    width, height = max(across.at(one.right) - x, 2.0), max(up.at(one.low) - y, 2.0)
    drawn = bar(x, y, width, height, f"area{one.tone % TONES}", one.hint or one.label)
    letters = int((width - 6) / LETTER)
    if height < LINE or letters < min(3, len(one.label)) or not one.label:
        return drawn
    return drawn + text(x + width / 2, y + height / 2 + 4, short(one.label, letters), "small mid")


def _point(x: float, y: float) -> str:
    return f'<path class="tone5" d="M{x - 2:.1f} {y:.1f}a2 2 0 1 0 4 0a2 2 0 1 0 -4 0z"/>\n'
