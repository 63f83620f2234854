import numpy as np
import pytest

from kohorte.errors import ProtocolError
from kohorte.parties.ciphers.counters import small_logarithms as module
from kohorte.parties.ciphers.counters.small_logarithms import small_logarithms
from support import ristretto_oracle as oracle


def multiples(*numbers):
    return np.array([list(oracle.product(number, oracle.GENERATOR)) for number in numbers], dtype=np.uint8)


def test_logarithms_on_both_sides_of_every_step_are_found():
    numbers = [0, 1, 1023, 1024, 1025, 2047, 2048, 99_999, 4096 * 3, 4096 * 3 - 1]
    assert small_logarithms(multiples(*numbers), 100_000).tolist() == numbers
    assert small_logarithms(multiples(*numbers[::-1]), 99_999).tolist() == numbers[::-1]


@pytest.mark.parametrize("most", [0, 1, 1022, 1023, 1024, 5000])
def test_the_limit_is_exact(most):
    assert small_logarithms(multiples(most, 0), most).tolist() == [most, 0]
    with pytest.raises(ProtocolError, match="encrypted counter 2 "):
        small_logarithms(multiples(0, most + 1, most + 2), most)


def test_a_negative_count_is_refused():
    with pytest.raises(ProtocolError, match="encrypted counter 1 "):
        small_logarithms(multiples(oracle.ORDER - 1), 3000)


def test_the_first_counter_that_is_too_large_is_named_wherever_the_search_notices_it():
    for numbers in ((3, 900, 10**6), (3, 10**6, 900)):
        with pytest.raises(ProtocolError, match="encrypted counter 2 "):
            small_logarithms(multiples(*numbers), 800)


def test_no_points_have_no_logarithms():
    assert small_logarithms(np.zeros((0, 32), dtype=np.uint8), 10).tolist() == []


def test_tables_grow_with_the_square_root_and_have_a_limit():
    assert [module._length(most) for most in (0, 100, 10**4, 10**6, 2**32)] == [1024, 1024, 2048, 16384, 65536]
