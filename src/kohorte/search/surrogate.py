"""A quick guess of what counting a node would give, learnt from the nodes counted so far.

The guess only decides which node is counted next. It never decides what is true: nodes are excluded by
monotonicity and proven bounds alone, so a bad guess costs time and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kohorte.groups import Marginals
from kohorte.kernels.arrays import Floats
from kohorte.lattice import Node

INTERCEPT_DEVIATION = 8.0


def column_entropies(marginals: Marginals) -> tuple[Floats, ...]:
    """The entropy in bits of every column at every level: how far it tells rows apart on its own."""
    entropies = []
    for column in marginals.columns:
        bits = []
        for mapped in column.maps:
            shares = np.bincount(mapped, weights=column.counts)
            shares = shares[shares > 0] / max(1, shares.sum())
            bits.append(abs(float(shares @ np.log2(shares))))
        entropies.append(np.array(bits))
    return tuple(entropies)


class AdditiveGuess:
    """A Bayesian linear model with one number per attribute and level, updated after every check.

    `slope` times a column's entropy is the first guess for each number, before anything was counted.
    """

    def __init__(self, entropies: Sequence[Floats], *, slope: float, intercept: float) -> None:
        self._starts = np.cumsum([0, *(len(bits) for bits in entropies)])
        bits = np.concatenate(entropies)
        deviations = 0.5 * (bits + 0.3)
        deviations[self._starts[1:] - 1] = 1e-4
        self._mean = np.append(slope * bits, intercept)
        self._covariance = np.diag(np.append(deviations, INTERCEPT_DEVIATION) ** 2)

    def _active(self, node: Node) -> list[int]:
        return [*(int(start) + level for start, level in zip(self._starts[:-1], node, strict=True)), len(self._mean) - 1]

    def at(self, node: Node) -> float:
        """The guess for one node."""
        return float(self._mean[self._active(node)].sum())

    def parts(self) -> list[Floats]:
        """The numbers per attribute and level; the first attribute's contain the intercept."""
        parts = np.split(self._mean[:-1], self._starts[1:-1])
        return [parts[0] + self._mean[-1], *parts[1:]]

    def learn(self, node: Node, seen: float, variance: float) -> None:
        """Update the guess with what counting a node gave (a rank-one Kalman update)."""
        active = self._active(node)
        spread = self._covariance[active].sum(axis=0)
        gain = spread / (spread[active].sum() + variance)
        self._mean += gain * (seen - self._mean[active].sum())
        self._covariance -= np.outer(gain, spread)
