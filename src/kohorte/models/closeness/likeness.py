"""What both kinds of beta-likeness share."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kohorte.groups import Domain, Groups
from kohorte.kernels.arrays import Bools, Floats
from kohorte.models.parameters import number
from kohorte.models.sensitive import SensitiveModel, above_caps, gone_above_caps, within


@dataclass(frozen=True)
class Likeness(SensitiveModel):
    """The share of a value in a class exceeds its share in the whole table by at most a certain factor."""

    beta: float

    def __post_init__(self) -> None:
        super().__post_init__()
        number("beta", self.beta, above=0)

    def most_gained(self, domain: Domain) -> Floats:
        """The largest relative gain that each value may have."""
        raise NotImplementedError

    def _caps(self, domain: Domain) -> Floats:
        caps: Floats = np.minimum(domain.shares * (1.0 + self.most_gained(domain)), 1.0)
        return caps

    def satisfied(self, groups: Groups) -> Bools:
        """Tell for each class whether no value gains too much."""
        histogram = self.histogram(groups)
        return within(histogram.largest(above_caps(histogram, self._caps(histogram.domain))))

    def gone(self, groups: Groups) -> Floats:
        """The share of each value in every class is capped."""
        histogram = self.histogram(groups)
        return gone_above_caps(histogram, self._caps(histogram.domain))

    def reached(self, groups: Groups) -> float | None:
        """The largest relative gain of a value in a class; None if no beta holds."""
        if not len(groups):
            return None
        histogram = self.histogram(groups)
        shares = histogram.domain.shares[histogram.values]
        gained = (histogram.shares - shares) / shares
        with_any_beta = replace(self, beta=float(np.finfo(float).max)).most_gained(histogram.domain)
        if not within(gained - with_any_beta[histogram.values]).all():
            return None
        return max(0.0, float(gained.max()))
