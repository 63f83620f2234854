"""Distinct numbers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kohorte.kernels.distinct import distinct_numbers


@given(st.lists(st.integers(0, 9)))
def test_each_number_stays_once_in_order(numbers):
    assert distinct_numbers(np.array(numbers, dtype=np.int64)).tolist() == sorted(set(numbers))


def test_the_caller_keeps_the_array():
    numbers = np.array([3, 1, 3], dtype=np.uint32)
    assert distinct_numbers(numbers).dtype == np.uint32
    assert numbers.tolist() == [3, 1, 3]
