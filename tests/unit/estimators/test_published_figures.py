"""ARX's own test figures for the table ADULT, all nine attributes being quasi-identifiers.

From arx-deidentifier/arx, src/test/org/deidentifier/arx/test/TestRiskMetrics.java, testDecisionRule2 (commit 9f5b700):
Pitman 0.27684993883653597 for the fraction 0.1 and 0.1446083531167384 for 0.01, Zayatz 0.3207402393466189 for 0.1 and
0.3577099234829125 for 0.2. ARX uses the limit of Pitman's expectation for large populations. Its slide negative
binomial model has no figure: it does not converge there, as its second equation multiplies by a power by which Chen
and Keller-McNulty divide.
"""

import math

import numpy as np
import pytest

from kohorte.estimators import Sample, pitman, snb, zayatz
from kohorte.estimators.pitman import fit

# How many classes of each size the 30,162 rows of ADULT form.
SIZES = [*range(1, 28), 29, 30, 32, 34, 35, 36, 45]
COUNTS = [
    *(15512, 2098, 754, 375, 189, 155, 97, 73, 39, 37, 29, 18, 23, 14, 15, 9, 11, 10, 10, 5, 3, 4, 3, 2, 1, 3, 5),
    *(1, 2, 1, 1, 1, 1, 1),
]


def adult(fraction):
    return Sample(np.array(SIZES), np.array(COUNTS), fraction)


def test_adult_has_the_uniqueness_that_arx_counts():
    assert adult(1.0).rows == 30162
    assert zayatz(adult(1.0)).uniques / 30162 == 0.5142895033485844


@pytest.mark.parametrize(("fraction", "share"), [(0.1, 0.3207402393466189), (0.2, 0.3577099234829125)])
def test_zayatz_gives_the_figures_of_arx(fraction, share):
    sample = adult(fraction)
    assert zayatz(sample).uniques / sample.population == pytest.approx(share, rel=1e-12)


@pytest.mark.parametrize(("fraction", "share"), [(0.1, 0.27684993883653597), (0.01, 0.1446083531167384)])
def test_pitman_has_the_parameters_of_arx(fraction, share):
    theta, alpha = fit(adult(fraction))
    people = adult(fraction).population
    limit = math.exp(math.lgamma(theta + 1) - math.lgamma(theta + alpha)) * people**alpha
    assert limit / people == pytest.approx(share, rel=1e-9)
    assert pitman(adult(fraction)).uniques == pytest.approx(limit, rel=0.003)  # the expectation itself, not its limit
    assert pitman(adult(fraction)).uniques < limit


@pytest.mark.parametrize(("fraction", "share"), [(0.1, 0.24997693756829506), (0.2, 0.31945937539897773)])
def test_the_slide_negative_binomial_model_stays_as_it_is(fraction, share):
    """No published figure: a figure of our own, against unintended changes."""
    sample = adult(fraction)
    assert snb(sample).uniques / sample.population == pytest.approx(share, rel=1e-9)
