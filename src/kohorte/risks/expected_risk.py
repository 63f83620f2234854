"""The expected risk of a row if only the sampling fraction is known."""

from __future__ import annotations

import math

import numpy as np

from kohorte.estimators import Sample
from kohorte.estimators.long_sums import points
from kohorte.estimators.pitman import fit
from kohorte.kernels.arrays import Counts, Floats

FEW = 32
"""Up to this class size the expectation is summed; above it, a series is accurate to about 0.3 %."""


def expected_risk(sizes: Counts, fraction: float) -> Floats:
    """The expectation of 1 / F for each class with f rows in the sample and F people in the population.

    Definition
        Sample and population follow Pitman's sampling formula with the maximum likelihood estimates of theta and alpha,
        as in the estimate of the population uniques. The m people who are not in the sample are added one by one, and
        each joins a class of f people with probability (f - alpha) / (n + theta), where n grows: F - f is beta-binomial
        with m, f - alpha and n + theta - f + alpha. The probability that a sample unique is a population unique
        agrees with the estimated number of population uniques.
    Without an estimate
        If all rows are unique, the worst case 1 / f is assumed. If all look alike, so does the population.
    Source
        Hoshino 2001 (see estimators/pitman.py) for the model; Pitman, Exchangeable and Partially Exchangeable Random
        Partitions, Probability Theory and Related Fields 102, 1995, for the growth of classes.
    """
    distinct, inverse = np.unique(np.asarray(sizes, dtype=np.int64), return_inverse=True)
    sample = Sample.of(np.asarray(sizes, dtype=np.int64), fraction)
    others = round(sample.population) - sample.rows
    fitted = fit(sample) if len(distinct) and others > 0 else None
    if fitted is None:
        all_alike = sample.classes == 1 and sample.rows > 1
        return np.asarray((fraction if all_alike else 1.0) / distinct, dtype=np.float64)[inverse]
    theta, alpha = fitted
    few = distinct <= FEW
    risks = np.empty(len(distinct))
    risks[few] = [_summed(int(f), others, f - alpha, sample.rows + theta - f + alpha) for f in distinct[few].tolist()]
    f = distinct[~few].astype(np.float64)
    risks[~few] = _by_series(f, others, f - alpha, sample.rows + theta - f + alpha)
    return risks[inverse]


def _summed(f: int, m: int, a: float, b: float) -> float:
    """The sum over x of P(x) / (f + x) for x beta-binomial with m, a and b."""
    x, weights = points(0, m)
    logs = log_gamma(x + a) - log_gamma(x + 1) + log_gamma(m - x + b) - log_gamma(m - x + 1)
    chances = weights * np.exp(logs - logs.max())
    return float((chances / (f + x)).sum() / chances.sum())


def _by_series(f: Floats, m: int, a: Floats, b: Floats) -> Floats:
    """1 / mean + variance / mean^3, of f + x."""
    mean = f + m * a / (a + b)
    variance = m * a * b * (a + b + m) / ((a + b) ** 2 * (a + b + 1))
    return np.asarray(np.minimum(1 / f, 1 / mean + variance / mean**3), dtype=np.float64)


def log_gamma(z: Floats) -> Floats:
    """The logarithm of the gamma function for numbers above 0, by Stirling's series."""
    low = np.where(z < 10, z, 10.0)
    shift = np.where(z < 10, sum(np.log(low + step) for step in range(10)), 0.0)
    z = np.where(z < 10, z + 10, z)
    series = 1 / (12 * z) - 1 / (360 * z**3) + 1 / (1260 * z**5) - 1 / (1680 * z**7)
    return np.asarray((z - 0.5) * np.log(z) - z + 0.5 * math.log(2 * math.pi) + series - shift, dtype=np.float64)
