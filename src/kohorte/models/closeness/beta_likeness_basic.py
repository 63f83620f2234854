"""Basic beta-likeness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kohorte.groups import Domain
from kohorte.kernels.arrays import Floats
from kohorte.models.closeness.likeness import Likeness


@dataclass(frozen=True)
class BasicBetaLikeness(Likeness):
    """Basic beta-likeness.

    Guarantee
        In every class, no value of the sensitive attribute is more than 1 + beta times as frequent as in the whole
        table, including rare values: knowing a person's class makes no value more than 1 + beta times as likely.
    Leaves open
        Frequent values: a value with a share above 1 / (1 + beta) of the table may be the only value of a class; the
        enhanced kind prevents this. Values that become less likely. What the table as a whole reveals.
    Monotone
        Without suppression only.
    Source
        Cao and Karras, Publishing Microdata with a Robust Privacy Guarantee, PVLDB 5(11), 2012.
    """

    name: ClassVar[str] = "beta-likeness_basic"
    example: ClassVar[str] = "{model: beta-likeness_basic, attribute: diagnosis, beta: 2}"
    monotone: ClassVar[bool] = True

    def most_gained(self, domain: Domain) -> Floats:
        """The largest relative gain that each value may have: beta."""
        return np.full(len(domain.overall), float(self.beta))
