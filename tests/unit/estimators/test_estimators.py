"""What holds for every estimator of population uniques."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte.errors import InputError
from kohorte.estimators import ESTIMATORS, Sample, dankar, pitman, snb, zayatz

every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
class_sizes = st.lists(st.one_of(st.integers(1, 3), st.integers(1, 60), st.integers(1, 10**6)), max_size=40)
fractions = st.one_of(st.floats(1e-6, 1, exclude_min=True), st.sampled_from([0.01, 0.1, 0.5, 0.999999]))


def sample_of(*sizes, fraction=0.1):
    return Sample.of(np.array(sizes, dtype=np.int64), fraction)


@every_estimator
@given(sizes=class_sizes, fraction=fractions)
def test_an_estimate_is_between_nobody_and_the_population(estimator, sizes, fraction):
    sample = sample_of(*sizes, fraction=fraction)
    estimate = estimator(sample)
    if estimate.uniques is None:
        assert estimate.reason
    else:
        assert 0 <= estimate.uniques <= sample.population * (1 + 1e-12)
        assert not estimate.reason


@every_estimator
@given(sizes=st.lists(st.integers(2, 1000), max_size=20), fraction=fractions)
def test_without_sample_uniques_nobody_is_unique(estimator, sizes, fraction):
    assert estimator(sample_of(*sizes, fraction=fraction)).uniques == 0


@every_estimator
@given(sizes=class_sizes)
def test_a_sample_of_everybody_is_counted(estimator, sizes):
    estimate = estimator(sample_of(*sizes, fraction=1.0))
    assert (estimate.uniques, estimate.by) == (sizes.count(1), "count")


@every_estimator
@given(sizes=class_sizes, data=st.data())
def test_the_order_of_classes_does_not_matter(estimator, sizes, data):
    shuffled = data.draw(st.permutations(sizes))
    assert estimator(sample_of(*sizes, fraction=0.3)) == estimator(sample_of(*shuffled, fraction=0.3))


@every_estimator
def test_a_sample_can_be_given_as_frequencies_of_frequencies(estimator):
    given_so = Sample(np.array([1, 2, 7]), np.array([5, 3, 1]), 0.3)
    assert estimator(given_so) == estimator(sample_of(7, 1, 2, 1, 2, 1, 1, 2, 1, fraction=0.3))


@every_estimator
def test_no_class_is_nobody(estimator):
    assert estimator(sample_of()).uniques == 0
    assert estimator(sample_of(0, 0)).uniques == 0


@every_estimator
def test_one_large_class_is_nobody(estimator):
    assert estimator(sample_of(1000)).uniques == 0


def test_where_all_rows_are_unique_only_zayatz_dares_and_says_everybody():
    sample = sample_of(*[1] * 100)
    assert zayatz(sample).uniques == pytest.approx(1000)
    assert dankar(sample) == zayatz(sample)
    assert (pitman(sample).uniques, snb(sample).uniques) == (None, None)


def test_estimates_have_a_reason_where_there_are_none():
    assert "two rows" in snb(sample_of(1, 3, 3)).reason
    assert "no solution" in snb(sample_of(*[1] * 50, *[2] * 100, *[3] * 200)).reason
    assert "no maximum" in pitman(sample_of(1, 1)).reason


@pytest.mark.parametrize("fraction", [0, -0.1, 1.1, float("nan"), float("inf")])
def test_an_impossible_fraction_is_refused(fraction):
    with pytest.raises(InputError) as caught:
        sample_of(1, 2, fraction=fraction)
    assert caught.value.code == "model-parameter"


def test_the_decision_rule_takes_pitman_up_to_a_tenth_and_then_the_smaller_of_the_two_others():
    sizes = [1] * 300 + [2] * 100 + [3] * 50 + [10] * 20
    for fraction in (0.001, 0.05, 0.1):
        assert dankar(sample_of(*sizes, fraction=fraction)) == pitman(sample_of(*sizes, fraction=fraction))
    for fraction in (0.100001, 0.2, 0.9):
        sample = sample_of(*sizes, fraction=fraction)
        assert dankar(sample).uniques == min(zayatz(sample).uniques, snb(sample).uniques)
        assert dankar(sample).by in ("zayatz", "snb")


def test_the_decision_rule_takes_zayatz_where_the_other_has_no_estimate():
    assert dankar(sample_of(1, 3, 3, fraction=0.5)).by == "zayatz"
    assert dankar(sample_of(1, 1, fraction=0.1)).by == "zayatz"
