"""The estimator of Zayatz: how many sample uniques are population uniques."""

from __future__ import annotations

import numpy as np

from kohorte.estimators.sample import Estimate, Sample
from kohorte.kernels.arrays import Floats


def zayatz(sample: Sample) -> Estimate:
    """Estimate the population uniques by Bayes' rule.

    Definition
        With p(j), the share of the population's classes that have j people, and h(j), the probability that exactly one
        of j people is in the sample (hypergeometric), a sample unique is a population unique with probability
        P = p(1) h(1) / sum of p(j) h(j). The estimate is (sample uniques) x P / fraction. The unknown p(j) are replaced
        by the shares of the sample's classes.
    Known error
        Classes of the sample are smaller than those of the population, so the estimate is too high, especially for a
        small fraction.
    Source
        Zayatz, Estimation of the Percent of Unique Population Elements on a Microdata File Using the Sample, Bureau of
        the Census RR-91/08, 1991.
    """
    if (known := sample.known) is not None:
        return known
    uniques = sample.of_size(1)
    probability = uniques * sample.fraction / float(sample.counts @ alone(sample))
    return Estimate(uniques * min(1.0, probability) / sample.fraction, "zayatz")


def alone(sample: Sample) -> Floats:
    """The probability that exactly one person of a class is drawn, with the sizes of the sample as population sizes."""
    population = round(sample.population)
    others = np.arange(int(sample.sizes[-1]) - 1, dtype=np.float64)
    missed = np.maximum(population - sample.rows - others, 0.0) / (population - 1 - others)
    none_of = np.concatenate([[1.0], np.cumprod(missed)])  # none of the first 0, 1, 2 ... others is drawn
    return np.asarray(sample.sizes * sample.fraction * none_of[sample.sizes - 1], dtype=np.float64)
