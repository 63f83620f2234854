"""The probability of being alone in a cell, from a histogram of logarithms: fast, with a proven error bound.

The logarithm of the probability P of a person's cell is a sum over the questions. Each logarithm is placed on a grid of
width w: its mass is divided between its two neighbours so that the mean is preserved. Sums are then convolutions, by
Fourier transforms, and the probability of being alone is the mean of g(x) = (1 - e^x)^(N - 1) over the grid.

**The error, with its proof.** Dividing the mass adds a random number of mean 0 between neighbours at distance w, whose
variance is at most w^2 / 4. By Taylor's formula it changes the mean of g by at most w^2 / 8 times the largest |g''|,
and d questions by d times that. With m = N - 1 and u = m p, g'' = u (u - 1) (1 - p)^(m - 2), in absolute value at most
u |u - 1| e^(-u (1 - 2 / m)). Without 2 / m the largest value is 0.3096, at u = 2.618; from m = 1,000 on it is below
0.312. Logarithms are never above 0, where this holds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from kohorte.survey.estimators.spectrum import Floats
from kohorte.survey.questionnaire.survey import Block

FEWEST_PEOPLE = 1_001
LARGEST_CURVATURE = 0.312
ROUNDING = 1e-12
MOST_REMEMBERED = 2**26
"""Bytes of cached transforms."""


class LogarithmGrid:
    """A grid for the cells of a survey, and for those of all surveys with merged categories."""

    def __init__(self, blocks: Sequence[Block], points: int) -> None:
        self.points = points
        reach = -math.fsum(math.log(min(filter(None, block.probabilities))) for block in blocks)
        self.width = reach / (points - 1 - 2 * len(blocks)) if reach else 1.0
        self._probabilities = np.exp(-self.width * np.arange(points))
        self._people = 0
        self._alone: Floats = self._probabilities
        self._made: dict[int, tuple[Block, Any]] = {}
        self._most_made = max(1, MOST_REMEMBERED // (8 * points))

    def alone(self, blocks: Sequence[Block], people: int) -> tuple[float, float]:
        """The probability that a person is alone, and a bound for its error; for at least 1,001 people."""
        transform = self._transform(blocks[0])
        for block in blocks[1:]:
            transform = transform * self._transform(block)
        masses = np.fft.irfft(transform, self.points)
        error = len(blocks) * self.width**2 / 8 * LARGEST_CURVATURE
        return float(masses @ self._singles(people)), error + ROUNDING

    def _singles(self, people: int) -> Floats:
        """The probability of being alone in a cell of each probability; cached for the last number of people."""
        if self._people != people:
            with np.errstate(divide="ignore"):  # a cell that holds all people: no one is alone
                self._alone = np.exp((people - 1) * np.log1p(-self._probabilities))
            self._people = people
        return self._alone

    def _transform(self, block: Block) -> Any:
        if id(block) not in self._made:
            if len(self._made) >= self._most_made:
                self._made.pop(next(iter(self._made)))
            self._made[id(block)] = block, np.fft.rfft(self._shared(block))
        return self._made[id(block)][1]

    def _shared(self, block: Block) -> Floats:
        """The mass at each point of the grid."""
        masses = np.array([float(probability) for probability in block.probabilities if probability])
        positions = -np.log(masses) / self.width
        below = np.floor(positions).astype(np.int64)
        above = positions - below
        found = np.bincount(below, masses * (1 - above), minlength=self.points)
        found += np.bincount(below + 1, masses * above, minlength=self.points)[: self.points]
        return np.asarray(found, dtype=np.float64)
