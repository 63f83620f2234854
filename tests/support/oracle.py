"""The definitions, cell by cell, in plain Python: slow, obvious, and without a line of the package.

Source: spec 1.1 and 1.3, equations 2.19 to 2.29 and 3.3 to 3.5 of the dissertation. Where they are silent, the
documentation of the package decides: a missing value is a value of its own below `*` (policy "category") or its
row is always suppressed (policy "suppress"); the entropies leave rows that are always suppressed out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from math import log2

from support.tables import SmallTable

Row = tuple[str | None, ...]
Node = tuple[int, ...]


@dataclass(frozen=True)
class Judged:
    """What the oracle found at a node; `keeps` tells of each row whether it stays."""

    table: SmallTable
    node: Node
    smallest_class: int
    shown: tuple[Row, ...]
    included: tuple[bool, ...]
    keeps: tuple[bool, ...]

    @property
    def sizes(self) -> Counter[Row]:
        return Counter(row for row, included in zip(self.shown, self.included, strict=True) if included)

    @property
    def suppressed(self) -> int:
        return self.keeps.count(False)

    @property
    def kept_classes(self) -> set[Row]:
        return {row for row, keeps in zip(self.shown, self.keeps, strict=True) if keeps}

    @property
    def weights(self) -> tuple[float, ...]:
        return self.table.weights or (1.0,) * len(self.node)

    @property
    def share_of_top(self) -> list[float]:
        """How far up each attribute is: level / highest level."""
        return [level / (len(levels) - 1) for level, levels in zip(self.node, self.table.levels, strict=True)]

    def cost(self, metric: str) -> float:
        return COSTS[metric](self)


def nodes(table: SmallTable) -> list[Node]:
    """All nodes, by levels from left to right."""
    return list(product(*(range(len(levels)) for levels in table.levels)))


def judge(table: SmallTable, node: Node, holds: Callable[[int], bool], smallest_class: int) -> Judged:
    """Generalize, group and suppress: `holds` tells whether a class of so many rows satisfies the models."""
    shown = tuple(generalize(table, row, node) for row in table.rows)
    included = tuple(table.missing != "suppress" or None not in row for row in table.rows)
    sizes = Counter(row for row, inside in zip(shown, included, strict=True) if inside)
    keeps = tuple(inside and holds(sizes[row]) for row, inside in zip(shown, included, strict=True))
    return Judged(table, node, smallest_class, shown, included, keeps)


def generalize(table: SmallTable, row: Row, node: Node) -> Row:
    return tuple(label(levels, value, level) for levels, value, level in zip(table.levels, row, node, strict=True))


def label(levels: tuple[tuple[str, ...], ...], value: str | None, level: int) -> str | None:
    if value is None:
        return "*" if level == len(levels) - 1 else None
    return levels[level][levels[0].index(value)]


def height(judged: Judged) -> float:
    return sum(weight * level for weight, level in zip(judged.weights, judged.node, strict=True))


def weighted_mean(judged: Judged, values: list[float]) -> float:
    total = sum(weight * value for weight, value in zip(judged.weights, values, strict=True))
    return total / sum(judged.weights)


def precision_monotone(judged: Judged) -> float:
    return weighted_mean(judged, judged.share_of_top)


def precision(judged: Judged) -> float:
    of_kept_row = weighted_mean(judged, judged.share_of_top)
    return sum(of_kept_row if keeps else 1.0 for keeps in judged.keeps) / len(judged.keeps)


def loss(judged: Judged) -> float:
    total = 0.0
    for row, keeps in zip(judged.shown, judged.keeps, strict=True):
        total += weighted_mean(judged, [cell_loss(judged, *cell) for cell in enumerate(row)]) if keeps else 1
    return total / len(judged.keeps)


def cell_loss(judged: Judged, attribute: int, shown: str | None) -> float:
    if shown is None:
        return 0.0
    labels = judged.table.levels[attribute][judged.node[attribute]]
    return (labels.count(shown) - 1) / (len(labels) - 1)


def aecs(judged: Judged) -> float:
    classes = len(judged.kept_classes) + (judged.suppressed > 0)
    return len(judged.keeps) / (classes * judged.smallest_class)


def discernibility(judged: Judged) -> float:
    kept = sum(judged.sizes[row] ** 2 for row in judged.kept_classes)
    return kept + len(judged.keeps) * judged.suppressed


def discernibility_monotone(judged: Judged) -> float:
    return sum(size**2 for size in judged.sizes.values())


def guesses(judged: Judged) -> list[tuple[float, float]]:
    """Of every cell of an included row: the weight of its attribute, and X of equation 2.28."""
    inside = [
        (row, shown)
        for row, shown, included in zip(judged.table.rows, judged.shown, judged.included, strict=True)
        if included
    ]
    cells = []
    for attribute, weight in enumerate(judged.weights):
        for row, shown in inside:
            originals = sum(other[attribute] == row[attribute] for other, _ in inside)
            alike = sum(other[attribute] == shown[attribute] for _, other in inside)
            cells.append((weight, originals / alike))
    return cells


def entropy(judged: Judged) -> float:
    return -sum(weight * guess * log2(guess) for weight, guess in guesses(judged))


def non_uniform_entropy(judged: Judged) -> float:
    return -sum(weight * log2(guess) for weight, guess in guesses(judged))


def non_uniform_entropy_suppression(judged: Judged) -> float:
    gone = [
        shown
        for shown, included, keeps in zip(judged.shown, judged.included, judged.keeps, strict=True)
        if included and not keeps
    ]
    told = 0.0
    for attribute, weight in enumerate(judged.weights):
        for row in gone:
            alike = sum(other[attribute] == row[attribute] for other in gone)
            told -= weight * log2(alike / len(gone))
    return non_uniform_entropy(judged) + told


COSTS: dict[str, Callable[[Judged], float]] = {
    cost.__name__: cost
    for cost in (
        height,
        precision,
        precision_monotone,
        loss,
        aecs,
        discernibility,
        discernibility_monotone,
        entropy,
        non_uniform_entropy,
        non_uniform_entropy_suppression,
    )
}
