"""What is known of all nodes before any is counted: quick guesses, and rows that are suppressed for certain.

A guess only decides which node is counted next. It never decides what is true: nodes are excluded by
monotonicity and proven bounds alone, so a bad guess costs time and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kohorte.groups import Marginals
from kohorte.kernels import Guess
from kohorte.kernels.arrays import Floats

INTERCEPT_DEVIATION = 8.0


def value_counts(marginals: Marginals) -> tuple[tuple[Floats, ...], ...]:
    """How many rows have each value of every column, at every level."""
    return tuple(
        tuple(np.bincount(mapped, weights=column.counts).astype(np.float64) for mapped in column.maps)
        for column in marginals.columns
    )


def entropies(counts: Sequence[Sequence[Floats]]) -> tuple[Floats, ...]:
    """The entropy in bits of every column at every level: how far it tells rows apart on its own."""
    return tuple(np.array([_entropy(values) for values in levels]) for levels in counts)


def _entropy(values: Floats) -> float:
    shares = values[values > 0] / max(1, values.sum())
    return abs(float((shares * np.log2(shares)).sum()))  # `@` would wake the threads of BLAS


def rare_rows(counts: Sequence[Sequence[Floats]], smallest_class: int) -> tuple[Floats, ...]:
    """How many rows have a value that fewer rows than the smallest class share, per column and level.

    Such a row is in a class below the smallest size at every node that has the column at this level or below, and
    is suppressed there.
    """
    return tuple(np.array([float(values[values < smallest_class].sum()) for values in levels]) for levels in counts)


def additive_guess(bits: Sequence[Floats], *, slope: float, intercept: float) -> Guess:
    """A guess that starts with `slope` times a column's entropy at each level, before anything was counted."""
    ends = np.cumsum([len(own) for own in bits])
    flat = np.concatenate(bits)
    deviations = 0.5 * (flat + 0.3)
    deviations[ends - 1] = 1e-4
    return Guess(
        [len(own) for own in bits],
        np.append(slope * flat, intercept),
        np.append(deviations, INTERCEPT_DEVIATION),
    )
