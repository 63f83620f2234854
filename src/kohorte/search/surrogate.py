"""What is known about all nodes before any is counted: guesses, and rows that are certainly suppressed.

A guess only decides which node is counted next. Nodes are excluded by monotonicity and proven bounds alone, so a bad
guess costs time but never changes the result. The numbers of the prior distribution are our own choice.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kohorte.groups import Marginals
from kohorte.kernels import Guess
from kohorte.kernels.arrays import Floats

INTERCEPT_DEVIATION = 8.0


def value_counts(marginals: Marginals) -> tuple[tuple[Floats, ...], ...]:
    """The number of rows with each value of every column, at every level."""
    return tuple(
        tuple(np.bincount(mapped, weights=column.counts).astype(np.float64) for mapped in column.maps)
        for column in marginals.columns
    )


def entropies(counts: Sequence[Sequence[Floats]]) -> tuple[Floats, ...]:
    """The entropy in bits of every column at every level."""
    return tuple(np.array([_entropy(values) for values in levels]) for levels in counts)


def _entropy(values: Floats) -> float:
    """To the last bit the same in whatever order values come: the order of nodes must not tell the order of values."""
    shares = np.sort(values[values > 0]) / max(1, values.sum())
    return abs(float((shares * np.log2(shares)).sum()))  # `@` would start the threads of BLAS


def rare_rows(counts: Sequence[Sequence[Floats]], smallest_class: int) -> tuple[Floats, ...]:
    """The number of rows with a value that occurs in fewer than `smallest_class` rows, per column and level.

    Such a row is suppressed at every node that has the column at this level or a lower one: its class is too small.
    """
    return tuple(np.array([float(values[values < smallest_class].sum()) for values in levels]) for levels in counts)


def additive_guess(bits: Sequence[Floats], *, slope: float, intercept: float) -> Guess:
    """A linear model whose prior mean is `slope` times the entropy of a column at each level, plus the intercept."""
    ends = np.cumsum([len(own) for own in bits])
    flat = np.concatenate(bits)
    deviations = 0.5 * (flat + 0.3)
    deviations[ends - 1] = 1e-4
    return Guess(
        [len(own) for own in bits],
        np.append(slope * flat, intercept),
        np.append(deviations, INTERCEPT_DEVIATION),
    )
