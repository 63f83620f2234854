"""delta-disclosure privacy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kohorte.groups import Groups, Histogram
from kohorte.kernels.arrays import Bools, Floats
from kohorte.models.parameters import number
from kohorte.models.sensitive import TOLERANCE, SensitiveModel, gone_above_caps


@dataclass(frozen=True)
class DeltaDisclosure(SensitiveModel):
    """delta-disclosure privacy.

    Guarantee
        For every class and every value of the sensitive attribute, |log2(share in the class / share in the whole
        table)| < delta: knowing a person's class makes no value more than 2^delta times as likely, or as unlikely.
    Leaves open
        What the table as a whole reveals about everyone in it.
    Monotone
        Without suppression only. With suppression, one part remains monotone: a class has every value of the table.
    Source
        Brickell and Shmatikov, The Cost of Privacy: Destruction of Data-Mining Utility in Anonymized Data Publishing,
        KDD 2008. The logarithm is to the base 2, as in ARX. By the definition, a class fails if a value of the table
        does not occur in it; ARX considers only the values that occur in a class.
    """

    delta: float

    name: ClassVar[str] = "delta-disclosure"
    example: ClassVar[str] = "{model: delta-disclosure, attribute: diagnosis, delta: 1}"
    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        number("delta", self.delta, above=0)

    @staticmethod
    def _furthest(histogram: Histogram) -> Floats:
        """The largest |log2(share in the class / share in the table)| of each class; infinite if a value is absent."""
        ratios = np.abs(np.log2(histogram.shares / histogram.domain.shares[histogram.values]))
        return np.where(histogram.distinct < histogram.domain.distinct, np.inf, histogram.largest(ratios))

    def satisfied(self, groups: Groups) -> Bools:
        """Tell for each class whether all values are about as frequent in it as in the whole table."""
        verdict: Bools = self._furthest(self.histogram(groups)) < self.delta - TOLERANCE
        return verdict

    def gone(self, groups: Groups) -> Floats:
        """Both bounds are on shares, and a class without one of the values has no part that satisfies the model.

        Kept parts have at least the share `least` of each value: if s of n rows are suppressed, c >= least * (n - s).
        """
        histogram = self.histogram(groups)
        shares, factor = histogram.domain.shares, 2.0 ** min(self.delta, 1000.0)
        least = shares[histogram.values] / factor
        below = histogram.largest(np.maximum(1.0 - histogram.shares / least, 0.0)) * groups.sizes
        above = gone_above_caps(histogram, np.minimum(shares * factor, 1.0))
        lacking = histogram.distinct < histogram.domain.distinct
        return np.where(lacking, groups.sizes, np.maximum(above, below))

    def reached(self, groups: Groups) -> float | None:
        """The largest |log2| of a class and value; None if a value is absent from a class: no delta holds."""
        furthest = self._furthest(self.histogram(groups))
        return float(furthest.max()) if len(groups) and np.isfinite(furthest).all() else None
