"""The height metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kohorte.groups import Marginals, Recoded
from kohorte.kernels.arrays import Floats
from kohorte.metrics.base import Costing


class _HeightCosting(Costing):
    exact = True
    monotone = True

    def make_parts(self) -> tuple[Floats, ...]:
        self.rises_with_height = len(set(self.marginals.weights.tolist())) == 1
        return tuple(column.weight * column.heights for column in self.marginals.columns)


@dataclass(frozen=True)
class Height:
    """The (weighted) sum of levels.

    Monotone
        Yes. Depends neither on the data nor on suppressed rows.
    Source
        Samarati, Protecting Respondents' Identities in Microdata Release, TKDE 13(6), 2001.
    """

    name: ClassVar[str] = "height"
    attributes: ClassVar[tuple[str, ...]] = ()

    def recoded(self, table: Recoded, *, smallest_class: int) -> float:
        """The mean over all rows of the (weighted) sum of the levels of their cells."""
        del smallest_class
        return sum(column.weight * table.mean(column, column.heights) for column in table.columns)

    def costing(self, marginals: Marginals, *, smallest_class: int, limit: int) -> Costing:
        """Prepare the metric for a table."""
        return _HeightCosting(marginals, smallest_class=smallest_class, limit=limit)
