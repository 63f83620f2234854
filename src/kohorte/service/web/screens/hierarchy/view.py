"""What the editor shows of a hierarchy: a part of its tree, and the rows of one label, page by page."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from kohorte.hierarchies import SUPPRESSED, Fault, LabelCount
from kohorte.service.datasets.hierarchy_editing import Edited
from kohorte.service.web.screens.hierarchy.changes import plain_json

MOST_NODES, MOST_BELOW = 150, 30
MOST_CELLS = 120
"""Labels that can be edited on one page."""
FAULTS = "faults"


@dataclass(frozen=True)
class Focus:
    """Which rows are shown: all, those with a fault, or those below a label of a level."""

    level: int | None = None
    label: str = ""
    faults: bool = False

    @classmethod
    def from_text(cls, text: str) -> Focus:
        """Read what a button says: `faults`, or a level and a label; anything else shows all rows."""
        level, _, label = text.partition(":")
        if level == FAULTS:
            return cls(faults=True)
        try:
            found = json.loads(label)
        except (ValueError, RecursionError):
            return cls()
        return cls(int(level), found) if level.isdecimal() and len(level) < 4 and isinstance(found, str) else cls()

    @property
    def text(self) -> str:
        """The same as text."""
        return FAULTS if self.faults else "" if self.level is None else f"{self.level}:{plain_json(self.label)}"


@dataclass(frozen=True)
class Node:
    """A label of the tree; `more` are labels below it that are not shown."""

    level: int
    label: str
    count: LabelCount
    faulty: bool
    below: tuple[Node, ...] = ()
    more: int = 0

    @property
    def focus(self) -> str:
        """What shows the rows below this label."""
        return Focus(self.level, self.label).text


@dataclass(frozen=True)
class Cell:
    """A label in its row, with what is wrong with it."""

    name: str
    label: str
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True)
class ShownRow:
    """A row of the page: its value is the first cell."""

    number: int
    cells: tuple[Cell, ...]
    count: LabelCount


@dataclass(frozen=True)
class View:
    """A page of the editor."""

    edited: Edited
    focus: Focus
    page: int
    pages: int
    rows: Sequence[ShownRow]
    tree: Node | None
    within: int


def view_of(edited: Edited, focus: Focus, page: int) -> View:
    """Return the page of the rows in focus; a broken hierarchy shows its faults first."""
    places: defaultdict[int, list[tuple[int, Fault]]] = defaultdict(list)
    for place in edited.places:
        places[place.row].append((place.level, place.fault))
    numbers = list(_in_focus(edited, focus))
    if not numbers and focus.text:
        focus, numbers = Focus(), list(range(len(edited.rows)))
    size = max(5, MOST_CELLS // max(1, edited.examination.levels))
    pages = max(1, -(-len(numbers) // size))
    page = min(max(page, 1), pages)
    rows = [_shown(edited, number, places[number]) for number in numbers[(page - 1) * size : page * size]]
    return View(edited, focus, page, pages, rows, _tree(edited, focus), len(numbers))


def _in_focus(edited: Edited, focus: Focus) -> Iterator[int]:
    if focus.faults:
        yield from sorted({place.row for place in edited.places if not place.fault.is_note})
        return
    for number, row in enumerate(edited.rows):
        if focus.level is None or (focus.level < len(row) and row[focus.level] == focus.label):
            yield number


def _shown(edited: Edited, number: int, found: Sequence[tuple[int, Fault]]) -> ShownRow:
    row = edited.rows[number]
    cells = tuple(
        Cell(f"cell-{number}-{level}", label, tuple(fault for at, fault in found if at == level))
        for level, label in enumerate(row)
    )
    return ShownRow(number, cells, edited.counts[0].get(row[0], LabelCount(1, 0, None)))


def _tree(edited: Edited, focus: Focus) -> Node | None:
    """The tree below the label in focus, as far as there is room: near labels first."""
    if not edited.rows:
        return None
    top = edited.examination.levels - 1
    level, label = (top, SUPPRESSED) if focus.level is None else (focus.level, focus.label)
    rows = [row for row in edited.rows if level == top or row[level] == label]
    wrong = {(place.level, edited.rows[place.row][place.level]) for place in edited.places if not place.fault.is_note}
    children = _children(rows, level)
    open_nodes, waiting, room = {(level, label)}, [(level, label)], MOST_NODES
    while waiting and room > 0:
        at = waiting.pop(0)
        below = list(children.get(at, ()))[:MOST_BELOW]
        if len(below) > room and at != (level, label):
            continue
        open_nodes.add(at)
        room -= len(below)
        waiting += below
    return _node(edited, (level, label), children, open_nodes, wrong)


def _children(rows: Sequence[Sequence[str]], level: int) -> dict[tuple[int, str], dict[tuple[int, str], None]]:
    found: defaultdict[tuple[int, str], dict[tuple[int, str], None]] = defaultdict(dict)
    top = len(rows[0]) - 1 if rows else 0
    for row in rows:
        for at in range(1, level + 1):
            parent = SUPPRESSED if at == top else row[at]
            found[at, parent][at - 1, row[at - 1]] = None
    return found


def _node(
    edited: Edited,
    at: tuple[int, str],
    children: dict[tuple[int, str], dict[tuple[int, str], None]],
    open_nodes: Collection[tuple[int, str]],
    wrong: Collection[tuple[int, str]],
) -> Node:
    level, label = at
    below = list(children.get(at, ()))
    shown = below[:MOST_BELOW] if at in open_nodes else []
    nodes = tuple(_node(edited, child, children, open_nodes, wrong) for child in shown)
    count = edited.counts[level].get(label) or _everything(edited)
    return Node(level, label, count, at in wrong, nodes, len(below) - len(shown))


def _everything(edited: Edited) -> LabelCount:
    counts = edited.counts[-1].values()
    people = [count.people for count in counts if count.people is not None]
    return LabelCount(
        sum(count.values for count in counts), sum(count.rows for count in counts), max(people, default=None)
    )
