"""The Hasse diagram of a small lattice: a row per height, the most general node at the top."""

from __future__ import annotations

from collections import defaultdict

from kohorte.drawing import Drawing, tooltip
from kohorte.lattice import Node
from kohorte.release.picture.drawing import RULES
from kohorte.release.picture.facts import Facts

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
    """Tell whether a Hasse diagram of the lattice can be read."""
    if len(facts.space.nodes) > MOST_NODES:
        return False
    widest = max(len(row) for row in _rows(facts).values())
    return widest * (_box_width(facts) + 8) <= MOST_WIDE


def hasse(facts: Facts) -> Drawing:
    """Draw the diagram."""
    rows = _rows(facts)
    pitch = _box_width(facts) + 8
    width = max(LEAST_WIDE, round(max(map(len, rows.values())) * pitch) + 20)
    places = {}
    for height, row in rows.items():
        step = min(max(pitch, (width - 40) / len(row)), 2.2 * pitch)
        start = width / 2 - step * (len(row) - 1) / 2
        for number, node in enumerate(row):
            places[node] = round(start + number * step, 1), (len(rows) - 1 - height) * ROW + 30
    body = _edges(facts, places) + "".join(_box(facts, index, places) for index in range(len(facts.space.nodes)))
    return Drawing("hasse", facts.title, CAPTION, width, len(rows) * ROW - ROW + 60, body, RULES)


def _rows(facts: Facts) -> dict[int, list[Node]]:
    rows = defaultdict(list)
    for node in facts.space.nodes:
        rows[sum(node.node)].append(node.node)
    return {height: sorted(row, reverse=True) for height, row in sorted(rows.items())}


def _box_width(facts: Facts) -> float:
    return len(_label(facts.space.levels(facts.space.lattice.top))) * CHARACTER + 12


def _label(node: Node) -> str:
    return " ".join(map(str, node))


def _edges(facts: Facts, places: dict[Node, tuple[float, int]]) -> str:
    middle = facts.middle.node
    far: list[str] = []
    near: list[str] = []
    for node in places:
        for above in facts.space.lattice.successors(node):
            (x, y), (to_x, to_y) = places[node], places[above]
            (near if middle in (node, above) else far).append(f"M{x:g} {y}L{to_x:g} {to_y}")
    return f'<path class="edges" d="{"".join(far)}"/>\n<path class="near" d="{"".join(near)}"/>\n'


def _box(facts: Facts, index: int, places: dict[Node, tuple[float, int]]) -> str:
    """One node: filled by its cost where it is a solution, hollow and dashed where it is not."""
    node = facts.space.nodes[index]
    x, y = places[node.node]
    width = _box_width(facts)
    shade = f"s{facts.shades[index]}" if node.solution else "off dash"
    ink = f"t{facts.shades[index]}" if node.solution else "on-off"
    frame = _frame(facts, node.node, x, y)
    label = _label(facts.space.levels(node.node))
    return (
        f'<g class="node" data-node="{index}">{tooltip(f"{facts.levels(node)}: {facts.verdict(node)}")}'
        f'<rect class="{shade}" x="{x - width / 2:g}" y="{y - BOX / 2:g}" width="{width:g}" height="{BOX}" rx="5"/>'
        f'<text class="small mid {ink}" x="{x:g}" y="{y + 4}">{label}</text>{frame}</g>\n'
    )


def _frame(facts: Facts, node: Node, x: float, y: float) -> str:
    if node != facts.middle.node and node not in facts.neighbours:
        return ""
    kind, gap = ("ring", 4) if node == facts.middle.node else ("beside", 2.5)
    width, height = _box_width(facts) + 2 * gap, BOX + 2 * gap
    frame = (
        f'<rect class="{kind}" x="{x - width / 2:g}" y="{y - height / 2:g}" width="{width:g}" height="{height:g}" '
        'rx="8"/>'
    )
    if kind == "beside":
        return frame
    label = f'x="{x:g}" y="{y + height / 2 + 13:g}">\u2605 {facts.mark}</text>'
    return f'{frame}<text class="halo small mid" {label}<text class="mark small mid" {label}'
