"""Classification: the number of rows whose class label can no longer be predicted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kohorte.errors import InputError
from kohorte.groups import Groups, Histogram, Marginals, Recoded
from kohorte.kernels.arrays import Bools, Counts, Floats
from kohorte.metrics.base import Costing


def in_minority(histogram: Histogram) -> Counts:
    """How many rows of each class do not have its most frequent label."""
    most, _ = histogram.tops(1)
    minority: Counts = histogram.sizes - most
    return minority


class _ClassificationCosting(Costing):
    raises_floor = True

    def __init__(self, marginals: Marginals, *, smallest_class: int, limit: int, attribute: str) -> None:
        super().__init__(marginals, smallest_class=smallest_class, limit=limit)
        self.monotone = limit == 0
        self._attribute = attribute

    def cost(self, groups: Groups, kept: Bools, suppressed: int) -> float:
        return float(in_minority(groups.histograms[self._attribute])[kept].sum() + suppressed)

    def floor(self, groups: Groups) -> float:
        """If classes are merged, no fewer rows are in the minority; a suppressed row counts as one."""
        if self._attribute not in groups.histograms:  # only the sizes were counted
            return float(groups.excluded)
        return float(in_minority(groups.histograms[self._attribute]).sum() + groups.excluded)

    def at_least(self, static: Floats, suppressed: float | Floats) -> Floats:
        """Every suppressed row counts 1."""
        return np.maximum(static, suppressed)

    def most_suppressed(self, cost: float) -> float:
        return cost


@dataclass(frozen=True)
class Classification:
    """The rows that are suppressed or do not have the most frequent value of an attribute in their class.

    Monotone
        Without suppression only.
    Source
        Iyengar, Transforming Data to Satisfy Privacy Constraints, KDD 2002; Bayardo and Agrawal, Data Privacy through
        Optimal k-Anonymization, ICDE 2005. As in the latter, the cost is not divided by the number of rows.
    """

    attribute: str

    name: ClassVar[str] = "classification"

    def __post_init__(self) -> None:
        if not isinstance(self.attribute, str):
            raise InputError("attribute is the column whose value shall be predicted", code="plan-metric-attribute")

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attribute that shall be predicted."""
        return (self.attribute,)

    def recoded(self, table: Recoded, *, smallest_class: int) -> float:
        """The same for rows that are generalized individually."""
        del smallest_class
        return float(in_minority(table.histograms[self.attribute])[table.kept].sum() + table.suppressed)

    def costing(self, marginals: Marginals, *, smallest_class: int, limit: int) -> Costing:
        """Prepare the metric for a table."""
        return _ClassificationCosting(marginals, smallest_class=smallest_class, limit=limit, attribute=self.attribute)
