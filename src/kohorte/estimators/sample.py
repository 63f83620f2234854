"""Input and output of the estimators: the classes of a sample, and an estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from kohorte.errors import InputError
from kohorte.kernels.arrays import Counts


@dataclass(frozen=True)
class Estimate:
    """The estimated number of people who are unique in the population; None, with a reason, if there is no estimate.

    `by` names the estimator, or is `count` if nothing had to be estimated.
    """

    uniques: float | None
    by: str
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Sample:
    """The classes of a simple random sample: `counts[i]` of them have `sizes[i]` rows; `sizes` ascend from 1.

    `fraction` is the sampling fraction.
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
        """Count the classes of each size; the order of `sizes` does not matter."""
        distinct, counts = np.unique(np.asarray(sizes, dtype=np.int64), return_counts=True)
        return cls(distinct[distinct > 0], counts[distinct > 0].astype(np.int64), fraction)

    @property
    def rows(self) -> int:
        """The number of people in the sample."""
        return int(self.sizes @ self.counts)

    @property
    def classes(self) -> int:
        """The number of classes in the sample."""
        return int(self.counts.sum())

    @property
    def population(self) -> float:
        """The number of people in the population."""
        return self.rows / self.fraction

    def of_size(self, size: int) -> int:
        """The number of classes of a size."""
        return int(self.counts[self.sizes == size].sum())

    @property
    def known(self) -> Estimate | None:
        """The number of uniques if no estimate is needed: the sample is the population, or nobody in it is unique."""
        uniques = self.of_size(1)
        return Estimate(float(uniques), "count") if uniques == 0 or self.fraction == 1 else None
