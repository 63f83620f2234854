"""FF1 against the samples that NIST publishes, and as a permutation."""

from __future__ import annotations

import random

import pytest

from kohorte.errors import InternalError
from kohorte.pseudonyms.alphabets import Alphabet
from kohorte.pseudonyms.ff1 import FF1

KEY = bytes.fromhex("2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F7F036D6F04FC6A94")
TWEAK, LONG = "39383736353433323130", "3737373770717273373737"
DIGITS = Alphabet("0123456789")
LETTERS = Alphabet("0123456789abcdefghijklmnopqrstuvwxyz")
SAMPLES = [
    (16, "", DIGITS, "0123456789", "2433477484"),
    (16, TWEAK, DIGITS, "0123456789", "6124200773"),
    (16, LONG, LETTERS, "0123456789abcdefghi", "a9tv40mll9kdu509eum"),
    (24, "", DIGITS, "0123456789", "2830668132"),
    (24, TWEAK, DIGITS, "0123456789", "2496655549"),
    (24, LONG, LETTERS, "0123456789abcdefghi", "xbj3kv35jrawxv32ysr"),
    (32, "", DIGITS, "0123456789", "6657667009"),
    (32, TWEAK, DIGITS, "0123456789", "1001623463"),
    (32, LONG, LETTERS, "0123456789abcdefghi", "xs8a0azh2avyalyzuwd"),
]


@pytest.mark.parametrize(("size", "tweak", "alphabet", "plain", "cipher"), SAMPLES, ids=range(1, 10))
def test_the_nine_samples_of_nist_are_encrypted_and_decrypted(
    size: int, tweak: str, alphabet: Alphabet, plain: str, cipher: str
) -> None:
    ff1 = FF1(KEY[:size], alphabet.size, bytes.fromhex(tweak))
    [encrypted] = ff1.encrypt([alphabet.number(plain)], len(plain))
    assert alphabet.text(encrypted, len(plain)) == cipher
    assert ff1.decrypt([encrypted], len(plain)) == [alphabet.number(plain)]


@pytest.mark.parametrize("length", [6, 7, 11, 20, 41, 90])
def test_many_texts_at_a_time_are_encrypted_as_one_by_one(length: int) -> None:
    """Long texts have more than one block and more than sixteen bytes per round."""
    ff1, dice = FF1(KEY, 10), random.Random(length)
    numbers = [0, 10**length - 1, *(dice.randrange(10**length) for _ in range(30))]
    together = ff1.encrypt(numbers, length)
    assert together == [ff1.encrypt([number], length)[0] for number in numbers]
    assert ff1.decrypt(together, length) == numbers
    assert all(0 <= number < 10**length for number in together)


def test_it_is_a_permutation() -> None:
    encrypted = FF1(KEY, 10).encrypt(range(10_000), 6)
    assert len(set(encrypted)) == 10_000


def test_nothing_is_encrypted_in_a_space_below_a_million() -> None:
    assert [FF1(KEY, radix).shortest for radix in (2, 10, 32, 36, 1000, 65536)] == [20, 6, 4, 4, 2, 2]
    with pytest.raises(InternalError):
        FF1(KEY, 10).encrypt([1], 5)
    for radix in (1, 65537):
        with pytest.raises(InternalError):
            FF1(KEY, radix)


def test_no_texts_are_no_texts() -> None:
    assert FF1(KEY, 10).encrypt([], 6) == []


def test_its_repr_shows_no_key() -> None:
    assert repr(FF1(KEY, 10)) == "<FF1 of 10 characters>"
