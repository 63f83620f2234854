"""t-closeness where values are as far apart as their places in an order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kohorte.errors import InputError
from kohorte.groups import Domain, Groups, Histogram
from kohorte.kernels.arrays import Floats
from kohorte.models.closeness import Closeness


@dataclass(frozen=True)
class OrderedTCloseness(Closeness):
    """t-closeness with ordered distance.

    Guarantee
        The distribution of the sensitive attribute in every class differs from that in the whole table (suppressed
        rows included) by at most t, where moving a row to a value counts by how many values lie between: a class whose
        salaries are all low is far away, even where they are all different.
    Leaves open
        What the table as a whole tells about everybody in it. Values that are close in the order but mean different
        things. The place in the order counts, not the size: 1, 2 and 1,000,000 are equally far apart.
    Monotone
        Without suppression only.
    Source
        Li, Li and Venkatasubramanian, t-Closeness: Privacy Beyond k-Anonymity and l-Diversity, ICDE 2007.
    """

    name: ClassVar[str] = "t-closeness_ordered"
    example: ClassVar[str] = "{model: t-closeness_ordered, attribute: salary, t: 0.2}"
    monotone: ClassVar[bool] = True

    def check(self, domains: Mapping[str, Domain]) -> None:
        """Refuse values without an order."""
        if not domains[self.attribute].ordered:
            raise InputError(
                f"model {self.name} needs an order of the values of {self.attribute!r}: numbers or ISO dates, none "
                "missing, or a hierarchy {ordering: {values: [...]}} in the plan that names them in their order",
                code="model-no-order",
            )

    @staticmethod
    def distances(histogram: Histogram) -> Floats:
        """The mean difference of the shares up to each place."""
        return histogram.ordered_distance

    def gone(self, groups: Groups) -> Floats:
        """The distance D is convex: that of a class is at most the mean of those of its parts.

        Kept parts are within t; no part is further away than F, the furthest single value of the class. Where s of n
        rows are suppressed, n * D <= (n - s) * t + s * F.
        """
        histogram = self.histogram(groups)
        excess = np.maximum(self.distances(histogram) - self.t, 0.0)
        if not excess.any():
            return excess
        furthest = histogram.largest(histogram.domain.furthest_in_order[histogram.values])
        return groups.sizes * excess / np.where(excess > 0, furthest - self.t, 1.0)
