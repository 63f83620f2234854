"""Average equivalence class size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kohorte.groups import Groups, Marginals
from kohorte.kernels.arrays import Bools, Floats
from kohorte.quality.base import Costing, constant_parts


class _AecsCosting(Costing):
    raises_floor = True

    def __init__(self, marginals: Marginals, *, smallest_class: int, limit: int) -> None:
        super().__init__(marginals, smallest_class=smallest_class, limit=limit)
        self.monotone = limit == 0

    def make_parts(self) -> tuple[Floats, ...]:
        return constant_parts(self.marginals, float(self._size(self.rows // self.smallest_class + 1)))

    def _size(self, classes: float | Floats) -> Floats:
        size: Floats = self.rows / (np.maximum(classes, 1) * self.smallest_class)
        return size

    def cost(self, groups: Groups, kept: Bools, suppressed: int) -> float:
        del groups
        return float(self._size(int(kept.sum()) + (suppressed > 0)))

    def floor(self, groups: Groups) -> float:
        """A kept class of a generalization holds a large class of this node, or small ones of enough rows."""
        large = groups.sizes >= self.smallest_class
        small_rows = int(groups.sizes[~large].sum())
        whole, rest = divmod(small_rows, self.smallest_class)
        suppressed_class = self.limit > 0 and (rest > 0 or groups.excluded > 0)
        return float(self._size(int(large.sum()) + whole + suppressed_class))

    def at_least(self, static: Floats, suppressed: float | Floats) -> Floats:
        raised: Floats = np.maximum(static, self._size((self.rows - suppressed) // self.smallest_class + 1))
        return raised


@dataclass(frozen=True)
class Aecs:
    """rows / (classes * smallest class size that the models ask for); all suppressed rows count as one more class.

    Monotone
        Without suppression only.
    Source
        LeFevre et al., Mondrian Multidimensional k-Anonymity, ICDE 2006; equation 2.24.
    """

    name: ClassVar[str] = "aecs"

    def costing(self, marginals: Marginals, *, smallest_class: int, limit: int) -> Costing:
        """Make the metric ready for a table."""
        return _AecsCosting(marginals, smallest_class=smallest_class, limit=limit)
