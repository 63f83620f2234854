"""The regions of some releases side by side, two attributes at a time.

With more than two attributes a drawing is a slice: the regions that cover one position of each of the others. So
rectangles never overlap, and every one is as wide and as high as its region.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from kohorte.in_words import count
from kohorte.kernels.arrays import Floats
from kohorte.pages import Drawing
from kohorte.pages.charts.boxes import MOST_DRAWN, MOST_OUTLINED, outlined, shaded
from kohorte.pages.charts.svg import cut_text, joined, line, path, text
from kohorte.series.domain.axis import Axis
from kohorte.series.domain.regions import Regions
from kohorte.series.picture.story import Story
from kohorte.series.status.region_names import label_of

Numbers = NDArray[np.int64]

MOST_PAIRS = 3
MOST_PANELS = 6
ACROSS = 3
WIDE, HIGH = 290, 220
LEFT, GAP, TOP, BELOW = 84, 16, 26, 34
SHADES = (0.3, 0.1, 0.03, 0.01)
"""From which loss on a region has the palest shade, the next, and so on."""


@dataclass(frozen=True, eq=False)
class Slice:
    """Two attributes that are drawn, and a position of each of the others at which the regions are cut."""

    axes: Sequence[Axis]
    across: int
    up: int
    at: Numbers

    @classmethod
    def through(cls, axes: Sequence[Axis], regions: Regions, across: int, up: int) -> Slice:
        """A slice where regions are dense: at the median of their middles."""
        middles = (regions.lows + regions.highs - 1) // 2
        return cls(axes, across, up, np.median(middles, axis=0).astype(np.int64))

    def crossed(self, regions: Regions) -> Numbers:
        """The regions that the slice goes through."""
        inside = (regions.lows <= self.at) & (self.at < regions.highs)
        inside[:, [self.across, self.up]] = True
        return np.flatnonzero(inside.all(axis=1))

    def in_words(self) -> str:
        """Where the other attributes are cut."""
        others = [number for number in range(len(self.axes)) if number not in (self.across, self.up)]
        return ", ".join(
            f"{self.axes[number].name} {label_of(self.axes[number], int(self.at[number]), int(self.at[number]) + 1)}"
            for number in others
        )


def region_panels(story: Story) -> list[Drawing]:
    """One drawing for each pair of attributes, at most three."""
    axes = story.definition.axes
    most = MOST_PANELS - (story.definition.target is not None)
    drawn = [(one.title, one.regions) for one in story.some(most) if one.regions is not None]
    if not drawn or len(axes) < 2:
        return []
    pairs = list(combinations(range(len(axes)), 2))[:MOST_PAIRS]
    return [_drawing(story, drawn, Slice.through(axes, drawn[-1][1], *pair)) for pair in pairs]


def _drawing(story: Story, drawn: Sequence[tuple[str, Regions]], cut: Slice) -> Drawing:
    target = story.definition.target
    boxes = None if target is None else target.regions
    panels = [Panel(cut, title, regions, story.losses(regions), boxes) for title, regions in drawn]
    if boxes is not None:
        panels.append(Panel(cut, "target", boxes, story.losses(boxes), None, outlined=True))
    rows = -(-len(panels) // ACROSS)
    height = rows * (TOP + HIGH + BELOW)
    positions = [
        (LEFT + number % ACROSS * (WIDE + GAP), number // ACROSS * (TOP + HIGH + BELOW) + TOP)
        for number in range(len(panels))
    ]
    body = joined(panel.drawn(x, y) for panel, (x, y) in zip(panels, positions, strict=True))
    names = (cut.axes[cut.across].name, cut.axes[cut.up].name)
    return Drawing(
        f"regions-{cut.across}-{cut.up}",
        f"{names[0]} and {names[1]}",
        _caption(cut, panels),
        LEFT + ACROSS * WIDE + (ACROSS - 1) * GAP + 8,
        height,
        body,
    )


def _caption(cut: Slice, panels: Sequence[Panel]) -> str:
    told = [f"{cut.axes[cut.across].name} to the right, {cut.axes[cut.up].name} upwards."]
    if others := cut.in_words():
        told.append(f"A slice: only the regions that cover {others} are drawn, the median of where regions lie.")
    if any(panel.crossed > MOST_DRAWN for panel in panels if not panel.outlined):
        told.append(f"Of more than {count(MOST_DRAWN)} regions the smallest are one area in the shade of the finest.")
    if any(panel.outlined for panel in panels):
        told.append("The target's regions are outlined, over those of a release where they are few.")
    return " ".join(told)


@dataclass(frozen=True, eq=False)
class Panel:
    """The regions of one release in a slice."""

    cut: Slice
    title: str
    regions: Regions = field(repr=False)
    losses: Floats = field(repr=False)
    target: Regions | None = field(repr=False)
    outlined: bool = False

    @cached_property
    def chosen(self) -> Numbers:
        """The regions that the slice goes through."""
        return self.cut.crossed(self.regions)

    @property
    def crossed(self) -> int:
        """How many they are."""
        return len(self.chosen)

    def drawn(self, x: float, y: float) -> Markup:
        """The panel with its left upper corner at a position."""
        chosen, boxes = self.chosen, self._boxes(self.regions, self.chosen, x, y)
        frame = path(f"M{x:.1f} {y:.1f}h{WIDE}v{HIGH}h-{WIDE}z", "empty" if self.outlined else "cell0")
        parts = [self._words(x, y), frame]
        if self.outlined:
            parts.append(outlined(boxes))
        else:
            parts.append(shaded(boxes, shades_of(self.losses[chosen]), lambda number: self._name(int(chosen[number]))))
        if self.target is not None:
            crossed = self.cut.crossed(self.target)
            if len(crossed) <= MOST_OUTLINED:
                parts.append(outlined(self._boxes(self.target, crossed, x, y)))
        return joined(parts)

    def _boxes(self, regions: Regions, chosen: Numbers, x: float, y: float) -> Floats:
        """Left, top, width and height of regions in a panel that begins at a position."""
        across, up = (self.cut.axes[number].length for number in (self.cut.across, self.cut.up))
        lows, highs = regions.lows[chosen], regions.highs[chosen]
        left, right = lows[:, self.cut.across] * WIDE / across, highs[:, self.cut.across] * WIDE / across
        top, bottom = HIGH - highs[:, self.cut.up] * HIGH / up, HIGH - lows[:, self.cut.up] * HIGH / up
        return np.stack([x + left, y + top, right - left, bottom - top], axis=1)

    def _name(self, region: int) -> str:
        ends = [
            (self.cut.axes[number], int(self.regions.lows[region, number]), int(self.regions.highs[region, number]))
            for number in (self.cut.across, self.cut.up)
        ]
        return ", ".join(f"{axis.name} {label_of(axis, low, high)}" for axis, low, high in ends)

    def _words(self, x: float, y: float) -> Markup:
        """The title, and what stands at both ends of the axes."""
        across, up = self.cut.axes[self.cut.across], self.cut.axes[self.cut.up]
        total = len(self.regions)
        crossed = "" if self.crossed == total else f"{count(self.crossed)} of "
        first, last = across.ticks(0, across.length)
        low, high = up.ticks(0, up.length)
        parts = [
            text(x, y - 8, self.title, "small strong"),
            text(x + WIDE, y - 8, f"{crossed}{count(total, 'region')}", "small soft end"),
            cut_text(x, y + HIGH + 14, first, "small soft", 14),
            cut_text(x + WIDE / 2, y + HIGH + 14, across.name, "small mid", 14),
            cut_text(x + WIDE, y + HIGH + 14, last, "small soft end", 14),
            line(x, y + HIGH, x + WIDE, y + HIGH, "axis"),
            line(x, y, x, y + HIGH, "axis"),
        ]
        if x == LEFT:
            parts.append(cut_text(x - 6, y + HIGH / 2, up.name, "small end", 12))
            parts.append(cut_text(x - 6, y + HIGH, low, "small soft end", 12))
            parts.append(cut_text(x - 6, y + 10, high, "small soft end", 12))
        return joined(parts)


def shades_of(losses: Floats) -> Numbers:
    """The shade of each loss, from 0, the darkest, for the least."""
    palest: Numbers = len(SHADES) - np.searchsorted(-np.array(SHADES), -losses, side="left")
    return palest
