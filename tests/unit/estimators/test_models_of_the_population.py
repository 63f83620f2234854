"""The fitted models against their definitions in plain Python."""

import math

import numpy as np
import pytest

from kohorte.estimators import Sample
from kohorte.estimators.pitman import expected_uniques, fit
from kohorte.estimators.snb import population_classes, solve
from kohorte.estimators.zayatz import alone

SAMPLES = {
    "skewed": [1] * 300 + [2] * 60 + [3] * 20 + [9] * 10 + [50] * 4 + [400],
    "even": [1] * 30 + [2] * 60 + [3] * 60 + [4] * 20,
    "nearly all unique": [1] * 200 + [2] * 3,
    "small": [1, 1, 2, 5],
}
every_sample = pytest.mark.parametrize("sizes", SAMPLES.values(), ids=SAMPLES)


def log_likelihood(sizes, theta, alpha):
    if theta <= -alpha or not 0 <= alpha < 1:
        return -math.inf
    return (
        sum(math.log(theta + i * alpha) for i in range(1, len(sizes)))
        - sum(math.log(theta + i) for i in range(1, sum(sizes)))
        + sum(math.log(j - alpha) for size in sizes for j in range(1, size))
    )


@every_sample
def test_no_other_parameters_of_pitmans_formula_are_likelier(sizes):
    theta, alpha = fit(Sample.of(np.array(sizes), 0.1))
    best = log_likelihood(sizes, theta, alpha)
    near = [(theta * (1 + t), alpha + a) for t in (-0.01, 0, 0.01) for a in (-0.001, 0, 0.001)]
    far = [(10.0**t, a) for t in range(-3, 7) for a in (0, 0.2, 0.4, 0.6, 0.8, 0.99)]
    assert max(log_likelihood(sizes, *other) for other in near + far) <= best + 1e-9


def test_evenly_sized_classes_lead_to_ewens_formula():
    assert fit(Sample.of(np.array(SAMPLES["even"]), 0.1))[1] == 0


@pytest.mark.parametrize(("theta", "alpha", "people"), [(0.7, 0.3, 50), (-0.2, 0.6, 1000), (300.0, 0.0, 20)])
def test_expected_uniques_of_pitmans_formula(theta, alpha, people):
    product = people
    for i in range(1, people):
        product *= (theta + alpha + i - 1) / (theta + i)
    assert expected_uniques(theta, alpha, people) == pytest.approx(product, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "fraction"),
    [("skewed", 0.05), ("skewed", 0.3), ("skewed", 0.8), ("nearly all unique", 0.05), ("nearly all unique", 0.3)],
)
def test_the_slide_negative_binomial_model_expects_the_sample(name, fraction):
    sample = Sample.of(np.array(SAMPLES[name]), fraction)
    alpha, log_beta = solve(sample)
    beta, probability, ones, twos = math.exp(log_beta), math.exp(alpha * log_beta), 0.0, 0.0
    for j in range(1, 20000):
        ones += probability * j * fraction * (1 - fraction) ** (j - 1)
        twos += probability * j * (j - 1) / 2 * fraction**2 * (1 - fraction) ** max(j - 2, 0)
        probability *= (alpha + j - 1) / j * (1 - beta)
    classes = population_classes(sample)
    assert classes * ones == pytest.approx(sample.of_size(1), rel=1e-9)
    assert classes * twos == pytest.approx(sample.of_size(2), rel=1e-9)


def test_the_classes_of_the_population_by_hand():
    """Haas and Stokes' D_Sh3 for 3 classes of one and 1 class of two rows, half of the population being drawn."""
    sample = Sample.of(np.array([1, 1, 1, 2]), 0.5)
    unseen = (3 * 0.5 + 1 * 0.25) / (3 * 0.5 + 2 * 0.5 * 0.5)
    correction = (3 * 0.25 + 2 * 0.25 * 0.75) / (3 * 0.5 * 0.5 + 0.25 * (1.5**2 - 1))
    assert population_classes(sample) == pytest.approx(4 + 3 * correction * unseen**2)


def test_one_of_a_class_is_drawn_with_the_hypergeometric_probability():
    sample = Sample.of(np.array([1, 2, 3, 4]), 0.4)  # 10 of 25
    expected = [size * math.comb(25 - size, 9) / math.comb(25, 10) for size in (1, 2, 3, 4)]
    assert alone(sample) == pytest.approx(expected)
