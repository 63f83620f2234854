"""(n, t)-closeness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kohorte.errors import InputError
from kohorte.groups import Domain, Groups, Histogram
from kohorte.kernels.arrays import Bools, Codes, Counts, Floats
from kohorte.models.parameters import integer, number
from kohorte.models.sensitive import SensitiveModel, within


@dataclass(frozen=True)
class NTCloseness(SensitiveModel):
    """(n, t)-closeness with equal distance.

    Guarantee
        Every class is part of a large group of the release, of at least n rows, and the distributions of the sensitive
        attribute in the class and in the group differ by at most t: knowing a person's class reveals little more than
        what is true for a group too large to identify a person.
    Leaves open
        What the large groups reveal about everyone in them: a class of n rows or more may have any distribution. The
        larger n, the closer the model is to t-closeness.
    Monotone
        No.
    Source
        Li, Li and Venkatasubramanian, Closeness: A New Privacy Measure for Data Publishing, TKDE 22(7), 2010. The
        groups examined are the class itself, the rows that agree with it in all quasi-identifiers but one, and all rows
        of the table. The definition allows more groups; examining fewer is stricter.
    """

    n: int
    t: float

    name: ClassVar[str] = "n-t-closeness"
    example: ClassVar[str] = "{model: n-t-closeness, attribute: diagnosis, n: 1000, t: 0.2}"
    about_others: ClassVar[bool] = True
    people_refused: ClassVar[str] = "the people of several classes together are not the sum of the people of each"

    def __post_init__(self) -> None:
        super().__post_init__()
        integer("n", self.n, least=1)
        number("t", self.t, least=0, most=1)

    @property
    def promises_nothing(self) -> bool:
        """Every class is such a group itself, or no distance exceeds t."""
        return self.n <= 1 or self.t >= 1

    def check(self, domains: Mapping[str, Domain]) -> None:
        """Refuse groups larger than the table."""
        rows = domains[self.attribute].size
        if rows < self.n:
            raise InputError(
                f"model {self.name} requires groups of {self.n:,} rows, but the table has only {rows:,}",
                code="model-beyond-rows",
            )

    def satisfied(self, groups: Groups) -> Bools:
        """Tell for each class whether it is close to a large group."""
        return within(self._distances(groups, until=self.t) - self.t)

    def reached(self, groups: Groups) -> float | None:
        """The largest distance of a class from its closest large group: t; None if a class is in no large group."""
        distances = self._distances(groups, until=0.0)
        return float(distances.max()) if len(groups) and np.isfinite(distances).all() else None

    def _distances(self, groups: Groups, *, until: float) -> Floats:
        """The distance of each class to its closest group of at least n rows; up to `until` is close enough."""
        histogram = self.histogram(groups)
        large = histogram.domain.size >= self.n
        found = histogram.equal_distance.copy() if large else np.full(len(groups), np.inf)
        found[groups.sizes >= self.n] = 0.0
        kept = np.ones(len(groups), dtype=bool) if groups.kept is None else groups.kept
        for attribute in range(groups.attributes):
            if (found[kept] <= until).all():
                break
            assert groups.joined is not None
            found = np.minimum(found, self._to_joined(histogram, groups.joined(attribute), kept))
        return found

    def _to_joined(self, histogram: Histogram, joined: Codes, kept: Bools) -> Floats:
        """The distance of each class to the kept rows of its group; infinite if the group is small."""
        sizes = np.bincount(joined, weights=np.where(kept, histogram.sizes, 0)).astype(np.int64)
        distances = _distances_between(histogram, joined, kept, sizes)
        return np.where(sizes[joined] >= self.n, distances, np.inf)


def _distances_between(histogram: Histogram, joined: Codes, kept: Bools, sizes: Counts) -> Floats:
    """Half the sum of all differences between a class and its group, which is the sum of the positive differences."""
    width = len(histogram.domain.overall)
    class_of = np.repeat(np.arange(len(histogram)), histogram.distinct)
    keys, cells = np.unique(joined[class_of].astype(np.int64) * width + histogram.values, return_inverse=True)
    counts = np.bincount(cells, weights=np.where(kept[class_of], histogram.counts, 0), minlength=len(keys))
    of_group = counts[cells] / np.maximum(sizes[joined[class_of]], 1)
    return histogram.sums(np.maximum(histogram.shares - of_group, 0.0))
