"""The entropy family: how well the original value can be guessed from the generalized one.

Rows that the policy for missing values excludes are the same at every node and are ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kohorte.groups import Column, Groups, Marginals, Recoded
from kohorte.kernels.arrays import Bools, Floats
from kohorte.metrics.base import Costing, in_any_order


def _guess(column: Column, level: int) -> Floats:
    """The probability of each original value, given its generalized value; 1 for values that no row has."""
    frequencies = column.frequencies(level)
    return np.divide(column.counts, frequencies, out=np.ones(len(frequencies)), where=column.counts > 0)


class _EntropyCosting(Costing):
    exact = True

    def make_parts(self) -> tuple[Floats, ...]:
        return tuple(
            np.array([self._part(column, level) for level in range(column.top + 1)])
            for column in self.marginals.columns
        )

    @staticmethod
    def _part(column: Column, level: int) -> float:
        guess = _guess(column, level)
        return column.weight * abs(in_any_order(column.counts * guess * np.log2(guess)))


class _NonUniformCosting(_EntropyCosting):
    monotone = True

    @staticmethod
    def _part(column: Column, level: int) -> float:
        return column.weight * abs(in_any_order(column.counts * np.log2(_guess(column, level))))


class _SuppressionCosting(_NonUniformCosting):
    exact = False

    def __init__(self, marginals: Marginals, *, smallest_class: int, limit: int) -> None:
        super().__init__(marginals, smallest_class=smallest_class, limit=limit)
        self.monotone = limit == 0

    def cost(self, groups: Groups, kept: Bools, suppressed: int) -> float:
        static = self.static(groups)
        if suppressed == groups.excluded:
            return static
        gone = ~kept
        sizes = groups.sizes[gone]
        for column, codes in zip(self.marginals.columns, groups.codes(gone).T, strict=True):
            counts = np.bincount(codes, weights=sizes)
            counts = counts[counts > 0]
            static += column.weight * abs(in_any_order(counts * np.log2(counts / counts.sum())))
        return static


@dataclass(frozen=True)
class Entropy:
    """- sum over cells of X log2 X, X = frequency of the original value / frequency of the generalized value.

    Monotone
        No. Does not count suppressed rows.
    Source
        de Waal and Willenborg, Information Loss through Global Recoding and Local Suppression, 1999.
    """

    name: ClassVar[str] = "entropy"
    attributes: ClassVar[tuple[str, ...]] = ()

    def recoded(self, table: Recoded, *, smallest_class: int) -> float:
        """The same for rows that are generalized individually."""
        del smallest_class
        return sum(
            column.weight * abs(float((column.counts * column.told * np.log2(column.told)).sum()))
            for column in table.columns
        )

    def costing(self, marginals: Marginals, *, smallest_class: int, limit: int) -> Costing:
        """Prepare the metric for a table."""
        return _EntropyCosting(marginals, smallest_class=smallest_class, limit=limit)


@dataclass(frozen=True)
class NonUniformEntropy:
    """- sum over cells of log2 X, X = frequency of the original value / frequency of the generalized value.

    Monotone
        Yes. Does not count suppressed rows.
    Source
        Gionis and Tassa, k-Anonymization with Minimal Loss of Information, TKDE 21(2), 2009.
    """

    name: ClassVar[str] = "non_uniform_entropy"
    attributes: ClassVar[tuple[str, ...]] = ()

    def recoded(self, table: Recoded, *, smallest_class: int) -> float:
        """The same for rows that are generalized individually."""
        del smallest_class
        return sum(column.weight * abs(float((column.counts * np.log2(column.told)).sum())) for column in table.columns)

    def costing(self, marginals: Marginals, *, smallest_class: int, limit: int) -> Costing:
        """Prepare the metric for a table."""
        return _NonUniformCosting(marginals, smallest_class=smallest_class, limit=limit)


@dataclass(frozen=True)
class NonUniformEntropySuppression:
    """Non-uniform entropy, plus the information that suppressed rows had before they were suppressed.

    Monotone
        Without suppression only.
    Source
        Kohlmayer, Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität, dissertation,
        Technische Universität München, 2015, equations 3.3 to 3.5.
    """

    name: ClassVar[str] = "non_uniform_entropy_suppression"
    attributes: ClassVar[tuple[str, ...]] = ()

    def recoded(self, table: Recoded, *, smallest_class: int) -> float:
        """The same for rows that are generalized individually."""
        cost = NonUniformEntropy().recoded(table, smallest_class=smallest_class)
        for column in table.columns:
            gone = column.suppressed()
            cost += column.weight * abs(float((gone * np.log2(gone / gone.sum())).sum()))
        return cost

    def costing(self, marginals: Marginals, *, smallest_class: int, limit: int) -> Costing:
        """Prepare the metric for a table."""
        return _SuppressionCosting(marginals, smallest_class=smallest_class, limit=limit)
