"""Points in a plane, each with its name: a logarithmic axis to the right, an axis from 0 upwards."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from kohorte.pages.charts.axis import Axis, ceiling
from kohorte.pages.charts.labels import Box, place
from kohorte.pages.charts.rows import Kind, legend
from kohorte.pages.charts.svg import Drawing, Heading, joined, line, text

WIDTH, HEIGHT = 860, 460
FRAME = Box(64, 40, WIDTH - 20, HEIGHT - 48)
LEAST = 1e-5
"""Smaller values are drawn at this position, because a logarithmic axis has no 0."""

Shown = Callable[[float], str]


@dataclass(frozen=True)
class Point:
    """A point with its name, its kind and its tooltip."""

    label: str
    x: float
    y: float
    kind: Kind
    hint: str


def scatter(
    heading: Heading,
    points: Sequence[Point],
    *,
    axes: tuple[str, str],
    shown: tuple[Shown, Shown],
    kinds: Sequence[Kind],
    rules: str,
) -> Drawing:
    """Draw the points; `axes` are the words below and at the left, `shown` writes the figures of both."""
    powers = [math.log10(max(point.x, LEAST)) for point in points]
    first = math.floor(min(powers))
    across = Axis(first, max(math.ceil(max(powers)), first + 1), FRAME.left, FRAME.right)
    up = Axis(0, ceiling(max(point.y for point in points)), FRAME.bottom, FRAME.top)
    positions = [(across.at(power), up.at(max(point.y, 0.0))) for power, point in zip(powers, points, strict=True)]
    parts = [legend(kinds, FRAME.left + 6, 18), _axes(across, up, axes, shown)]
    named = [(x, y, point.label) for (x, y), point in zip(positions, points, strict=True)]
    for label, (x, y) in zip(place(named, FRAME), positions, strict=True):
        if label.far:
            end = min(max(x, label.box.left), label.box.right)
            parts.append(line(x, y, end, label.box.top if label.box.top > y else label.box.bottom, "leader"))
        parts.append(text(label.x, label.y, label.name, "small"))
    parts += [point.kind.mark(x, y, point.hint) for (x, y), point in zip(positions, points, strict=True)]
    return Drawing(heading.name, heading.title, heading.caption, WIDTH, HEIGHT, joined(parts), rules=rules)


def _axes(across: Axis, up: Axis, words: tuple[str, str], shown: tuple[Shown, Shown]) -> Markup:
    parts = []
    for power in range(round(across.low), round(across.high) + 1):
        x = across.at(power)
        parts.append(line(x, FRAME.top, x, FRAME.bottom, "grid"))
        parts.append(text(x, FRAME.bottom + 18, shown[0](10.0**power), "small soft mid"))
    for step in range(5):
        y = up.at(up.high * step / 4)
        parts.append(line(FRAME.left, y, FRAME.right, y, "grid" if step else "axis"))
        parts.append(text(FRAME.left - 8, y + 4, shown[1](up.high * step / 4), "small soft end"))
    parts.append(text((FRAME.left + FRAME.right) / 2, FRAME.bottom + 38, words[0], "small mid"))
    parts.append(text(FRAME.left, FRAME.top - 6, words[1], "small"))
    return joined(parts)
