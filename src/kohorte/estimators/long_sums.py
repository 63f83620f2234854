"""Sums of a function over many whole numbers, approximated by a few weighted points."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np

from kohorte.kernels.arrays import Floats

POINTS = 12


def points(first: int, last: int) -> tuple[Floats, Floats]:
    """Points x and weights w with sum of w f(x) = sum of f(i) for i from `first` to `last`, to about 14 digits.

    f must be smooth between them; outside, it may be singular, as log and 1/x are at 0. The numbers are split into
    blocks that get longer away from both ends. Within a block, Gauss' quadrature is exact for polynomials of degree 23.
    """
    blocks = [(start, *gauss(stop - start)) for start, stop in _blocks(last - first + 1)]
    positions = [np.empty(0), *(first + start + positions for start, positions, _ in blocks)]
    return np.concatenate(positions), np.concatenate([np.empty(0), *(weights for _, _, weights in blocks)])


def _blocks(length: int) -> list[tuple[int, int]]:
    """Split 0 .. length - 1 at the distances 12, 24, 48 ... from both ends."""
    cuts = [0]
    while 2 * (cut := max(POINTS, 2 * cuts[-1])) < length:
        cuts.append(cut)
    cuts += [length - cut for cut in reversed(cuts)]
    return [(start, stop) for start, stop in pairwise(cuts) if stop > start]


@lru_cache(maxsize=4096)
def gauss(length: int) -> tuple[Floats, Floats]:
    """Gauss' quadrature for the sum over 0 .. length - 1 (Gram's polynomials, by Golub and Welsch)."""
    if length <= 2 * POINTS:
        return np.arange(length, dtype=np.float64), np.ones(length)
    k = np.arange(1, POINTS, dtype=np.float64)
    side = np.sqrt(k**2 * (float(length) ** 2 - k**2) / (4 * (4 * k**2 - 1)))
    positions, vectors = np.linalg.eigh(np.diag(side, 1) + np.diag(side, -1))
    return (length - 1) / 2 + positions, length * vectors[0] ** 2
