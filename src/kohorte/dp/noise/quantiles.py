"""Quantiles with OpenDP: one of several candidates, chosen by noisy scores.

OpenDP scores every candidate by its distance from the quantile and picks one by noisy maximum. If a person has k_g
rows in group g, the cost in g is the map at k_g; the map is linear (pure) or quadratic (zcdp) in k_g, so the sum over
all groups is at most the map at the sum of the k_g, which `max_contributions` bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kohorte.dp.libraries import opendp
from kohorte.dp.noise.mechanisms import Share, within


@dataclass(frozen=True)
class QuantileChoice:
    """One of several candidates that is near a quantile of the values of a group."""

    share: Share
    quantile: float
    candidates: tuple[int, ...]
    contributions: int
    name = "noisy maximum of quantile scores"

    @cached_property
    def _scores(self) -> Any:
        dp = opendp()
        domain = dp.vector_domain(dp.atom_domain(T="i64"))
        return dp.t.make_quantile_score_candidates(
            domain, dp.symmetric_distance(), list(self.candidates), self.quantile
        )

    @cached_property
    def _made(self) -> tuple[Any, float]:
        dp, amount = opendp(), self.share.amount
        distance = self._scores.map(self.contributions)
        guess = 2 * distance / amount if self.share.is_pure else distance / math.sqrt(2 * amount)
        measure = dp.max_divergence() if self.share.is_pure else dp.zero_concentrated_divergence()

        def make(scale: float) -> Any:
            return self._scores >> dp.m.then_noisy_max(measure, scale=scale, negate=True)

        return within(make, self.contributions, self.share, guess=guess)

    @cached_property
    def scale(self) -> float:
        """The scale of the noise on the scores, in ranks."""
        return self._made[1] * max(self.quantile, 1 - self.quantile) / float(self._scores.map(1))

    @cached_property
    def cost(self) -> float:
        """The cost by OpenDP's map."""
        return float(self._made[0].map(self.contributions))

    def release(self, values: np.ndarray[Any, np.dtype[np.int64]]) -> int:
        """Return the candidate that was picked."""
        return self.candidates[int(self._made[0](values if len(values) else []))]

    def rank_error(self, alpha: float) -> float:
        """Return the error in ranks that is exceeded with a probability of at most alpha.

        Source
            McSherry and Talwar, Mechanism Design via Differential Privacy, FOCS 2007, theorem 6; the noisy maximum with
            exponential noise is never worse (McKenna and Sheldon, Permute-and-Flip, 2020).
        """
        return self.scale * math.log(len(self.candidates) / alpha)
