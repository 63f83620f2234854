"""How often each value of a sensitive attribute occurs in each class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kohorte.kernels.arrays import Codes, Counts


@dataclass(frozen=True, eq=False)
class Histogram:
    """Sparse counts: class `classes[i]` has `counts[i]` rows with value `values[i]`, each pair at most once.

    `overall[v]` counts value `v` in the whole table, suppressed rows included; a missing value is a value of its own.
    """

    classes: Codes
    values: Codes
    counts: Counts
    overall: Counts

    def distinct(self, size: int) -> Counts:
        """How many different values each of `size` classes has."""
        return np.bincount(self.classes, minlength=size).astype(np.int64)
