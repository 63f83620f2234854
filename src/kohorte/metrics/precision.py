"""Precision: the level of a cell relative to the height of its hierarchy. The cost is 1 - precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kohorte.errors import InputError
from kohorte.groups import Groups, Marginals, Recoded
from kohorte.kernels.arrays import Bools, Floats
from kohorte.metrics.base import Costing


def normalized_weights(marginals: Marginals | Recoded) -> Floats:
    """The attribute weights, scaled to the sum 1."""
    total = float(marginals.weights.sum())
    if total <= 0:
        raise InputError("all quasi-identifiers have weight 0: the metric has nothing to weigh", code="weights-zero")
    normalized: Floats = marginals.weights / total
    return normalized


class _MonotoneCosting(Costing):
    exact = True
    monotone = True

    def make_parts(self) -> tuple[Floats, ...]:
        weights = normalized_weights(self.marginals)
        return tuple(
            weight * column.heights / max(1.0, column.heights[-1])
            for weight, column in zip(weights, self.marginals.columns, strict=True)
        )


class _PrecisionCosting(_MonotoneCosting):
    exact = False

    def __init__(self, marginals: Marginals, *, smallest_class: int, limit: int) -> None:
        super().__init__(marginals, smallest_class=smallest_class, limit=limit)
        self.monotone = limit == 0

    def cost(self, groups: Groups, kept: Bools, suppressed: int) -> float:
        del kept
        return float(self.at_least(np.array(self.static(groups)), suppressed))

    def at_least(self, static: Floats, suppressed: float | Floats) -> Floats:
        raised: Floats = static + (1.0 - static) * (suppressed / self.rows)
        return raised


@dataclass(frozen=True)
class PrecisionMonotone:
    """1 minus the (weighted) mean of level / highest level over the attributes.

    Monotone
        Yes. Depends neither on the data nor on suppressed rows.
    Source
        Sweeney, Achieving k-Anonymity Privacy Protection Using Generalization and Suppression, 2002.
    """

    name: ClassVar[str] = "precision_monotone"
    attributes: ClassVar[tuple[str, ...]] = ()

    def recoded(self, table: Recoded, *, smallest_class: int) -> float:
        """The mean over the cells of all rows, suppressed or not."""
        del smallest_class
        means = [table.mean(column, column.heights / max(1, column.top)) for column in table.columns]
        return float((normalized_weights(table) * means).sum())

    def costing(self, marginals: Marginals, *, smallest_class: int, limit: int) -> Costing:
        """Prepare the metric for a table."""
        return _MonotoneCosting(marginals, smallest_class=smallest_class, limit=limit)


@dataclass(frozen=True)
class Precision:
    """The same over all cells; suppressed cells count as fully generalized.

    Monotone
        Without suppression only.
    Source
        Sweeney, Achieving k-Anonymity Privacy Protection Using Generalization and Suppression, 2002.
    """

    name: ClassVar[str] = "precision"
    attributes: ClassVar[tuple[str, ...]] = ()

    def recoded(self, table: Recoded, *, smallest_class: int) -> float:
        """The mean over all cells; those of suppressed rows count 1."""
        del smallest_class
        means = [table.mean_with_suppression(column, column.heights / max(1, column.top)) for column in table.columns]
        return float((normalized_weights(table) * means).sum())

    def costing(self, marginals: Marginals, *, smallest_class: int, limit: int) -> Costing:
        """Prepare the metric for a table."""
        return _PrecisionCosting(marginals, smallest_class=smallest_class, limit=limit)
