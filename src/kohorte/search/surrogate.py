"""A quick guess of what counting a node would give, learnt from the nodes counted so far.

The guess only decides which node is counted next. It never decides what is true: nodes are excluded by
monotonicity and proven bounds alone, so a bad guess costs time and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kohorte.groups import Marginals
from kohorte.kernels.arrays import Floats
from kohorte.lattice import Node

IndexArray: TypeAlias = NDArray[np.int64]

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
        ends = np.cumsum([len(bits) for bits in entropies])
        starts = np.array([0, *ends[:-1]])
        self._first = np.append(starts, ends[-1])  # where each attribute's numbers begin, and the intercept
        bits = np.concatenate(entropies)
        deviations = 0.5 * (bits + 0.3)
        deviations[ends - 1] = 1e-4
        self._mean = np.append(slope * bits, intercept)
        self._covariance = np.diag(np.append(deviations, INTERCEPT_DEVIATION) ** 2)
        middle = len(entropies) // 2
        levels = [start + np.arange(len(own)) for start, own in zip(starts, entropies, strict=True)]
        self._left, self._right = _combinations(levels[:middle]), _combinations(levels[middle:])

    def _active(self, node: Node) -> IndexArray:
        return self._first + (*node, 0)

    def at(self, node: Node) -> float:
        """The guess for one node."""
        return float(self._mean[self._active(node)].sum())

    def halves(self) -> tuple[Floats, Floats]:
        """The guesses for all nodes, as sums over the first and the second half of the attributes."""
        left: Floats = self._mean[self._left].sum(axis=1) + self._mean[-1]
        return left, self._mean[self._right].sum(axis=1)

    def learn(self, node: Node, seen: float, variance: float) -> None:
        """Update the guess with what counting a node gave (a rank-one Kalman update)."""
        active = self._active(node)
        spread = self._covariance[active].sum(axis=0)
        gain = spread / (spread[active].sum() + variance)
        self._mean += gain * (seen - self._mean[active].sum())
        self._covariance -= np.multiply.outer(gain, spread)


def _combinations(levels: Sequence[IndexArray]) -> IndexArray:
    """All ways to take one index of each attribute, the last attribute fastest."""
    if not levels:
        return np.zeros((1, 0), dtype=np.int64)
    grids = np.meshgrid(*levels, indexing="ij")
    return np.stack([grid.ravel() for grid in grids], axis=1)
