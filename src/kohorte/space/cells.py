"""The map of a large lattice: one band per height, one square per node, the best node on the left."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
from markupsafe import Markup

from kohorte.in_words import cost, count
from kohorte.pages import Drawing
from kohorte.pages.charts.svg import bar, joined, path, text
from kohorte.space.drawing import rules
from kohorte.space.facts import Facts

WIDTH = 1160
GUTTER = 250
JOINED = 100_000
"""With more nodes than this, neighbouring squares of one shade are drawn as one bar, so that the file stays small."""

BAND = 16
CAPTION = (
    "Each cell is a combination of levels. A band holds all combinations of one height (the sum of the levels), the "
    "coarsest at the top; in a band the solutions come first, the cheapest at the left, then the other combinations, "
    "by suppressed rows. So the best of every height is at the left end of its band."
)


@dataclass(frozen=True)
class CellMap(Drawing):
    """The map; `cells` contains the layout of the squares, for the script."""

    cells: dict[str, object] = field(default_factory=dict)


def cell_map(facts: Facts) -> CellMap:
    """Draw the map."""
    size = len(facts.space.nodes)
    pitch = _pitch(size)
    across = (WIDTH - GUTTER - 10) // pitch
    heights = facts.space.lattice.heights.ravel()
    suppressed = np.array([node.suppressed for node in facts.space.nodes])
    # Solutions by cost, then the others by suppressed rows; the order of the lattice breaks ties.
    order = np.lexsort((suppressed * np.isinf(facts.costs), facts.costs, -heights))
    parts, bands, top, start = [], [], 12, 0
    for height, number in sorted(zip(*np.unique(heights, return_counts=True), strict=True), reverse=True):
        band = [int(index) for index in order[start : start + number]]
        grid = Grid(top, pitch, across, joined=size > JOINED)
        parts.append(_band(facts, int(height), band, grid))
        bands.append([top, start, int(number)])
        start += int(number)
        top += max(-(-int(number) // across) * pitch, BAND) + 6
    cells = {"left": GUTTER, "pitch": pitch, "across": across, "bands": bands, "order": order.tolist()}
    return CellMap("map", facts.title, CAPTION, WIDTH, top + 6, joined(parts), rules(), cells)


def _pitch(size: int) -> int:
    fitting = int(math.sqrt((WIDTH - GUTTER) * 800 / size))
    return min(max(fitting, 5 if size <= 60_000 else 1), 14)


class Grid:
    """The layout of the squares of one band."""

    def __init__(self, top: int, pitch: int, across: int, *, joined: bool = False, left: int = GUTTER) -> None:
        self.top, self.pitch, self.across, self.joined, self.left = top, pitch, across, joined, left
        self.cell = pitch if joined else pitch - 1

    def corner(self, position: int) -> tuple[int, int]:
        """The upper left corner of a square."""
        line, column = divmod(position, self.across)
        return self.left + column * self.pitch, self.top + line * self.pitch

    def path(self, start: int, stop: int) -> str:
        """The outlines of the squares from `start` to `stop`, as an SVG path."""
        pieces = []
        while start < stop:
            end = min(stop, (start // self.across + 1) * self.across)
            x, y = self.corner(start)
            if self.joined:
                pieces.append(f"M{x} {y}{_square((end - start) * self.pitch, self.pitch)}")
            else:
                square = _square(self.cell, self.cell)
                pieces.append(f"M{x} {y}{square}" + f"m{self.pitch} 0{square}" * (end - start - 1))
            start = end
        return "".join(pieces)


def _square(width: int, height: int) -> str:
    return f"h{width}v{height}h-{width}z"


def _band(facts: Facts, height: int, band: list[int], grid: Grid) -> Markup:
    position = 0
    runs: list[Markup] = []
    frames: list[Markup] = []
    for _, members in groupby(band, key=lambda index: facts.shades[index]):
        number = sum(1 for _ in members)
        runs.append(_run(facts, height, grid.path(position, position + number), band[position], number))
        position += number
    for position, index in enumerate(band):
        node = facts.space.nodes[index]
        if node == facts.middle:
            frames.insert(0, _frame(facts, index, grid, position, "ring"))
        elif node.node in facts.neighbours:
            frames.append(_frame(facts, index, grid, position, "beside"))
    solutions = sum(facts.space.nodes[index].solution for index in band)
    words = [
        text(60, grid.top + 10, f"height {height}", "small end"),
        text(156, grid.top + 10, f"{count(solutions)} of {count(len(band))}", "small soft end"),
    ]
    return joined([*words, *runs, *frames])


def _run(facts: Facts, height: int, outline: str, first: int, number: int) -> Markup:
    """Draw the squares of one shade in one band."""
    node, shade = facts.space.nodes[first], facts.shades[first]
    hint = f"height {height}: {count(number)} without a solution; the fewest suppressed rows {count(node.suppressed)}"
    if node.solution:
        hint = f"height {height}: {count(number)} with {facts.metric} {facts.shade_names()[shade]}"
        hint += f"; the best {cost(node.cost)}: {facts.levels(node)}"
    return path(outline, f"cells s{shade}" if node.solution else "cells off", hint, stroke_width=0.6)


def _frame(facts: Facts, index: int, grid: Grid, position: int, kind: str) -> Markup:
    """Frame the central node, with a star at the left margin, or one of its neighbours."""
    node = facts.space.nodes[index]
    x, y = grid.corner(position)
    gap = 3 if kind == "ring" else 1
    size = grid.cell + 2 * gap
    hint = f"{facts.levels(node)}: {facts.verdict(node)}"
    frame = bar(x - gap, y - gap, size, size, kind, hint, data_node=index, pointer_events="all", rx=2, tabindex=0)
    if kind == "beside":
        return frame
    return frame + text(GUTTER - 8, y + grid.cell / 2 + 4, f"\u2605 {facts.mark} \u25b8", "mark small end")
