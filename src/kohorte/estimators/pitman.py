"""The estimator of Hoshino, based on Pitman's sampling formula."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kohorte.estimators.long_sums import points
from kohorte.estimators.sample import Estimate, Sample
from kohorte.kernels.arrays import Floats


def pitman(sample: Sample) -> Estimate:
    """Estimate the population uniques if sample and population follow Pitman's sampling formula.

    Definition
        n people fall into u classes, of which s(j) have j people, with a probability proportional to
        (theta + alpha) (theta + 2 alpha) ... (theta + (u - 1) alpha) / ((theta + 1) ... (theta + n - 1)) times
        ((1 - alpha) (2 - alpha) ... (j - 1 - alpha)) ^ s(j) for all j. theta and alpha are the maximum likelihood
        estimates from the sample, with 0 <= alpha < 1 and theta > -alpha. The estimate is the expected number of
        classes of one person among the N people of the population.
    Known error
        The formula assumes infinitely many possible classes, a few of them common, most of them rare. If all classes
        are about equally common, the estimate is too high.
    No estimate
        If all classes of the sample have one row: the likelihood then has no maximum.
    Source
        Hoshino, Applying Pitman's Sampling Formula to Microdata Disclosure Risk Assessment, Journal of Official
        Statistics 17(4), 2001. He uses the limit for large N; here the expectation is exact.
    """
    if (known := sample.known) is not None:
        return known
    fitted = fit(sample)
    if fitted is None:
        return Estimate(None, "pitman", "the likelihood of Pitman's sampling formula has no maximum")
    return Estimate(expected_uniques(*fitted, sample.population), "pitman")


def expected_uniques(theta: float, alpha: float, population: float) -> float:
    """N (theta + alpha) ... (theta + alpha + N - 2) / ((theta + 1) ... (theta + N - 1))."""
    positions, weights = points(1, round(population) - 1)
    return population * math.exp(float(weights @ np.log1p((alpha - 1) / (theta + positions))))


def fit(sample: Sample) -> tuple[float, float] | None:
    """Find the maximum likelihood estimates of theta > -alpha and 0 <= alpha < 1.

    For every alpha there is one most likely theta; alpha is found by Newton's method, kept between a bound where the
    likelihood increases and a bound where it decreases. With alpha = 0, the formula is that of Ewens.
    """
    if sample.classes in (1, sample.rows):
        return None
    likelihood = Likelihood.of(sample)
    low, high, alpha = 0.0, 1.0, 0.0
    for _ in range(100):
        theta = likelihood.theta(alpha)
        slope, curvature = likelihood.slope(theta, alpha)
        if alpha == 0 and slope <= 0:
            break
        low, high = (alpha, high) if slope > 0 else (low, alpha)
        step = alpha - slope / curvature if curvature < 0 else high
        step = step if low < step < high else (low + high) / 2
        if abs(step - alpha) < 1e-13:
            break
        alpha = step
    return theta, alpha


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The logarithm of the likelihood: three sums, each by points and weights.

    log(theta + i alpha) over the `classes` from the second on, minus log(theta + i) over the `rows` from the second on,
    plus log(i - alpha) over the rows `within` each class from the second on.
    """

    classes: tuple[Floats, Floats]
    rows: tuple[Floats, Floats]
    within: tuple[Floats, Floats]

    @classmethod
    def of(cls, sample: Sample) -> Likelihood:
        """Prepare the sums for a sample."""
        lows, highs = [1, *sample.sizes[:-1].tolist()], sample.sizes.tolist()
        larger = sample.classes - np.cumsum(sample.counts) + sample.counts  # classes of at least each size
        parts = [points(low, high - 1) for low, high in zip(lows, highs, strict=True)]
        positions = np.concatenate([positions for positions, _ in parts])
        weights = np.concatenate([count * weights for count, (_, weights) in zip(larger, parts, strict=True)])
        return cls(points(1, sample.classes - 1), points(1, sample.rows - 1), (positions, weights))

    def theta(self, alpha: float) -> float:
        """The most likely theta for an alpha, by bisection over its logarithm."""
        low, high = -30.0, 60.0
        for _ in range(56):
            middle = (low + high) / 2
            theta = math.exp(middle) - alpha
            positions, weights = self.classes
            if weights @ (1 / (theta + alpha * positions)) > self.rows[1] @ (1 / (theta + self.rows[0])):
                low = middle
            else:
                high = middle
        return math.exp(low) - alpha

    def slope(self, theta: float, alpha: float) -> tuple[float, float]:
        """The first and the second derivative by alpha, with theta the most likely one for each alpha."""
        positions, weights = self.classes
        new, old, within = 1 / (theta + alpha * positions), 1 / (theta + self.rows[0]), 1 / (self.within[0] - alpha)
        slope = weights @ (positions * new) - self.within[1] @ within
        by_theta = self.rows[1] @ old**2 - weights @ new**2
        mixed = -(weights @ (positions * new**2))
        by_alpha = -(weights @ (positions * new) ** 2) - self.within[1] @ within**2
        return float(slope), float(by_alpha - mixed**2 / by_theta)
