"""t-closeness with ordered distance: values are as far apart as their positions in an order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kohorte.errors import InputError
from kohorte.groups import Domain, Groups, Histogram
from kohorte.kernels.arrays import Floats
from kohorte.models.closeness.closeness import Closeness


@dataclass(frozen=True)
class OrderedTCloseness(Closeness):
    """t-closeness with ordered distance.

    Guarantee
        The distribution of the sensitive attribute in every class differs from that in the whole table (suppressed rows
        included) by at most t, where moving a row to another value costs more the more values lie between the two: a
        class in which all salaries are low is far from the table, even if they are all different.
    Guarantee for people
        The distribution of the sensitive attribute among the people of every class differs from that among all people
        of the table, those with suppressed rows included, by at most t, where moving a person to another value costs
        more the more values lie between the two: a class in which all salaries are low is far from the table, even if
        they are all different.
    Leaves open
        What the table as a whole reveals about everyone in it. Values that are close in the order but mean different
        things. The position in the order counts, not the numerical distance: 1, 2 and 1,000,000 are equally far apart.
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
                f"model {self.name} needs ordered values of {self.attribute!r}: numbers or ISO dates, none "
                "missing, or a hierarchy {ordering: {values: [...]}} in the plan that lists them in their order",
                code="model-no-order",
            )

    @staticmethod
    def distances(histogram: Histogram) -> Floats:
        """The mean difference of the cumulative shares up to each position."""
        return histogram.ordered_distance

    def gone(self, groups: Groups) -> Floats:
        """The distance D is convex: the distance of a class is at most the mean of the distances of its parts.

        Kept parts are within t; no part is further away than F, the furthest single value of the class. If s of n
        rows are suppressed, n * D <= (n - s) * t + s * F.
        """
        histogram = self.histogram(groups)
        excess = np.maximum(self.distances(histogram) - self.t, 0.0)
        if not excess.any():
            return excess
        furthest = histogram.largest(histogram.domain.furthest_in_order[histogram.values])
        return groups.sizes * excess / np.where(excess > 0, furthest - self.t, 1.0)
