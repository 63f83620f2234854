import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte.errors import ProtocolError
from kohorte.parties.ciphers.commutative import CommutativeKey
from kohorte.parties.ciphers.ristretto import hash_to_group
from support import ristretto_oracle as oracle
from support.examples import examples
from support.ristretto_vectors import NOT_POINTS

TEXTS = st.lists(st.binary(max_size=8), min_size=1, max_size=5)


@examples(20)
@given(TEXTS, st.permutations(range(3)), st.permutations(range(3)))
def test_layers_of_three_parties_go_on_and_come_off_in_any_order(texts, on, off):
    keys = [CommutativeKey.random() for _ in range(3)]
    points = hash_to_group(texts, b"column")
    locked = points
    for party in on:
        locked = keys[party].encrypt(locked)
    other_order = keys[0].encrypt(keys[1].encrypt(keys[2].encrypt(points)))
    np.testing.assert_array_equal(locked, other_order)
    for party in off:
        locked = keys[party].decrypt(locked)
    np.testing.assert_array_equal(locked, points)


def test_equal_values_stay_equal_and_different_ones_stay_different():
    points = hash_to_group([b"f", b"m", b"f"], b"sex")
    locked = CommutativeKey.random().encrypt(points)
    assert locked[0].tobytes() == locked[2].tobytes() != locked[1].tobytes()
    assert {row.tobytes() for row in locked}.isdisjoint({row.tobytes() for row in points})


def test_the_ciphertext_is_the_product_with_the_key():
    key, points = CommutativeKey.random(), hash_to_group([b"f"], b"sex")
    expected = oracle.product(int.from_bytes(key.data, "little"), points.tobytes())
    assert key.encrypt(points).tobytes() == expected


def test_another_key_does_not_decrypt():
    points = hash_to_group([b"f"], b"sex")
    assert (CommutativeKey.random().decrypt(CommutativeKey.random().encrypt(points)) != points).any()


@pytest.mark.parametrize("bad", [np.zeros((1, 32), np.uint8), np.zeros((1, 30), np.uint8), NOT_POINTS[20]])
def test_what_is_no_point_is_refused(bad):
    bad = np.array([list(bytes.fromhex(bad))], dtype=np.uint8) if isinstance(bad, str) else bad
    key = CommutativeKey.random()
    for use in (key.encrypt, key.decrypt):
        with pytest.raises(ProtocolError):
            use(bad)
