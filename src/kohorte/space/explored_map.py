"""The picture of a space that is being explored: one band per height, one square per node, the best on the left."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
from markupsafe import Markup

from kohorte.kernels.arrays import Bools, Integers
from kohorte.languages import Language, translatable
from kohorte.lattice import Node
from kohorte.pages.charts.svg import bar, element, joined, path, text
from kohorte.space.cells import Grid
from kohorte.space.exploration import Exploration
from kohorte.space.facts import SHADES

WIDTH, GUTTER, TALLEST = 660, 172, 700
OFF, OPEN = len(SHADES), len(SHADES) + 1
"""The kinds of squares after the shades of solutions: not a solution, and not counted yet."""
STYLES = (*(f"s{number}" for number in range(len(SHADES))), "off", "open")
HEIGHT, SOLUTIONS = translatable("height %(height)s"), translatable("%(some)s of %(all)s")


@dataclass(frozen=True)
class ExploredMap:
    """The picture: its size, its body, and `cells`, the layout of its squares for a script."""

    height: int
    body: Markup
    cells: dict[str, object]
    kinds: tuple[str, ...]
    ends: tuple[float, ...] = field(default=())
    width: int = WIDTH


def explored_map(space: Exploration, shown: Bools, language: Language, at: Node) -> ExploredMap:
    """Draw the nodes that are `shown`, with frames around the node `at` and those one step away from it."""
    ends = _ends(space)
    kinds = _kinds(space, ends)
    heights = space.lattice.heights.ravel()
    costs = np.where(np.isfinite(space.costs), space.costs, 0.0)
    order = np.lexsort((space.suppressed, costs, kinds, -heights))
    order = order[shown[order]]
    drawn = _Drawn(space, kinds, language, at, pitch=_pitch(len(order)))
    for height, members in groupby(order.tolist(), key=lambda index: int(heights[index])):
        drawn.band(height, list(members))
    cells = {"left": GUTTER, "pitch": drawn.pitch, "across": drawn.across, "bands": drawn.bands}
    cells |= {"order": order.tolist(), "shape": space.lattice.shape, "at": space.index(at)}
    cells |= {"lowest": list(space.plan.minimum_levels.values()), "best": space.index(space.middle.node)}
    found = tuple(STYLES[kind] for kind in sorted(set(kinds[order].tolist())))
    body = joined([*drawn.parts, element("g", {"class": "frames"}, joined(drawn.frames))])
    return ExploredMap(drawn.top + 4, body, cells, found, ends)


def _ends(space: Exploration) -> tuple[float, ...]:
    """The lowest cost, and the highest of each shade; a single shade if all solutions cost the same."""
    solved = space.costs[np.isfinite(space.costs)]
    if not len(solved):
        return ()
    best, worst = float(solved.min()), float(solved.max())
    if best == worst:
        return best, worst
    return best, *(best + share * (worst - best) for share in SHADES[:-1]), worst


def _kinds(space: Exploration, ends: tuple[float, ...]) -> Integers:
    kinds = np.searchsorted(np.array(ends[1:]), space.costs, side="left")
    kinds = np.where(np.isinf(space.costs), OFF, np.minimum(kinds, OFF - 1))
    return np.asarray(np.where(np.isnan(space.costs), OPEN, kinds), dtype=np.int64)


def _pitch(nodes: int) -> int:
    return min(max(int(math.sqrt((WIDTH - GUTTER) * TALLEST / max(nodes, 1))), 5), 16)


class _Drawn:
    """The bands that have been drawn so far, from the top."""

    def __init__(self, space: Exploration, kinds: Integers, language: Language, at: Node, *, pitch: int) -> None:
        self.kinds, self.language = kinds, language
        beside = (*space.lattice.successors(at), *space.lattice.predecessors(at))
        self.framed = {space.index(at): "ring"} | {space.index(node): "beside" for node in beside}
        self.pitch, self.across = pitch, (WIDTH - GUTTER - 4) // pitch
        self.parts: list[Markup] = []
        self.frames: list[Markup] = []
        self.bands: list[list[int]] = []
        self.top, self.start = 6, 0

    def band(self, height: int, members: list[int]) -> None:
        """Draw all nodes of one height."""
        grid = Grid(self.top, self.pitch, self.across, left=GUTTER)
        self.bands.append([self.top, self.start, len(members)])
        self.parts += self._words(height, members)
        position = 0
        for kind, same in groupby(members, key=lambda index: int(self.kinds[index])):
            number = sum(1 for _ in same)
            outline = grid.path(position, position + number)
            self.parts.append(path(outline, f"cells {STYLES[kind]}", stroke_width=0.6))
            position += number
        self.frames += [self._frame(grid, place, index) for place, index in enumerate(members) if index in self.framed]
        self.start += len(members)
        self.top += max(-(-len(members) // self.across) * self.pitch, 16) + 6

    def _words(self, height: int, members: list[int]) -> list[Markup]:
        solutions = int((self.kinds[members] < OFF).sum())
        number = self.language.number
        told = {"some": number(solutions), "all": number(len(members))}
        return [
            text(4, self.top + 11, self.language.gettext(HEIGHT) % {"height": height}, "small"),
            text(GUTTER - 8, self.top + 11, self.language.gettext(SOLUTIONS) % told, "small soft end"),
        ]

    def _frame(self, grid: Grid, place: int, index: int) -> Markup:
        """The frame of the chosen node, or of one that is a single step away."""
        x, y = grid.corner(place)
        gap = 2 if self.framed[index] == "ring" else 1
        size = grid.cell + 2 * gap
        return bar(x - gap, y - gap, size, size, self.framed[index], rx=2)
