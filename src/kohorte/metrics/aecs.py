"""Average equivalence class size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kohorte.groups import Groups, Marginals, Recoded
from kohorte.kernels.arrays import Bools, Floats
from kohorte.metrics.base import Costing, constant_parts


class _AecsCosting(Costing):
    raises_floor = True

    def __init__(self, marginals: Marginals, *, smallest_class: int, limit: int) -> None:
        super().__init__(marginals, smallest_class=smallest_class, limit=limit)
        self.monotone = limit == 0

    def make_parts(self) -> tuple[Floats, ...]:
        return constant_parts(self.marginals, self._floor(self.rows))

    def _size(self, classes: float | Floats) -> Floats:
        size: Floats = self.rows / (np.maximum(classes, 1) * self.smallest_class)
        return size

    def cost(self, groups: Groups, kept: Bools, suppressed: int) -> float:
        del groups
        return float(self._size(int(kept.sum()) + (suppressed > 0)))

    def floor(self, groups: Groups) -> float:
        """Count each large class of this node, and each `smallest_class` other rows, as a class: no cost is lower.

        A kept class of a generalization contains a large class of this node, or at least `smallest_class` rows of
        small ones. With `room = smallest_class * large classes + rows of small classes + excluded rows`, it has
        at most `room / smallest_class` kept classes.
        """
        large = groups.sizes >= self.smallest_class
        small_rows = int(groups.sizes[~large].sum())
        return self._floor(self.smallest_class * int(large.sum()) + small_rows + groups.excluded)

    def _floor(self, room: int) -> float:
        return self.rows / (room + self.smallest_class)

    def at_least(self, static: Floats, suppressed: float | Floats) -> Floats:
        """Subtract every suppressed row from the room, and count all of them as one class.

        A row that is suppressed in a class below the smallest size was in such a class here and is subtracted alone. A
        row in a class of exactly the smallest size is subtracted together with the class. Therefore
        `smallest_class * kept <= room - suppressed`, and the cost is that of `kept + 1` classes or, if nothing is
        suppressed, of at most `room / smallest_class`.
        """
        room = np.rint(self.rows / static)  # and one more class
        gone = np.maximum(suppressed, 1.0 if self.limit > 0 else self.smallest_class)
        raised: Floats = self._size((room - gone) // self.smallest_class)
        return raised


@dataclass(frozen=True)
class Aecs:
    """rows / (classes * smallest class size that the models require); all suppressed rows count as one more class.

    Monotone
        Without suppression only.
    Source
        LeFevre, DeWitt and Ramakrishnan, Mondrian Multidimensional k-Anonymity, ICDE 2006.
    """

    name: ClassVar[str] = "aecs"
    attributes: ClassVar[tuple[str, ...]] = ()

    def recoded(self, table: Recoded, *, smallest_class: int) -> float:
        """The kept classes, and one more if rows are suppressed."""
        classes = int(table.kept.sum()) + (table.suppressed > 0)
        return table.rows / (max(1, classes) * smallest_class)

    def costing(self, marginals: Marginals, *, smallest_class: int, limit: int) -> Costing:
        """Prepare the metric for a table."""
        return _AecsCosting(marginals, smallest_class=smallest_class, limit=limit)
