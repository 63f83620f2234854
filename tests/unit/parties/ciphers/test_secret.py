import copy
import pickle

import pytest

from kohorte.errors import InternalError
from kohorte.parties.ciphers.agreement import KeyPair
from kohorte.parties.ciphers.commutative import CommutativeKey
from kohorte.parties.ciphers.ristretto import hash_to_group
from kohorte.parties.ciphers.secret import Secret

KEYS = [CommutativeKey.random, KeyPair.random, lambda: Secret(b"SECRET-SECRET")]


def shown(key):
    return [repr(key), str(key), f"{key}", f"{[key]}"]


@pytest.mark.parametrize("draw", KEYS)
def test_a_key_is_not_shown(draw):
    key = draw()
    spellings = {key.data.hex(), repr(key.data), repr(list(key.data)), key.data.decode("latin-1")}
    assert not [text for text in shown(key) for spelling in spellings if spelling in text]
    assert type(key).__name__ in repr(key)


@pytest.mark.parametrize("draw", KEYS)
def test_a_key_cannot_be_pickled_or_copied_by_accident(draw):
    key = draw()
    for use in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(InternalError):
            use(key)


@pytest.mark.parametrize("draw", KEYS)
def test_two_keys_are_never_the_same(draw):
    if draw is not KEYS[-1]:
        assert draw().data != draw().data


def test_a_wiped_key_is_gone_and_cannot_be_used():
    key = CommutativeKey.random()
    held = key._data
    points = hash_to_group([b"f"], b"sex")
    with key:
        key.encrypt(points)
    assert not any(held)
    for use in (lambda: key.data, lambda: key.encrypt(points)):
        with pytest.raises(InternalError, match="wiped"):
            use()
    key.wipe()


def test_a_key_is_wiped_when_a_block_fails():
    key = CommutativeKey.random()
    with pytest.raises(ZeroDivisionError), key:
        _ = 1 / 0
    with pytest.raises(InternalError):
        _ = key.data
