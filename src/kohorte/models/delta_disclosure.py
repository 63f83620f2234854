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
        table)| < delta: seeing a person's class makes no value more than 2^delta times as likely, nor as unlikely.
    Leaves open
        What the table as a whole tells about everybody in it.
    Monotone
        Without suppression only. With suppression still: a class has every value of the table.
    Source
        Brickell and Shmatikov, The Cost of Privacy, KDD 2008. The logarithm is to base 2, as in ARX. By the
        definition a class that lacks a value of the table fails; ARX looks only at the values that a class has.
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
        """The largest |log2(share in the class / share in the table)| of each class; infinite where a value lacks."""
        ratios = np.abs(np.log2(histogram.shares / histogram.domain.shares[histogram.values]))
        return np.where(histogram.distinct < histogram.domain.distinct, np.inf, histogram.largest(ratios))

    def satisfied(self, groups: Groups) -> Bools:
        """Tell for each class whether all values are about as frequent in it as in the whole table."""
        verdict: Bools = self._furthest(self.histogram(groups)) < self.delta - TOLERANCE
        return verdict

    def gone(self, groups: Groups) -> Floats:
        """Both bounds are on shares, and a class that lacks a value has no part that holds.

        Kept parts have at least `least` of each value: where s of n rows are suppressed, c >= least * (n - s).
        """
        histogram = self.histogram(groups)
        shares, factor = histogram.domain.shares, 2.0 ** min(self.delta, 1000.0)
        least = shares[histogram.values] / factor
        below = histogram.largest(np.maximum(1.0 - histogram.shares / least, 0.0)) * groups.sizes
        above = gone_above_caps(histogram, np.minimum(shares * factor, 1.0))
        lacking = histogram.distinct < histogram.domain.distinct
        return np.where(lacking, groups.sizes, np.maximum(above, below))

    def reached(self, groups: Groups) -> float | None:
        """The largest |log2| of a class and value; None where a class lacks a value, so that no delta would do."""
        furthest = self._furthest(self.histogram(groups))
        return float(furthest.max()) if len(groups) and np.isfinite(furthest).all() else None
