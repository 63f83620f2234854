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
"""With a larger c, only classes with too few values fail, because no class has so many rows."""


@dataclass(frozen=True)
class RecursiveLDiversity(SensitiveModel):
    """Recursive (c, l)-diversity.

    Guarantee
        In every class the most frequent value of the sensitive attribute has fewer rows than c times all values from
        the l-th on: no value is too frequent, even for an attacker who can exclude l - 2 values.
    Guarantee for people
        In every class the most frequent value of the sensitive attribute is that of fewer people than c times all
        values from the l-th on together, and at least l - 1 people do not have it: no value is too frequent, even for
        an attacker who can exclude l - 2 values.
    Leaves open
        Values that differ but mean the same. Classes that differ greatly from the whole table, so that a rare disease
        is far more likely for people in them than for others.
    Monotone
        Without suppression only. With suppression, one part remains monotone: a class has at least l rows and l values.
    Source
        Machanavajjhala, Gehrke, Kifer and Venkitasubramaniam, l-Diversity: Privacy Beyond k-Anonymity, ICDE 2006. Not
        monotone with suppression: Kohlmayer, Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für
        Anonymität, dissertation, Technische Universität München, 2015, figure 3.2.
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
        """The most frequent value always has fewer rows than c times all rows."""
        return self.l < 2 and self.c > 1

    @property
    def smallest_class(self) -> int:
        """The smallest number of rows of a class: l."""
        return self.l

    @property
    def fewest_values(self) -> int:
        """The smallest number of different values of a class: l."""
        return self.l

    def _largest_and_tail(self, groups: Groups) -> tuple[Counts, Counts]:
        histogram = self.histogram(groups)
        largest, tops = histogram.tops(min(self.l - 1, len(histogram.domain.overall)))
        return largest, histogram.totals - tops

    @staticmethod
    def _ratios(largest: Counts, tail: Counts) -> Floats:
        ratios: Floats = np.divide(largest, tail, out=np.full(len(tail), np.inf), where=tail > 0)
        return ratios

    def satisfied(self, groups: Groups) -> Bools:
        """Tell for each class whether r1 < c * (r_l + ... + r_m)."""
        verdict: Bools = self._ratios(*self._largest_and_tail(groups)) < self.c
        return verdict & self.leaves_doubt(groups)

    def gone(self, groups: Groups) -> Floats:
        """The excess of r1 over c * (r_l + ...) of a class is at most the sum of the excesses of its parts.

        (r1 and the sum of the l - 1 largest counts are convex.) The excess is below 0 for parts that are kept, and at
        most their size for others. A class with too few different values has no part that satisfies the model.
        """
        largest, tail = self._largest_and_tail(groups)
        excess = largest - min(self.c, MOST) * tail
        return np.where(tail == 0, groups.sizes, np.maximum(excess, 0.0))

    def reached(self, groups: Groups) -> float | None:
        """The largest r1 / (r_l + ... + r_m): with every larger c, the classes are recursive-(c, l)-diverse.

        None if a class has fewer than l different values, because then no c holds.
        """
        ratios = np.where(self.leaves_doubt(groups), self._ratios(*self._largest_and_tail(groups)), np.inf)
        return float(ratios.max()) if len(groups) and np.isfinite(ratios).all() else None
