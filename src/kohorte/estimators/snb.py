"""The slide negative binomial estimator of Chen and Keller-McNulty."""

from __future__ import annotations

import math

import numpy as np

from kohorte.estimators.sample import Estimate, Sample
from kohorte.kernels.arrays import Floats

GRID = np.linspace(-40.0, 40.0, 321)
"""The logits of beta among which a solution is searched."""


def snb(sample: Sample) -> Estimate:
    """Estimate the population uniques if the size of a class is 1 + a negative binomial number.

    Definition
        P(F = j) = C(alpha + j - 2, j - 1) beta^alpha (1 - beta)^(j - 1). Each person is drawn with probability
        `fraction`. alpha and beta are chosen so that the expected numbers of classes with one and with two rows
        equal those of the sample; the number K of classes of the population is estimated from the sample
        (`population_classes`). The estimate is K beta^alpha.
    No estimate
        If no class of the sample has two rows, the equations have no solution, or it exceeds the population.
    Source
        Chen and Keller-McNulty, Estimation of Identification Disclosure Risk in Microdata, Journal of Official
        Statistics 14(1), 1998.
    """
    if (known := sample.known) is not None:
        return known
    if sample.of_size(2) == 0:
        return Estimate(None, "snb", "no class of the sample has two rows")
    solution = solve(sample)
    if solution is None:
        return Estimate(None, "snb", "the equations of the slide negative binomial model have no solution")
    alpha, log_beta = solution
    uniques = population_classes(sample) * math.exp(alpha * log_beta)
    if uniques > sample.population:
        return Estimate(None, "snb", "the estimate exceeds the population")
    return Estimate(uniques, "snb")


def population_classes(sample: Sample) -> float:
    """Estimate the number of classes of the population.

    Shlosser's estimator as modified by Haas and Stokes (Estimating the Number of Classes in a Finite Population, JASA
    93, 1998, there D_Sh3).
    """
    fraction, sizes, counts = sample.fraction, sample.sizes.astype(np.float64), sample.counts
    none = np.exp(sizes * math.log1p(-fraction))
    fewer = np.exp(sizes * math.log1p(-(fraction**2)))
    unseen = (counts @ none) / (counts @ (sizes * fraction * none / (1 - fraction)))
    correction = (counts @ (sizes * fraction**2 * fewer / (1 - fraction**2))) / (counts @ (fewer - none))
    return float(sample.classes + sample.of_size(1) * correction * unseen**2)


def solve(sample: Sample) -> tuple[float, float] | None:
    """Find alpha and log beta: the second equation gives alpha for each beta, the first then determines beta."""
    signs = np.sign(excess(sample, GRID))
    crossings = np.flatnonzero(signs[:-1] * signs[1:] <= 0)
    if not len(crossings):
        return None
    low, high = GRID[crossings[0]], GRID[crossings[0] + 1]
    for _ in range(60):
        middle = (low + high) / 2
        if excess(sample, np.array([middle]))[0] * signs[crossings[0]] > 0:
            low = middle
        else:
            high = middle
    logit = np.array([(low + high) / 2])
    return float(alpha_of(sample, logit)[0]), float(-np.logaddexp(0, -logit)[0])


def alpha_of(sample: Sample, logit: Floats) -> Floats:
    """The alpha for which the expected numbers of classes with two rows and with one row have the ratio of the sample.

    It is the positive root of x alpha^2 + (2 - x - r (1 - x) x) alpha - r (1 - x)^2.
    """
    rest = 1 / (1 + np.exp(logit))  # 1 - beta
    x = (1 - sample.fraction) * rest
    r = 2 * sample.of_size(2) / (sample.of_size(1) * sample.fraction * rest)
    half = (2 - x - r * (1 - x) * x) / 2
    constant = r * (1 - x) ** 2
    root = np.sqrt(half**2 + x * constant)
    return np.asarray(np.where(half > 0, constant / (half + root), (root - half) / x), dtype=np.float64)


def excess(sample: Sample, logit: Floats) -> Floats:
    """The logarithm of (expected number of classes with one row / that of the sample)."""
    alpha = alpha_of(sample, logit)
    log_beta = -np.logaddexp(0, -logit)
    x = (1 - sample.fraction) / (1 + np.exp(logit))
    expected = alpha * (log_beta - np.log1p(-x)) + np.log1p(alpha * x / (1 - x))
    scale = population_classes(sample) * sample.fraction / sample.of_size(1)
    return np.asarray(expected + math.log(scale), dtype=np.float64)
