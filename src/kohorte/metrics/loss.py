"""Loss: the share of the domain that a cell no longer distinguishes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from kohorte.groups import Groups, Marginals, Recoded
from kohorte.kernels.arrays import Bools, Floats
from kohorte.metrics.base import Costing, in_any_order
from kohorte.metrics.precision import normalized_weights


class LossCosting(Costing):
    """The cost of nodes by loss; `weights` of the attributes add up to 1, by default those of the plan."""

    finer_suppression_costs_more = True  # a suppressed row adds the detail it still had: finer cells have more

    def __init__(self, marginals: Marginals, *, smallest_class: int, limit: int, weights: Floats | None = None) -> None:
        self._weights = normalized_weights(marginals) if weights is None else weights
        super().__init__(marginals, smallest_class=smallest_class, limit=limit)
        self.monotone = limit == 0

    @cached_property
    def _lost(self) -> list[list[Floats]]:
        """The weighted loss of a cell of each generalized code, by column and level."""
        columns = zip(self._weights, self.marginals.columns, strict=True)
        return [[weight * shares for shares in column.shares] for weight, column in columns]

    def make_parts(self) -> tuple[Floats, ...]:
        """The loss of all rows at each level of each attribute."""
        excluded = self.rows - int(self.marginals.columns[0].counts.sum())
        return tuple(
            weight * np.array([self._rows_lost(axis, level) + excluded for level in range(column.top + 1)]) / self.rows
            for axis, (weight, column) in enumerate(zip(self._weights, self.marginals.columns, strict=True))
        )

    def _rows_lost(self, axis: int, level: int) -> float:
        column = self.marginals.columns[axis]
        return in_any_order(column.counts * column.shares[level][column.maps[level]])

    def cost(self, groups: Groups, kept: Bools, suppressed: int) -> float:
        """Every suppressed row adds the detail it still had."""
        static = self.static(groups)
        if suppressed == groups.excluded:
            return static
        gone = ~kept
        return static + in_any_order(groups.sizes[gone] * self._told(groups, gone)) / self.rows

    def _told(self, groups: Groups, which: Bools) -> Floats:
        """The detail that a row of some classes still has; remembered groups keep it for all their classes."""
        if groups.by_class is None:
            return self._detail(groups, which)
        known = groups.by_class
        if self._key not in known:
            known[self._key] = told = self._detail(groups, np.ones(len(groups), dtype=bool))
            if groups.by_size is not None:
                groups.by_size[self._key] = groups.below_each_size(groups.sizes * told) / self.rows
        return known[self._key][which]

    def added_by_small(self, by_size: Mapping[object, Floats]) -> float:
        """The detail of rows in classes that are too small."""
        found = by_size.get(self._key)
        return 0.0 if found is None else float(found[min(self.smallest_class, len(found) - 1)])

    @cached_property
    def _key(self) -> tuple[object, ...]:
        """What the detail of a row depends on, besides the table."""
        return ("loss", *self._weights.tolist())

    def _detail(self, groups: Groups, which: Bools) -> Floats:
        told = np.ones(int(which.sum()))
        for lost, level, codes in zip(self._lost, groups.node, groups.codes(which).T, strict=True):
            told -= lost[level][codes]
        return np.maximum(told, 0.0)

    def most_suppressed(self, cost: float) -> float:
        """A suppressed row costs 1, which exceeds its cost at the finest levels by the detail it has there."""
        least, vaguest, excluded = self._at_the_finest
        return excluded + self.rows * (cost - least) / (1.0 - vaguest) if vaguest < 1.0 else self.rows

    @cached_property
    def _at_the_finest(self) -> tuple[float, float, int]:
        """The least cost, the largest loss of a row at the finest levels, and the excluded rows, which are in both."""
        least = sum(float(part.min()) for part in self.parts)
        vaguest = sum(float(lost[0].max(initial=0.0)) for lost in self._lost)
        return least, vaguest, self.rows - int(self.marginals.columns[0].counts.sum())


@dataclass(frozen=True)
class Loss:
    """The (weighted) mean over all cells of (leaves below - 1) / (all leaves - 1); suppressed cells count 1.

    Cells of an interval hierarchy count (upper - lower) / range instead.

    Monotone
        Without suppression only.
    Source
        Iyengar, Transforming Data to Satisfy Privacy Constraints, KDD 2002.
    """

    name: ClassVar[str] = "loss"
    attributes: ClassVar[tuple[str, ...]] = ()

    def recoded(self, table: Recoded, *, smallest_class: int) -> float:
        """The mean over all cells; those of suppressed rows count 1."""
        del smallest_class
        means = [table.mean_with_suppression(column, column.shares) for column in table.columns]
        return float((normalized_weights(table) * means).sum())

    def costing(self, marginals: Marginals, *, smallest_class: int, limit: int) -> Costing:
        """Prepare the metric for a table."""
        return LossCosting(marginals, smallest_class=smallest_class, limit=limit)
