"""Whether rows with the same code agree in another column, far more often than by chance."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from kohorte.kernels.arrays import Codes, Counts

FEWEST_CODES = 10
"""Fewer codes that occur in several rows say too little."""
MOSTLY = 0.9
"""The share of these codes whose rows agree; the others may be errors: our own choice."""
CERTAIN = 20.0
"""The logarithm of how unlikely an agreement by chance must be: less than one in 10^8, as many columns are tried."""


@dataclass(frozen=True)
class Agreement:
    """Of `repeated` codes, which occur in several rows, `same` have one value; of values in a random order, the share
    `by_chance` would."""

    repeated: int
    same: int
    by_chance: float

    @property
    def share(self) -> float:
        """The share of the repeated codes that have one value."""
        return self.same / self.repeated if self.repeated else 0.0

    @property
    def is_told(self) -> bool:
        """Whether enough codes repeat, and whether chance alone would not let their rows agree."""
        return self.repeated >= FEWEST_CODES and self.by_chance < 1

    @property
    def is_by_chance(self) -> bool:
        """Whether the codes agree hardly more often than by chance."""
        return self.share < (1 + self.by_chance) / 2

    @property
    def holds(self) -> bool:
        """Whether nearly all codes have one value, which is not by chance.

        By the bound of Chernoff, chance gives such a share with a probability of at most exp(-repeated * divergence).
        """
        if not self.is_told or self.share < MOSTLY or self.share <= self.by_chance:
            return False
        return self.repeated * _divergence(self.share, self.by_chance) >= CERTAIN


def agreement(codes: Codes, values: Codes, rows: Counts, *, missing: tuple[int, int]) -> Agreement:
    """Count the codes whose rows agree in their values; entry i stands for `rows[i]` rows.

    `missing` are the numbers of a missing code and of a missing value, which are the largest ones.
    """
    known = (codes != missing[0]) & (values != missing[1])
    codes, values, rows = codes[known], values[known], rows[known]
    sizes = np.bincount(codes, weights=rows, minlength=missing[0])
    one = np.zeros(missing[0], dtype=np.int64)
    one[codes] = values
    several = np.zeros(missing[0], dtype=bool)
    several[codes[one[codes] != values]] = True
    repeated = sizes > 1
    count = int(repeated.sum())
    if not count:
        return Agreement(0, 0, 1.0)
    shares = np.bincount(values, weights=rows) / rows.sum()
    lengths, often = np.unique(sizes[repeated], return_counts=True)
    chances = [float((shares**length).sum()) for length in lengths]
    return Agreement(count, int((repeated & ~several).sum()), float(np.dot(chances, often)) / count)


def _divergence(share: float, chance: float) -> float:
    """The divergence of Kullback and Leibler between two events with these probabilities."""
    chance = max(chance, 1e-12)
    found = share * log(share / chance)
    return found if share == 1 else found + (1 - share) * log((1 - share) / (1 - chance))
