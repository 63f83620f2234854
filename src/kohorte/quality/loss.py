"""Loss: the share of the domain that a cell no longer tells apart."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from kohorte.groups import Groups, Marginals, Recoded
from kohorte.kernels.arrays import Bools, Floats
from kohorte.quality.base import Costing
from kohorte.quality.precision import normalized_weights


class _LossCosting(Costing):
    surplus_lasts = True  # a suppressed row adds what it had still told, and finer cells tell more

    def __init__(self, marginals: Marginals, *, smallest_class: int, limit: int) -> None:
        self._weights = normalized_weights(marginals)
        super().__init__(marginals, smallest_class=smallest_class, limit=limit)
        self.monotone = limit == 0

    @cached_property
    def _lost(self) -> list[list[Floats]]:
        """What a cell of each code does not tell, by column and level, weighted."""
        return [
            [weight * shares[mapped] for shares, mapped in zip(column.shares, column.maps, strict=True)]
            for weight, column in zip(self._weights, self.marginals.columns, strict=True)
        ]

    def make_parts(self) -> tuple[Floats, ...]:
        excluded = self.rows - int(self.marginals.columns[0].counts.sum())
        return tuple(
            weight * np.array([self._rows_lost(axis, level) + excluded for level in range(column.top + 1)]) / self.rows
            for axis, (weight, column) in enumerate(zip(self._weights, self.marginals.columns, strict=True))
        )

    def _rows_lost(self, axis: int, level: int) -> float:
        column = self.marginals.columns[axis]
        return float((column.counts * column.shares[level][column.maps[level]]).sum())

    def cost(self, groups: Groups, kept: Bools, suppressed: int) -> float:
        """Every suppressed row adds what it had still told."""
        static = self.static(groups)
        if suppressed == groups.excluded:
            return static
        gone = ~kept
        told = np.ones(int(gone.sum()))
        for lost, level, codes in zip(self._lost, groups.node, groups.codes(gone).T, strict=True):
            told -= lost[level][codes]
        return static + float((groups.sizes[gone] * np.maximum(told, 0.0)).sum()) / self.rows

    def most_suppressed(self, cost: float) -> float:
        """A suppressed row costs 1, which is more than at the finest levels by what its cells had told there."""
        least = sum(float(part.min()) for part in self.parts)
        vaguest = sum(float(lost[0].max(initial=0.0)) for lost in self._lost)
        excluded = self.rows - int(self.marginals.columns[0].counts.sum())  # they are in the parts
        return excluded + self.rows * (cost - least) / (1.0 - vaguest) if vaguest < 1.0 else self.rows


@dataclass(frozen=True)
class Loss:
    """The (weighted) mean over all cells of (leaves below - 1) / (all leaves - 1); suppressed cells count 1.

    Cells of an interval hierarchy count (upper - lower) / range instead.

    Monotone
        Without suppression only.
    Source
        Iyengar, Transforming Data to Satisfy Privacy Constraints, KDD 2002; equations 2.22 and 2.23.
    """

    name: ClassVar[str] = "loss"
    attributes: ClassVar[tuple[str, ...]] = ()

    def recoded(self, table: Recoded, *, smallest_class: int) -> float:
        """The mean over all cells; those of suppressed rows count 1."""
        del smallest_class
        means = [table.mean_with_suppression(column, column.shares) for column in table.columns]
        return float((normalized_weights(table) * means).sum())

    def costing(self, marginals: Marginals, *, smallest_class: int, limit: int) -> Costing:
        """Make the metric ready for a table."""
        return _LossCosting(marginals, smallest_class=smallest_class, limit=limit)
