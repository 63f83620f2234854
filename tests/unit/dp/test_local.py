"""Randomized response: the coin of the literature costs ln 3 and tells the share of all without bias."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from kohorte.dp import randomized_response
from kohorte.errors import InputError


def test_the_coin_of_the_literature_costs_ln_3() -> None:
    assert randomized_response([True]).epsilon == pytest.approx(math.log(3), rel=1e-12)


def test_three_of_four_answers_are_true() -> None:
    answers = randomized_response([True] * 4_000).answers
    low, high = stats.binom.ppf([1e-6, 1 - 1e-6], 4_000, 0.75)
    assert low <= sum(answers) <= high


def test_the_share_is_estimated_within_its_half_width() -> None:
    found = randomized_response([True] * 1_200 + [False] * 2_800)
    assert abs(found.share - 0.3) <= 2 * found.half_width
    assert found.half_width == pytest.approx(2 * math.sqrt(math.log(40) / 8_000))


def test_the_answers_are_not_in_the_repr() -> None:
    assert "answers" not in repr(randomized_response([True, False]))


@pytest.mark.parametrize(
    ("values", "truthful"), [([], 0.75), ([1, 0], 0.75), ([True], 0.5), ([True], 1.0), ([True], True)]
)
def test_anything_but_truths_and_a_probability_is_refused(values: list[bool], truthful: float) -> None:
    with pytest.raises(InputError):
        randomized_response(values, truthful=truthful)
