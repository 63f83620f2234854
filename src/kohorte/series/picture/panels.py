"""The regions of some releases side by side, two attributes at a time.

With more than two attributes a drawing is a slice: the regions that cover one place of each of the others. So
rectangles never overlap, and every one is as wide and as high as its region.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from kohorte.drawing import Drawing, line, safe, short, text, tooltip
from kohorte.kernels.arrays import Floats
from kohorte.series.domain.axis import Axis
from kohorte.series.domain.regions import Regions
from kohorte.series.picture.story import Story
from kohorte.series.status.region_names import label_of

Numbers = NDArray[np.int64]

MOST_PAIRS = 3
MOST_PANELS = 6
MOST_DRAWN = 1500
"""How many rectangles of a slice are drawn; the smaller ones are left to the colour of what is finest."""
MOST_NAMED = 150
"""Up to how many rectangles each tells its labels."""
MOST_OUTLINED = 80
"""Up to how many regions of the target are drawn over those of a release."""
TINY = 3
"""Rectangles that are less wide or high have thin edges, which would cover them."""
ACROSS = 3
WIDE, HIGH = 290, 220
LEFT, GAP, TOP, BELOW = 84, 16, 26, 34
SHADES = (0.3, 0.1, 0.03, 0.01)
"""From which loss on a region has the palest shade, the next, and so on."""
RULES = """\
.cell0{fill:@shade0;stroke:@paper;stroke-width:.6}
.cell1{fill:@shade1;stroke:@paper;stroke-width:.6}
.cell2{fill:@shade2;stroke:@paper;stroke-width:.6}
.cell3{fill:@shade3;stroke:@paper;stroke-width:.6}
.cell4{fill:@shade4;stroke:@paper;stroke-width:.6}
.tiny{stroke-width:.2}
.target{fill:none;stroke:@mark;stroke-width:.9}
.dense{fill:none;stroke:@mark;stroke-width:.4}
.empty{fill:@panel}
"""


@dataclass(frozen=True, eq=False)
class Slice:
    """Two attributes that are drawn, and a place of each of the others at which the regions are cut."""

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
    places = [
        (LEFT + number % ACROSS * (WIDE + GAP), number // ACROSS * (TOP + HIGH + BELOW) + TOP)
        for number in range(len(panels))
    ]
    body = "".join(panel.drawn(x, y) for panel, (x, y) in zip(panels, places, strict=True))
    names = (cut.axes[cut.across].name, cut.axes[cut.up].name)
    return Drawing(
        f"regions-{cut.across}-{cut.up}",
        f"{names[0]} and {names[1]}",
        _caption(cut, panels),
        LEFT + ACROSS * WIDE + (ACROSS - 1) * GAP + 8,
        height,
        body,
        RULES,
    )


def _caption(cut: Slice, panels: Sequence[Panel]) -> str:
    told = [f"{cut.axes[cut.across].name} to the right, {cut.axes[cut.up].name} upwards."]
    if others := cut.in_words():
        told.append(f"A slice: only the regions that cover {others} are drawn, the median of where regions lie.")
    if any(panel.crossed > MOST_DRAWN for panel in panels if not panel.outlined):
        told.append(f"Of more than {MOST_DRAWN:,} regions the smallest are one area in the shade of the finest.")
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

    def drawn(self, x: float, y: float) -> str:
        """The panel with its left upper corner at a place."""
        chosen = self.chosen
        frame = f'<path class="{"empty" if self.outlined else "cell0"}" d="{outline(x, y, WIDE, HIGH)}"/>\n'
        parts = [self._words(x, y), frame]
        if self.outlined:
            parts.append(self._outlined(self.regions, chosen, x, y))
        else:
            parts.append(self._cells(chosen, x, y))
        if self.target is not None:
            boxes = self.cut.crossed(self.target)
            if len(boxes) <= MOST_OUTLINED:
                parts.append(self._outlined(self.target, boxes, x, y))
        return "".join(parts)

    def _cells(self, chosen: Numbers, x: float, y: float) -> str:
        """The rectangles, by shade: the finer, the darker."""
        boxes = self._boxes(self.regions, chosen)
        largest = np.argsort(-boxes[:, 2] * boxes[:, 3], kind="stable")[:MOST_DRAWN]
        shades = shades_of(self.losses[chosen])
        parts = []
        if len(chosen) <= MOST_NAMED:
            for number in largest.tolist():
                hint = tooltip(self._name(int(chosen[number])))
                parts.append(f'<path class="cell{shades[number]}" d="{_path(boxes[[number]], x, y)}">{hint}</path>\n')
            return "".join(parts)
        tiny = boxes[:, 2:].min(axis=1) < TINY
        for shade, edge in product(range(5), (False, True)):
            here = largest[(shades[largest] == shade) & (tiny[largest] == edge)]
            if len(here):
                kind = f"cell{shade}" + (" tiny" if edge else "")
                parts.append(f'<path class="{kind}" d="{_path(boxes[here], x, y)}"/>\n')
        return "".join(parts)

    def _outlined(self, regions: Regions, chosen: Numbers, x: float, y: float) -> str:
        boxes = self._boxes(regions, chosen)
        largest = np.argsort(-boxes[:, 2] * boxes[:, 3], kind="stable")[:MOST_DRAWN]
        kind = "target" if len(chosen) <= MOST_OUTLINED else "dense"
        return f'<path class="{kind}" d="{_path(boxes[largest], x, y)}"/>\n'

    def _boxes(self, regions: Regions, chosen: Numbers) -> Floats:
        """From the left, from the top, width and height of regions within the panel."""
        across, up = (self.cut.axes[number].length for number in (self.cut.across, self.cut.up))
        lows, highs = regions.lows[chosen], regions.highs[chosen]
        left, right = lows[:, self.cut.across] * WIDE / across, highs[:, self.cut.across] * WIDE / across
        top, bottom = HIGH - highs[:, self.cut.up] * HIGH / up, HIGH - lows[:, self.cut.up] * HIGH / up
        return np.stack([left, top, right - left, bottom - top], axis=1)

    def _name(self, region: int) -> str:
        ends = [
            (self.cut.axes[number], int(self.regions.lows[region, number]), int(self.regions.highs[region, number]))
            for number in (self.cut.across, self.cut.up)
        ]
        return ", ".join(f"{axis.name} {label_of(axis, low, high)}" for axis, low, high in ends)

    def _words(self, x: float, y: float) -> str:
        """The title, and what stands at both ends of the axes."""
        across, up = self.cut.axes[self.cut.across], self.cut.axes[self.cut.up]
        total = len(self.regions)
        count = f"{total:,} regions" if self.crossed == total else f"{self.crossed:,} of {total:,} regions"
        first, last = across.ticks(0, across.length)
        low, high = up.ticks(0, up.length)
        parts = [
            f'<text class="small strong" x="{x:.1f}" y="{y - 8:.1f}">{safe(self.title)} '
            f'<tspan class="soft">{safe(count)}</tspan></text>\n',
            text(x, y + HIGH + 14, short(first, 14), "small soft"),
            text(x + WIDE / 2, y + HIGH + 14, short(across.name, 14), "small mid"),
            text(x + WIDE, y + HIGH + 14, short(last, 14), "small soft end"),
            line(x, y + HIGH, x + WIDE, y + HIGH, "axis"),
            line(x, y, x, y + HIGH, "axis"),
        ]
        if x == LEFT:
            parts.append(text(x - 6, y + HIGH / 2, short(up.name, 12), "small end", hint=up.name))
            parts.append(text(x - 6, y + HIGH, short(low, 12), "small soft end", hint=low))
            parts.append(text(x - 6, y + 10, short(high, 12), "small soft end", hint=high))
        return "".join(parts)


def _path(boxes: Floats, x: float, y: float) -> str:
    return "".join(outline(x + left, y + top, wide, high) for left, top, wide, high in boxes.tolist())


def shades_of(losses: Floats) -> Numbers:
    """The shade of each loss, from 0, the darkest, for the least."""
    palest: Numbers = len(SHADES) - np.searchsorted(-np.array(SHADES), -losses, side="left")
    return palest


def outline(x: float, y: float, wide: float, high: float) -> str:
    """A rectangle as a part of a path."""
    return f"M{x:.1f} {y:.1f}h{wide:.1f}v{high:.1f}h-{wide:.1f}z"
