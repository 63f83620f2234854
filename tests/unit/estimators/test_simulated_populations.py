"""How near the estimates come to the truth, in populations that are drawn from known distributions.

100,000 people; true and estimated are shares of them. The bounds hold for a dozen seeds and are stated in
docs/models/population-uniqueness.md.
"""

import numpy as np
import pytest

from kohorte.estimators import ESTIMATORS, Sample, dankar, pitman, snb

PEOPLE = 100_000


def normed(weights):
    return weights / weights.sum()


def zipf(cells, exponent):
    return normed(np.arange(1, cells + 1.0) ** -exponent)


def pareto(cells, shape):
    return normed(np.random.default_rng(5).pareto(shape, cells) + 1e-9)


EVEN = {
    "uniform, 1 person per cell": np.full(PEOPLE, 1 / PEOPLE),
    "uniform, 5 people per cell": np.full(PEOPLE // 5, 5 / PEOPLE),
    "uniform, 50 people per cell": np.full(PEOPLE // 50, 50 / PEOPLE),
    "Zipf 0.7": zipf(PEOPLE, 0.7),
    "Pareto 2": pareto(PEOPLE, 2.0),
    "geometric 0.9999": normed(0.9999 ** np.arange(PEOPLE)),
}
SKEWED = {
    "Zipf 1": zipf(PEOPLE, 1.0),
    "Zipf 1.3": zipf(10 * PEOPLE, 1.3),
    "Pareto 0.8": pareto(PEOPLE, 0.8),
    "geometric 0.99": normed(0.99 ** np.arange(5000)),
}


def drawn(probabilities, fraction, seed=0):
    """The true share of uniques, and a sample."""
    rng = np.random.default_rng(seed)
    people = np.repeat(np.arange(len(probabilities)), rng.multinomial(PEOPLE, probabilities))
    return share_of_uniques(people), sampled(people, fraction, rng)


def share_of_uniques(people):
    return float((np.bincount(people) == 1).sum() / len(people))


def sampled(people, fraction, rng):
    return Sample.of(np.bincount(rng.choice(people, int(len(people) * fraction), replace=False)), fraction)


@pytest.mark.parametrize(("fraction", "factor"), [(0.01, 2.1), (0.05, 1.6), (0.2, 1.3), (0.5, 1.15)])
@pytest.mark.parametrize("name", SKEWED)
def test_the_decision_rule_is_near_in_skewed_populations(name, fraction, factor):
    """A few common cells and very many rare ones, as in most clinical tables; 50 people more or less are chance."""
    truth, sample = drawn(SKEWED[name], fraction)
    assert truth * 0.85 - 5e-4 <= dankar(sample).uniques / PEOPLE <= truth * factor + 5e-4


@pytest.mark.parametrize(("fraction", "more"), [(0.01, 0.7), (0.05, 0.3), (0.2, 0.3), (0.5, 0.03)])
@pytest.mark.parametrize("name", EVEN)
def test_the_decision_rule_errs_on_the_safe_side_in_even_populations(name, fraction, more):
    truth, sample = drawn(EVEN[name], fraction)
    assert truth * 0.75 <= dankar(sample).uniques / PEOPLE <= truth + more


@pytest.mark.parametrize("name", [*EVEN, *SKEWED])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_estimator_is_near_when_nine_of_ten_people_are_drawn(name, estimator):
    truth, sample = drawn({**EVEN, **SKEWED}[name], 0.9)
    uniques = ESTIMATORS[estimator](sample).uniques
    margin = 0.1 if estimator == "pitman" else 0.02
    assert uniques is None or abs(uniques / PEOPLE - truth) <= margin


def pitman_population(theta, alpha, people, rng):
    """Draw people one after the other, each into a new class or into that of somebody, by Pitman's urn."""
    classes, sizes = np.empty(people, dtype=np.int64), []
    for i in range(people):
        if rng.random() * (theta + i) < theta + alpha * len(sizes):
            classes[i] = len(sizes)
            sizes.append(0)
        else:
            classes[i] = classes[rng.integers(i)]
            while rng.random() < alpha / sizes[classes[i]]:
                classes[i] = classes[rng.integers(i)]
        sizes[classes[i]] += 1
    return classes


@pytest.mark.parametrize(("fraction", "error"), [(0.05, 0.15), (0.2, 0.08), (0.5, 0.04)])
@pytest.mark.parametrize(("theta", "alpha"), [(500, 0.5), (50, 0.8)])
def test_pitman_is_right_where_its_formula_holds(theta, alpha, fraction, error):
    """The mean of five samples."""
    rng = np.random.default_rng(1)
    people = pitman_population(theta, alpha, 20_000, rng)
    estimates = [pitman(sampled(people, fraction, rng)).uniques / len(people) for _ in range(5)]
    assert np.mean(estimates) == pytest.approx(share_of_uniques(people), rel=error)


@pytest.mark.parametrize(("alpha", "beta"), [(0.3, 0.05), (1, 0.2), (0.1, 0.02)])
def test_the_slide_negative_binomial_model_is_right_where_it_holds_and_half_of_the_people_are_drawn(alpha, beta):
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(20_000), 1 + rng.negative_binomial(alpha, beta, 20_000))
    estimate = snb(sampled(people, 0.5, rng)).uniques / len(people)
    assert estimate == pytest.approx(share_of_uniques(people), rel=0.08)


def test_the_decision_rule_can_be_too_low_by_half():
    """Most classes have one person, the others very many: the documentation says so."""
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(20_000), 1 + rng.negative_binomial(0.1, 0.02, 20_000))
    ratio = dankar(sampled(people, 0.05, rng)).uniques / len(people) / share_of_uniques(people)
    assert 0.35 < ratio < 0.6
