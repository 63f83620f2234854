import numpy as np
import pytest

from kohorte.estimators.long_sums import points

FUNCTIONS = {
    "singular on the left": lambda x, first, last: 1 / (x - first + 0.1),
    "singular on the right": lambda x, first, last: np.log(last + 0.1 - x),
    "singular on both sides": lambda x, first, last: np.log(last + 0.1 - x) / (x - first + 0.1) ** 2,
    "far from singular": lambda x, first, last: 1 / (x + 1e9),
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
@pytest.mark.parametrize(("first", "last"), [(1, 1), (1, 24), (1, 25), (5, 55), (1, 1000), (3, 123_456)])
def test_few_points_give_long_sums(function, first, last):
    places, weights = points(first, last)
    numbers = np.arange(first, last + 1, dtype=np.float64)
    terms = function(numbers, first, last)
    assert abs(weights @ function(places, first, last) - terms.sum()) <= 1e-12 * np.abs(terms).sum()
    assert len(places) <= 450


def test_an_empty_sum_has_no_points():
    assert [len(part) for part in points(3, 2)] == [0, 0]


def test_a_billion_terms_need_few_points():
    places, weights = points(1, 10**9)
    assert weights @ (1 / places) == pytest.approx(np.log(10**9) + np.euler_gamma + 0.5e-9, rel=1e-13)
    assert len(places) < 1000
