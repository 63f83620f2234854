"""Enhanced beta-likeness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kohorte.groups import Domain
from kohorte.kernels.arrays import Floats
from kohorte.models.likeness import Likeness


@dataclass(frozen=True)
class EnhancedBetaLikeness(Likeness):
    """Enhanced beta-likeness.

    Guarantee
        In every class, a value of the sensitive attribute that has share q of the whole table gains at most the
        smaller of beta and -ln q: also a frequent value never has a class to itself.
    Leaves open
        Values that become less likely, or impossible. What the table as a whole tells about everybody in it.
    Monotone
        Without suppression only.
    Source
        Cao and Karras, Publishing Microdata with a Robust Privacy Guarantee, PVLDB 5(11), 2012.
    """

    name: ClassVar[str] = "beta-likeness_enhanced"
    example: ClassVar[str] = "{model: beta-likeness_enhanced, attribute: diagnosis, beta: 2}"
    monotone: ClassVar[bool] = True

    def most_gained(self, domain: Domain) -> Floats:
        """The most that each value may gain: beta, or -ln of its share."""
        return np.minimum(self.beta, -np.log(np.where(domain.shares > 0, domain.shares, 1.0)))
