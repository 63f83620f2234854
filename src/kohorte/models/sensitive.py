"""What the models that protect a sensitive attribute share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kohorte.errors import InputError
from kohorte.groups import Domain, Groups, Histogram
from kohorte.kernels.arrays import Bools, Floats
from kohorte.models.base import PrivacyModel
from kohorte.models.parameters import column


@dataclass(frozen=True)
class SensitiveModel(PrivacyModel):
    """A model that looks at the histogram of one sensitive attribute."""

    attribute: str

    def __post_init__(self) -> None:
        column("attribute", self.attribute)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The one attribute."""
        return (self.attribute,)

    def histogram(self, groups: Groups) -> Histogram:
        """The histogram of the attribute."""
        return groups.histograms[self.attribute]

    @property
    def fewest_values(self) -> int:
        """The smallest number of different values of a class that satisfies the model."""
        return 1

    def leaves_doubt(self, groups: Groups) -> Bools:
        """Tell for each class whether enough people do not have its most frequent value.

        Where each person has one value, l different values mean that at least l - 1 people do not have the most
        frequent one. A person with several values counts for each, so that this must be asked as well: otherwise all
        people of a class could share a value although there are l different ones.
        """
        histogram = self.histogram(groups)
        if histogram.people is None:
            return np.ones(len(groups), dtype=bool)
        verdict: Bools = histogram.without_commonest >= self.fewest_values - 1
        return verdict

    def check(self, domains: Mapping[str, Domain]) -> None:
        """Refuse a table whose attribute has fewer different values than the model requires in every class."""
        distinct = domains[self.attribute].distinct
        if distinct < self.fewest_values:
            raise InputError(
                f"model {self.name} requires {self.fewest_values:,} different values of {self.attribute!r} in every "
                f"class, but the whole table has only {distinct:,}",
                code="model-beyond-values",
            )


def above_caps(histogram: Histogram, caps: Floats) -> Floats:
    """By how much the share of each value in each class exceeds its cap, for models that cap the shares of values."""
    excess: Floats = histogram.shares - caps[histogram.values]
    return excess


def gone_above_caps(histogram: Histogram, caps: Floats) -> Floats:
    """A lower bound for the rows of each class that are suppressed at every specialization, if caps must hold.

    Let a specialization split a class of n rows, c of them with value v, and suppress s rows of it. Its kept parts
    have at most cap * (n - s) rows with v, and the suppressed parts at most s. Therefore c <= cap * (n - s) + s.
    """
    excess = above_caps(histogram, caps)
    room = 1.0 - caps[histogram.values]
    sure = (excess > TOLERANCE) & (room > ROUNDING)
    share = np.divide(excess, room, out=np.zeros(len(excess)), where=sure)
    return histogram.largest(share) * histogram.sizes


TOLERANCE = 1e-12
"""Shares and entropies are floating-point numbers: a bound that is missed by less than this counts as met."""

ROUNDING = 1e-9
"""A bound that divides by less than this proves nothing, because rounding errors would dominate."""


def within(excess: Floats) -> Bools:
    """Tell which bounds are met, within the tolerance."""
    met: Bools = excess <= TOLERANCE
    return met
