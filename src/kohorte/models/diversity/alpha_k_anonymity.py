"""(alpha, k)-anonymity."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kohorte.groups import Groups
from kohorte.kernels.arrays import Bools, Floats
from kohorte.models.parameters import integer, number
from kohorte.models.sensitive import TOLERANCE, SensitiveModel, gone_above_caps, within


@dataclass(frozen=True)
class AlphaKAnonymity(SensitiveModel):
    """(alpha, k)-anonymity.

    Guarantee
        Every class has at least k rows, and no value of the sensitive attribute has more than the share alpha of it:
        the class reveals no person's value with more certainty than alpha.
    Guarantee for people
        Every class has at least k different people, and no value of the sensitive attribute is that of more than the
        share alpha of them: the class reveals no person's value with more certainty than alpha.
    Leaves open
        Values that differ but mean the same. Rare values: alpha is the same for all values, so a rare disease may be
        far more frequent in a class than in the table. Attackers who can exclude some of the values.
    Monotone
        Without suppression only. With suppression, one part remains monotone: a class has at least k and 1 / alpha
        rows.
    Source
        Wong, Li, Fu and Wang, (alpha, k)-Anonymity: An Enhanced k-Anonymity Model for Privacy Preserving Data
        Publishing, KDD 2006; the general form, for all values.
    """

    alpha: float
    k: int

    name: ClassVar[str] = "alpha-k-anonymity"
    example: ClassVar[str] = "{model: alpha-k-anonymity, attribute: diagnosis, alpha: 0.5, k: 5}"
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        number("alpha", self.alpha, above=0, most=1)
        integer("k", self.k, least=1)

    @property
    def promises_nothing(self) -> bool:
        """A class may have a single value; only k remains."""
        return self.alpha >= 1

    @property
    def smallest_class(self) -> int:
        """The smallest number of rows of a class: k, or the number of different values if that is larger."""
        return max(self.k, self.fewest_values)

    @property
    def fewest_values(self) -> int:
        """The smallest number of different values of a class: 1 / alpha."""
        return math.ceil(min(1.0 / self.alpha, 2.0**62) - TOLERANCE)

    def satisfied(self, groups: Groups) -> Bools:
        """Tell for each class whether it is large enough and no value has too large a share of it."""
        histogram = self.histogram(groups)
        largest, _ = histogram.tops(1)
        verdict: Bools = (groups.sizes >= self.k) & within(largest / groups.sizes - self.alpha)
        return verdict

    def gone(self, groups: Groups) -> Floats:
        """The share of each value in every class is capped; small classes have no part that satisfies the model."""
        histogram = self.histogram(groups)
        above = gone_above_caps(histogram, np.full(len(histogram.domain.overall), float(self.alpha)))
        return np.where(groups.sizes < self.smallest_class, groups.sizes, above)

    def reached(self, groups: Groups) -> float | None:
        """The largest share of a value in a class: alpha."""
        largest, _ = self.histogram(groups).tops(1)
        return float((largest / groups.sizes).max()) if len(groups) else None
