"""The map of a large lattice: a band per height, a cell per node, the best at the left."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from kohorte.drawing import Drawing, tooltip
from kohorte.release.picture.drawing import RULES
from kohorte.release.picture.facts import Facts, figure

WIDTH = 1160
GUTTER = 250
JOINED = 100_000
"""From so many nodes on, neighbouring cells of one shade are drawn as one bar, so that the file stays small."""

BAND = 16
CAPTION = (
    "Each cell is a combination of levels. A band holds all combinations of one height (the sum of the levels), the "
    "coarsest at the top; in a band the solutions come first, the cheapest at the left, then what is no solution, by "
    "suppressed rows. So the best of every height stands at the left end of its band."
)


@dataclass(frozen=True)
class CellMap(Drawing):
    """The map; `cells` tells the script where the nodes are."""

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
    for height, count in sorted(zip(*np.unique(heights, return_counts=True), strict=True), reverse=True):
        band = [int(index) for index in order[start : start + count]]
        grid = _Grid(top, pitch, across, joined=size > JOINED)
        parts.append(_band(facts, int(height), band, grid))
        bands.append([top, start, int(count)])
        start += int(count)
        top += max(-(-int(count) // across) * pitch, BAND) + 6
    cells = {"left": GUTTER, "pitch": pitch, "across": across, "bands": bands, "order": order.tolist()}
    return CellMap("map", facts.title, CAPTION, WIDTH, top + 6, "".join(parts), RULES, cells)


def _pitch(size: int) -> int:
    fitting = int(math.sqrt((WIDTH - GUTTER) * 800 / size))
    return min(max(fitting, 5 if size <= 60_000 else 1), 14)


class _Grid:
    """Where the cells of one band are."""

    def __init__(self, top: int, pitch: int, across: int, *, joined: bool) -> None:
        self.top, self.pitch, self.across, self.joined = top, pitch, across, joined
        self.cell = pitch if joined else pitch - 1

    def place(self, position: int) -> tuple[int, int]:
        """The upper left corner of a cell."""
        line, column = divmod(position, self.across)
        return GUTTER + column * self.pitch, self.top + line * self.pitch

    def path(self, start: int, stop: int) -> str:
        """The outlines of some cells, one after the other."""
        pieces = []
        while start < stop:
            end = min(stop, (start // self.across + 1) * self.across)
            x, y = self.place(start)
            if self.joined:
                pieces.append(f"M{x} {y}{_square((end - start) * self.pitch, self.pitch)}")
            else:
                square = _square(self.cell, self.cell)
                pieces.append(f"M{x} {y}{square}" + f"m{self.pitch} 0{square}" * (end - start - 1))
            start = end
        return "".join(pieces)


def _square(width: int, height: int) -> str:
    return f"h{width}v{height}h-{width}z"


def _band(facts: Facts, height: int, band: list[int], grid: _Grid) -> str:
    position = 0
    runs: list[str] = []
    frames: list[str] = []
    for _, members in groupby(band, key=lambda index: facts.shades[index]):
        count = sum(1 for _ in members)
        runs.append(_run(facts, height, grid.path(position, position + count), band[position], count))
        position += count
    for position, index in enumerate(band):
        node = facts.space.nodes[index]
        if node == facts.middle:
            frames.insert(0, _frame(facts, index, grid, position, "ring"))
        elif node.node in facts.neighbours:
            frames.append(_frame(facts, index, grid, position, "beside"))
    solutions = sum(facts.space.nodes[index].solution for index in band)
    return (
        f'<text class="small end" x="60" y="{grid.top + 10}">height {height}</text>'
        f'<text class="small soft end" x="156" y="{grid.top + 10}">{solutions:,} of {len(band):,}</text>\n'
        + "".join(runs + frames)
    )


def _run(facts: Facts, height: int, path: str, first: int, count: int) -> str:
    """Draw the cells of one shade in one band."""
    node, shade = facts.space.nodes[first], facts.shades[first]
    if node.solution:
        text = f"height {height}: {count:,} with {facts.metric} {facts.shade_names()[shade]}"
        text += f"; the best {figure(node.cost)}: {facts.levels(node)}"
    else:
        text = f"height {height}: {count:,} without a solution; the fewest suppressed rows {node.suppressed:,}"
    kind = f"s{shade} plain" if node.solution else "off"
    return f'<path class="cells {kind}" stroke-width="0.6" d="{path}">{tooltip(text)}</path>\n'


def _frame(facts: Facts, index: int, grid: _Grid, position: int, kind: str) -> str:
    """Mark the node in the middle, with a star in the gutter where it is the first of its band, or a neighbour."""
    node = facts.space.nodes[index]
    x, y = grid.place(position)
    gap = 3 if kind == "ring" else 1
    size = grid.cell + 2 * gap
    word = tooltip(f"{facts.levels(node)}: {facts.verdict(node)}")
    frame = (
        f'<rect class="{kind}" data-node="{index}" pointer-events="all" x="{x - gap}" y="{y - gap}" width="{size}" '
        f'height="{size}" rx="2">{word}</rect>\n'
    )
    if kind == "beside":
        return frame
    star = f"\u2605 {facts.mark} \u25b8"
    return f'{frame}<text class="mark small end" x="{GUTTER - 8}" y="{y + grid.cell / 2 + 4:g}">{star}</text>\n'
