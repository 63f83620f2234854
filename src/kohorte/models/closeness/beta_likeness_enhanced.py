"""Enhanced beta-likeness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kohorte.groups import Domain
from kohorte.kernels.arrays import Floats
from kohorte.models.closeness.likeness import Likeness


@dataclass(frozen=True)
class EnhancedBetaLikeness(Likeness):
    """Enhanced beta-likeness.

    Guarantee
        In every class, the relative gain of a value of the sensitive attribute with share q of the whole table is at
        most the smaller of beta and -ln q: even a frequent value is never the only value of a class.
    Leaves open
        Values that become less likely, or impossible. What the table as a whole reveals about everyone in it.
    Monotone
        Without suppression only.
    Source
        Cao and Karras, Publishing Microdata with a Robust Privacy Guarantee, PVLDB 5(11), 2012.
    """

    name: ClassVar[str] = "beta-likeness_enhanced"
    example: ClassVar[str] = "{model: beta-likeness_enhanced, attribute: diagnosis, beta: 2}"
    monotone: ClassVar[bool] = True

    def most_gained(self, domain: Domain) -> Floats:
        """The largest relative gain that each value may have: the smaller of beta and -ln of its share."""
        return np.minimum(self.beta, -np.log(np.where(domain.shares > 0, domain.shares, 1.0)))
