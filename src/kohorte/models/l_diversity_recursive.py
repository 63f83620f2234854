"""Recursive (c, l)-diversity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kohorte.groups import Groups
from kohorte.kernels.arrays import Bools, Counts, Floats
from kohorte.models.parameters import integer, number
from kohorte.models.sensitive import SensitiveModel

MOST = 2.0**53
"""With c above this, only classes with too few values fail."""


@dataclass(frozen=True)
class RecursiveLDiversity(SensitiveModel):
    """Recursive (c, l)-diversity.

    Guarantee
        In every class the most frequent value of the sensitive attribute has fewer rows than c times all values from
        the l-th on: no value is too frequent, and it stays so for whoever can exclude l - 2 values.
    Leaves open
        Values that differ but mean the same. Classes that differ much from the whole table, so that somebody in them
        is known to have a rare disease far more likely than others.
    Monotone
        Without suppression only. With suppression still: a class has at least l rows and l different values.
    Source
        Machanavajjhala et al., l-Diversity: Privacy Beyond k-Anonymity, ICDE 2006; figure 3.2 of the dissertation.
    """

    c: float
    l: int  # noqa: E741 - the published letter

    name: ClassVar[str] = "l-diversity_recursive"
    example: ClassVar[str] = "{model: l-diversity_recursive, attribute: diagnosis, c: 4, l: 3}"
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        number("c", self.c, above=0)
        integer("l", self.l, least=1)

    @property
    def promises_nothing(self) -> bool:
        """The most frequent value is always less than c times all rows."""
        return self.l < 2 and self.c > 1

    @property
    def smallest_class(self) -> int:
        """The fewest rows that a class can have: l."""
        return self.l

    @property
    def fewest_values(self) -> int:
        """The fewest different values of a class: l."""
        return self.l

    def _largest_and_tail(self, groups: Groups) -> tuple[Counts, Counts]:
        histogram = self.histogram(groups)
        largest, tops = histogram.tops(min(self.l - 1, len(histogram.domain.overall)))
        return largest, groups.sizes - tops

    @staticmethod
    def _ratios(largest: Counts, tail: Counts) -> Floats:
        ratios: Floats = np.divide(largest, tail, out=np.full(len(tail), np.inf), where=tail > 0)
        return ratios

    def satisfied(self, groups: Groups) -> Bools:
        """Tell for each class whether r1 < c * (r_l + ... + r_m)."""
        verdict: Bools = self._ratios(*self._largest_and_tail(groups)) < self.c
        return verdict

    def gone(self, groups: Groups) -> Floats:
        """How much r1 exceeds c * (r_l + ...) is at most the sum of that over all parts of a class.

        (r1 and the sum of the l - 1 largest counts are convex.) It is below 0 for parts that are kept, and at most
        their size for others. A class with too few different values has no part that holds.
        """
        largest, tail = self._largest_and_tail(groups)
        excess = largest - min(self.c, MOST) * tail
        return np.where(tail == 0, groups.sizes, np.maximum(excess, 0.0))

    def reached(self, groups: Groups) -> float | None:
        """The largest r1 / (r_l + ... + r_m): with every greater c, the classes are recursive-(c, l)-diverse.

        None where a class has fewer than l different values, so that no c would do.
        """
        ratios = self._ratios(*self._largest_and_tail(groups))
        return float(ratios.max()) if len(groups) and np.isfinite(ratios).all() else None
