"""Discernibility: from how many rows a row cannot be distinguished."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kohorte.groups import Groups, Marginals, Recoded
from kohorte.kernels.arrays import Bools, Floats
from kohorte.metrics.base import Costing, constant_parts


class _MonotoneCosting(Costing):
    monotone = True
    raises_floor = True

    def make_parts(self) -> tuple[Floats, ...]:
        counted = int(self.marginals.columns[0].counts.sum())
        return constant_parts(self.marginals, float(counted))

    def cost(self, groups: Groups, kept: Bools, suppressed: int) -> float:
        del kept, suppressed
        return self.floor(groups)

    def floor(self, groups: Groups) -> float:
        return float(groups.sizes @ groups.sizes)


class _DiscernibilityCosting(Costing):
    raises_floor = True

    def __init__(self, marginals: Marginals, *, smallest_class: int, limit: int) -> None:
        self._least = min(marginals.rows, smallest_class)
        self._excluded = marginals.rows - int(marginals.columns[0].counts.sum())
        super().__init__(marginals, smallest_class=smallest_class, limit=limit)
        self.monotone = limit == 0

    def make_parts(self) -> tuple[Floats, ...]:
        counted = self.rows - self._excluded
        return constant_parts(self.marginals, float(counted * self._least + self._excluded * self.rows))

    def cost(self, groups: Groups, kept: Bools, suppressed: int) -> float:
        sizes = groups.sizes[kept]
        return float(sizes @ sizes + self.rows * suppressed)

    def floor(self, groups: Groups) -> float:
        """A row counts at least its class here, and at least the smallest class that may be kept."""
        least = np.minimum(np.maximum(groups.sizes, self.smallest_class), self.rows)
        return float(groups.sizes @ least + self.rows * groups.excluded)

    def at_least(self, static: Floats, suppressed: float | Floats) -> Floats:
        """A suppressed row counts as all rows, whereas the floor counts the smallest class.

        This holds for rows that are suppressed in a class no larger than the smallest: they were in such a class at
        finer nodes, too. Excluded rows already count as all rows in the floor.
        """
        raised: Floats = static + (suppressed - self._excluded) * (self.rows - self._least)
        return raised

    def most_suppressed(self, cost: float) -> float:
        if self._least == self.rows:  # then every node costs the same
            return self.rows
        return (cost - self.rows * self._least) / (self.rows - self._least)


@dataclass(frozen=True)
class DiscernibilityMonotone:
    """The sum of |E|^2 over all classes, also those that will be suppressed.

    Monotone
        Yes.
    Source
        El Emam et al., A Globally Optimal k-Anonymity Method for the De-Identification of Health Data, JAMIA
        16(5), 2009; taken over all classes, because without the suppressed classes it would not be monotone.
    """

    name: ClassVar[str] = "discernibility_monotone"
    attributes: ClassVar[tuple[str, ...]] = ()

    def recoded(self, table: Recoded, *, smallest_class: int) -> float:
        """All classes, before suppression."""
        del smallest_class
        return float(table.sizes @ table.sizes)

    def costing(self, marginals: Marginals, *, smallest_class: int, limit: int) -> Costing:
        """Prepare the metric for a table."""
        return _MonotoneCosting(marginals, smallest_class=smallest_class, limit=limit)


@dataclass(frozen=True)
class Discernibility:
    """The sum of |E|^2 over kept classes, plus all rows for every suppressed row.

    Monotone
        Without suppression only.
    Source
        Bayardo and Agrawal, Data Privacy through Optimal k-Anonymization, ICDE 2005.
    """

    name: ClassVar[str] = "discernibility"
    attributes: ClassVar[tuple[str, ...]] = ()

    def recoded(self, table: Recoded, *, smallest_class: int) -> float:
        """The kept classes, and all rows for every suppressed row."""
        del smallest_class
        kept = table.sizes[table.kept]
        return float(kept @ kept + table.rows * table.suppressed)

    def costing(self, marginals: Marginals, *, smallest_class: int, limit: int) -> Costing:
        """Prepare the metric for a table."""
        return _DiscernibilityCosting(marginals, smallest_class=smallest_class, limit=limit)
