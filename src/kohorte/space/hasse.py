"""The Hasse diagram of a small lattice: a row per height, the most general node at the top."""

from __future__ import annotations

from collections import defaultdict

from markupsafe import Markup

from kohorte.lattice import Node
from kohorte.pages import Drawing
from kohorte.pages.charts.svg import bar, element, joined, path, text
from kohorte.space.drawing import rules
from kohorte.space.facts import Facts

MOST_NODES = 300
MOST_WIDE = 2400
LEAST_WIDE = 1160
ROW = 68
BOX = 24
CHARACTER = 6.7
CAPTION = (
    "Each box is a combination of levels, written in that order. Lines join boxes that differ "
    "by one step of one attribute; upwards is coarser."
)


def fits(facts: Facts) -> bool:
    """Whether the lattice is small enough for a legible Hasse diagram."""
    if len(facts.space.nodes) > MOST_NODES:
        return False
    widest = max(len(row) for row in _rows(facts).values())
    return widest * (_box_width(facts) + 8) <= MOST_WIDE


def hasse(facts: Facts) -> Drawing:
    """Draw the diagram."""
    rows = _rows(facts)
    pitch = _box_width(facts) + 8
    width = max(LEAST_WIDE, round(max(map(len, rows.values())) * pitch) + 20)
    positions = {}
    for height, row in rows.items():
        step = min(max(pitch, (width - 40) / len(row)), 2.2 * pitch)
        start = width / 2 - step * (len(row) - 1) / 2
        for number, node in enumerate(row):
            positions[node] = round(start + number * step, 1), (len(rows) - 1 - height) * ROW + 30
    body = _edges(facts, positions) + joined(_box(facts, index, positions) for index in range(len(facts.space.nodes)))
    return Drawing("hasse", facts.title, CAPTION, width, len(rows) * ROW - ROW + 60, body, rules())


def _rows(facts: Facts) -> dict[int, list[Node]]:
    rows = defaultdict(list)
    for node in facts.space.nodes:
        rows[sum(node.node)].append(node.node)
    return {height: sorted(row, reverse=True) for height, row in sorted(rows.items())}


def _box_width(facts: Facts) -> float:
    return len(_label(facts.space.levels(facts.space.lattice.top))) * CHARACTER + 12


def _label(node: Node) -> str:
    return " ".join(map(str, node))


def _edges(facts: Facts, positions: dict[Node, tuple[float, int]]) -> Markup:
    middle = facts.middle.node
    far: list[str] = []
    near: list[str] = []
    for node in positions:
        for above in facts.space.lattice.successors(node):
            (x, y), (to_x, to_y) = positions[node], positions[above]
            (near if middle in (node, above) else far).append(f"M{x:g} {y}L{to_x:g} {to_y}")
    return path("".join(far), "edges") + path("".join(near), "near")


def _box(facts: Facts, index: int, positions: dict[Node, tuple[float, int]]) -> Markup:
    """One node: shaded by its cost if it is a solution, otherwise hollow and dashed."""
    node = facts.space.nodes[index]
    x, y = positions[node.node]
    width = _box_width(facts)
    shade = f"s{facts.shades[index]}" if node.solution else "off dash"
    ink = f"t{facts.shades[index]}" if node.solution else "on-off"
    parts = [
        bar(x - width / 2, y - BOX / 2, width, BOX, shade, rx=5),
        text(x, y + 4, _label(facts.space.levels(node.node)), f"small mid {ink}"),
        _frame(facts, node.node, x, y),
    ]
    hint = f"{facts.levels(node)}: {facts.verdict(node)}"
    return element("g", {"class": "node", "data-node": index, "tabindex": 0}, joined(parts), hint)


def _frame(facts: Facts, node: Node, x: float, y: float) -> Markup:
    if node != facts.middle.node and node not in facts.neighbours:
        return Markup()
    kind, gap = ("ring", 4) if node == facts.middle.node else ("beside", 2.5)
    width, height = _box_width(facts) + 2 * gap, BOX + 2 * gap
    frame = bar(x - width / 2, y - height / 2, width, height, kind, rx=8)
    if kind == "beside":
        return frame
    below, words = y + height / 2 + 13, f"\u2605 {facts.mark}"
    return frame + text(x, below, words, "halo small mid") + text(x, below, words, "mark small mid")
