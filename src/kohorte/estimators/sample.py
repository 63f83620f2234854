"""What an estimator gets and what it gives: the classes of a sample, and an estimate with its origin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from kohorte.errors import InputError
from kohorte.kernels.arrays import Counts


@dataclass(frozen=True)
class Estimate:
    """The estimated number of people who are unique in the population; None with a reason where there is none.

    `by` names the estimator that gave it, or `count` where nothing had to be estimated.
    """

    uniques: float | None
    by: str
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Sample:
    """The classes of a simple random sample: `counts[i]` of them have `sizes[i]` rows; `sizes` ascend from 1.

    `fraction` is the share of the population that the sample is.
    """

    sizes: Counts
    counts: Counts
    fraction: float

    def __post_init__(self) -> None:
        if not 0 < self.fraction <= 1:
            raise InputError(
                f"sampling fraction must be above 0 and at most 1, not {self.fraction!r}", code="model-parameter"
            )

    @classmethod
    def of(cls, sizes: Counts, fraction: float) -> Self:
        """Count how many classes there are of each size; the order of `sizes` does not matter."""
        distinct, counts = np.unique(np.asarray(sizes, dtype=np.int64), return_counts=True)
        return cls(distinct[distinct > 0], counts[distinct > 0].astype(np.int64), fraction)

    @property
    def rows(self) -> int:
        """The people in the sample."""
        return int(self.sizes @ self.counts)

    @property
    def classes(self) -> int:
        """The classes in the sample."""
        return int(self.counts.sum())

    @property
    def population(self) -> float:
        """The people in the population."""
        return self.rows / self.fraction

    def of_size(self, size: int) -> int:
        """The number of classes with so many rows."""
        return int(self.counts[self.sizes == size].sum())

    @property
    def known(self) -> Estimate | None:
        """What is known without an estimate: the sample is the population, or nobody in it is unique."""
        uniques = self.of_size(1)
        return Estimate(float(uniques), "count") if uniques == 0 or self.fraction == 1 else None
