"""Noise and its cost: all randomness and all privacy maps come from OpenDP.

Whole numbers
    All measurements are whole numbers (values in steps of their column), and noise is a whole number, too: discrete
    Laplace (pure) or discrete Gaussian (zcdp), sampled exactly. No floating-point number is ever perturbed, so
    floating-point attacks on noise do not apply.
Scale
    The scale starts at the textbook formula and grows until OpenDP's map confirms that the cost is within the share.
Keys that are not public
    OpenDP adds noise to the number of rows of each key and shows only keys above a threshold; a key of a single person
    stays hidden except with probability delta.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from kohorte.dp.budget.budget import Composition
from kohorte.dp.libraries import opendp
from kohorte.errors import InputError, InternalError

MOST_THRESHOLD = 2**50
LARGE = 1_000.0
_LIMIT = 2**62


@dataclass(frozen=True)
class Share:
    """The part of a cost that one measurement may use: epsilon or rho, never more than the exact share."""

    composition: Composition
    amount: float

    @property
    def is_pure(self) -> bool:
        """Whether the amount is an epsilon."""
        return self.composition is Composition.PURE


def shares(amount: Fraction, count: int, composition: Composition) -> Share:
    """Return one of `count` equal shares, rounded down."""
    exact = amount / count
    rounded = float(exact)
    while Fraction(rounded) > exact:
        rounded = math.nextafter(rounded, 0)
    return Share(composition, rounded)


def within(make: Callable[[float], Any], distance: Any, share: Share, *, guess: float) -> tuple[Any, float]:
    """Return the mechanism with about the least scale whose cost, by OpenDP's map, is within the share."""
    scale, growth = guess, 1e-15
    for _ in range(100):
        mechanism = make(scale)
        cost = mechanism.map(distance)
        if (cost[0] if isinstance(cost, tuple) else cost) <= share.amount:
            return mechanism, scale
        growth *= 2
        scale = guess * (1 + growth)
    raise InternalError("no scale of the noise has the wanted cost", code="query-noise-cost")


@lru_cache(maxsize=1024)
def _half_width(share: Share, scale: float, alpha: float) -> float:
    """The bound that noise of this scale exceeds with a probability of at most alpha.

    OpenDP enumerates all values of a discrete Gaussian, which takes too long for a large scale. Then the bound of the
    continuous one plus 1 is used: the tail of the discrete one beyond m is at most that of the continuous one beyond
    m - 1 (Canonne, Kamath and Steinke, The Discrete Gaussian for Differential Privacy, 2020, proposition 25).
    """
    dp = opendp()
    if share.is_pure:
        return float(dp.discrete_laplacian_scale_to_accuracy(scale, alpha))
    if scale < LARGE:
        return float(dp.discrete_gaussian_scale_to_accuracy(scale, alpha))
    return float(dp.gaussian_scale_to_accuracy(scale, alpha)) + 1


@dataclass(frozen=True)
class Noise:
    """Discrete noise on a vector of whole numbers that one person changes by at most `sensitivity`.

    The sensitivity is a sum of absolute values (pure), or a root of a sum of squares (zcdp).
    """

    share: Share
    sensitivity: float

    @property
    def name(self) -> str:
        """The name of the mechanism."""
        return "discrete Laplace" if self.share.is_pure else "discrete Gaussian"

    @cached_property
    def _made(self) -> tuple[Any, float]:
        dp = opendp()
        domain = dp.vector_domain(dp.atom_domain(T="i64"))
        if self.share.is_pure:
            make, metric, guess = dp.m.make_laplace, dp.l1_distance(T="i64"), self._distance / self.share.amount
        else:
            make, metric = dp.m.make_gaussian, dp.l2_distance(T="f64")
            guess = self._distance / math.sqrt(2 * self.share.amount)
        return within(lambda scale: make(domain, metric, scale=scale), self._distance, self.share, guess=guess)

    @property
    def _distance(self) -> float:
        return int(self.sensitivity) if self.share.is_pure else float(self.sensitivity)

    @property
    def scale(self) -> float:
        """The scale of the noise, in whole steps."""
        return self._made[1]

    @cached_property
    def cost(self) -> float:
        """The cost by OpenDP's map."""
        return float(self._made[0].map(self._distance))

    def release(self, exact: Sequence[int]) -> list[int]:
        """Return the numbers with noise."""
        fitting = [min(max(number, -_LIMIT), _LIMIT) for number in exact]
        return [int(number) for number in self._made[0](fitting)] if fitting else []

    def half_width(self, alpha: float) -> float:
        """Return what the noise exceeds with a probability of at most alpha."""
        return _half_width(self.share, self.scale, alpha)


NO_PERSON = "no person"
"""A key that always exists and is never shown: without any key OpenDP is not called, which timing would reveal."""


@dataclass(frozen=True)
class ThresholdedNoise:
    """The same noise on the number of rows of each key; only keys from a threshold on are shown.

    OpenDP (0.16, issue 2922) shows numbers that equal the threshold, but does not include them in its delta. Therefore
    its delta is computed at one threshold, and keys are shown from the next one on, which are those that it covers.
    """

    share: Share
    delta: float
    contributions: int

    @property
    def name(self) -> str:
        """The name of the mechanism."""
        kind = "Laplace" if self.share.is_pure else "Gaussian"
        return f"discrete {kind}, keys from {self.threshold:,} on"

    def _make(self, scale: float, threshold: int) -> Any:
        dp = opendp()
        domain = dp.map_domain(dp.atom_domain(T="String"), dp.atom_domain(T="i64"))
        inner = dp.absolute_distance(T="i64")
        if self.share.is_pure:
            return dp.m.make_laplace_threshold(domain, dp.l01inf_distance(inner), scale=scale, threshold=threshold)
        return dp.m.make_gaussian_threshold(domain, dp.l02inf_distance(inner), scale=scale, threshold=threshold)

    @property
    def _distance(self) -> tuple[int, int, int]:
        """The number of keys that one person changes, the total change, and the largest change of one key."""
        return self.contributions, self.contributions, self.contributions

    @cached_property
    def _made(self) -> tuple[Any, float, int]:
        amount, most = self.share.amount, self.contributions
        guess = most / amount if self.share.is_pure else most / math.sqrt(2 * amount)
        _, scale = within(lambda scale: self._make(scale, MOST_THRESHOLD), self._distance, self.share, guess=guess)
        usual = most + math.ceil(scale * math.log(2 * most / self.delta)) + 1
        for high in (min(usual, MOST_THRESHOLD), MOST_THRESHOLD):
            if self._hides(scale, high):
                threshold = self._least_hiding(scale, most, high) + 1
                return self._make(scale, threshold), scale, threshold
        raise InputError("delta is too small for keys that are not public", code="query-delta")

    def _least_hiding(self, scale: float, low: int, high: int) -> int:
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._hides(scale, middle) else (middle + 1, high)
        return low

    def _hides(self, scale: float, threshold: int) -> bool:
        return bool(self._make(scale, threshold).map(self._distance)[1] <= self.delta)

    @property
    def scale(self) -> float:
        """The scale of the noise."""
        return self._made[1]

    @property
    def threshold(self) -> int:
        """The least number of rows, with noise, of a key that is shown."""
        return self._made[2]

    @cached_property
    def cost(self) -> tuple[float, float]:
        """The cost by OpenDP's map: epsilon or rho, and delta, at a threshold of one less."""
        amount, delta = self._make(self.scale, self.threshold - 1).map(self._distance)
        return float(amount), float(delta)

    def release(self, exact: Mapping[tuple[Any, ...], int]) -> dict[tuple[Any, ...], int]:
        """Return the keys that are shown with their numbers, in the order of the keys."""
        texts = {json.dumps(key): key for key in exact}
        rows = {NO_PERSON: 0, **{text: int(exact[key]) for text, key in texts.items()}}
        shown = self._made[0](rows)
        return {texts[text]: int(shown[text]) for text in sorted(shown) if text != NO_PERSON}

    def half_width(self, alpha: float) -> float:
        """Return what the noise exceeds with a probability of at most alpha."""
        return _half_width(self.share, self.scale, alpha)
