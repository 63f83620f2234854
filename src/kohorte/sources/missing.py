"""The policy for missing values, and which tuples it leaves in classes."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from kohorte.errors import InputError
from kohorte.kernels.arrays import Bools
from kohorte.sources.base import TableSource, Tuples


class Missing(StrEnum):
    """The policy for rows with a missing value (null, NaN, empty text) in a quasi-identifier."""

    CATEGORY = "category"  # missing is a separate value, at every level below the top
    SUPPRESS = "suppress"  # such rows are suppressed and count towards the suppression limit
    REFUSE = "refuse"  # a table with such rows is refused


def included_tuples(source: TableSource, tuples: Tuples, names: Sequence[str], missing: Missing) -> Bools:
    """Tell which tuples are in classes, by the policy for missing values."""
    included: Bools = np.ones(len(tuples.counts), dtype=bool)
    for name in names:
        absent = tuples.absent(name)
        if missing is Missing.REFUSE and absent.any():
            raise InputError(
                f"column {name!r} has {source.where(tuples, absent)} without a value, and the plan says "
                "'missing: refuse'",
                code="missing-refused",
            )
        if missing is Missing.SUPPRESS:
            included &= ~absent
    return included
