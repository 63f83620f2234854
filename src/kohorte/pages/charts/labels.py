"""Positions for the names of points, so that they cover neither each other nor the points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kohorte.pages.charts.svg import LETTER

HEIGHT, GAP = 14.0, 10.0
STEPS = 12


@dataclass(frozen=True)
class Box:
    """A rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    def common(self, other: Box) -> float:
        """The area that two rectangles share."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(0.0, width) * max(0.0, height)


@dataclass(frozen=True)
class Label:
    """A name at its position; `far` tells that it needs a line to its point."""

    name: str
    x: float
    y: float
    box: Box
    far: bool


def place(points: Sequence[tuple[float, float, str]], frame: Box) -> list[Label]:
    """Find a position for the name of every point: the nearest one that overlaps least with points and other names."""
    taken = [Box(x - 7, y - 7, x + 7, y + 7) for x, y, _ in points]
    labels = []
    for x, y, name in points:
        best = min(_candidates(x, y, name), key=lambda found: _badness(found, x, y, taken, frame))
        taken.append(best.box)
        labels.append(best)
    return labels


def _candidates(x: float, y: float, name: str) -> Iterator[Label]:
    width = LETTER * len(name)
    for step in range(STEPS):
        for down in {step * HEIGHT, -step * HEIGHT}:
            for left in (x + GAP, x - GAP - width, x - width / 2, x + 4 * GAP, x - 4 * GAP - width):
                if left == x - width / 2 and abs(down) < HEIGHT:
                    continue
                top = y + down - HEIGHT / 2
                box = Box(left, top, left + width, top + HEIGHT)
                yield Label(name, left, y + down + 4, box, step > 1 or abs(left - x) > 3 * GAP + width)


def _badness(label: Label, x: float, y: float, taken: Sequence[Box], frame: Box) -> float:
    box = label.box
    outside = (box.right - box.left) * HEIGHT - box.common(frame)
    covered = sum(box.common(other) for other in taken)
    nearest_x = min(max(x, box.left), box.right)
    distance = abs(nearest_x - x) + abs((box.top + box.bottom) / 2 - y)
    return 100 * outside + 10 * covered + distance
