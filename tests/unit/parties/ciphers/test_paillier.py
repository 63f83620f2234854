"""Counters under Paillier, against the textbook scheme in plain Python."""

import math
import sys

import numpy as np
import pytest

from kohorte.errors import InputError, ProtocolError
from kohorte.parties.ciphers.counters import Paillier, PaillierPublic, paillier

KEY = Paillier.derived(b"one key for all tests of this file")
P, Q = (int.from_bytes(KEY.data[at : at + 192], "big") for at in (0, 192))
N = P * Q


def counts(*values):
    return np.array(values, dtype=np.int64)


def numbers(rows):
    return [int.from_bytes(row.tobytes(), "big") for row in rows]


def rows(*values):
    return np.array([list(value.to_bytes(768, "big")) for value in values], dtype=np.uint8)


def decrypted(number):
    """Paillier, 1999, with g = 1 + n."""
    order = math.lcm(P - 1, Q - 1)
    return (pow(number, order, N * N) - 1) // N * pow(order, -1, N) % N


def passes_fermat(number):
    return all(pow(base, number - 1, number) == 1 for base in (2, 3, 5, 7))


def test_the_primes_are_as_the_scheme_wants_them():
    assert N.bit_length() == 3072
    assert passes_fermat(P)
    assert passes_fermat(Q)
    assert P % 4 == Q % 4 == 3
    assert math.gcd(P - 1, Q - 1) == 2
    assert math.gcd(N, (P - 1) * (Q - 1)) == 1


def test_the_public_key_has_the_modulus_and_a_power_that_is_minus_a_square():
    data = KEY.public.to_bytes()
    n, h = int.from_bytes(data[:384], "big"), int.from_bytes(data[384:], "big")
    assert n == N
    assert decrypted(h) == 0
    assert [pow(h, (prime - 1) // 2, prime) for prime in (P, Q)] == [P - 1, Q - 1]


@pytest.mark.slow
def test_the_textbook_decrypts_what_is_encrypted_summed_and_refreshed():
    encrypted = KEY.public.encrypt(counts(77, 2**32))
    assert decrypted(numbers(encrypted)[0]) == 77
    total = KEY.public.sum_groups(encrypted, np.array([0, 0], dtype=np.uint32), 1)
    assert decrypted(numbers(total)[0]) == 77 + 2**32
    assert decrypted(numbers(KEY.public.refresh(total))[0]) == 77 + 2**32


def test_what_the_textbook_encrypts_is_decrypted():
    encrypted = [(1 + count * N) * pow(12345 + count, N, N * N) % (N * N) for count in (0, 31)]
    assert KEY.decrypt(rows(*encrypted), 100).tolist() == [0, 31]


def test_windows_give_the_power_that_they_stand_for(monkeypatch):
    public = KEY.public
    for exponent in (0, 64, 2**1536 - 1, 3**900):
        monkeypatch.setattr(paillier.secrets, "randbits", lambda bits, drawn=exponent: drawn)
        h = int.from_bytes(public.to_bytes()[384:], "big")
        assert numbers(public.encrypt(counts(5)))[0] == (1 + 5 * N) * pow(h, exponent, N * N) % (N * N)


def test_exponents_have_half_the_bits_of_the_modulus(monkeypatch):
    asked = []
    monkeypatch.setattr(paillier.secrets, "randbits", lambda bits: asked.append(bits) or 1)
    KEY.public.encrypt(counts(0, 1))
    assert asked == [1536, 1536]


@pytest.mark.parametrize("number", [0, 1, N, 5 * N, 1 + N, 1 + 7 * N, N * N, N * N + 2])
def test_what_is_no_ciphertext_or_not_blinded_is_refused(number):
    bad = rows(numbers(KEY.public.encrypt(counts(1)))[0], number)
    for use in (
        lambda: KEY.decrypt(bad, 10),
        lambda: KEY.public.refresh(bad),
        lambda: KEY.public.sum_groups(bad, np.zeros(2, dtype=np.uint32), 1),
    ):
        with pytest.raises(ProtocolError, match="counter 2 of a message is not encrypted"):
            use()


@pytest.mark.parametrize("n", [N >> 1, N + 1, 2**3071])
def test_a_modulus_that_is_too_short_or_even_is_refused(n):
    with pytest.raises(ProtocolError):
        PaillierPublic.from_bytes(n.to_bytes(384, "big") + KEY.public.to_bytes()[384:])


@pytest.mark.parametrize("h", [0, 1, N, N * N])
def test_a_power_that_hides_nothing_is_refused(h):
    with pytest.raises(ProtocolError):
        PaillierPublic.from_bytes(N.to_bytes(384, "big") + h.to_bytes(768, "big"))


def test_many_numbers_are_shared_between_threads_and_stay_in_order():
    assert paillier.in_threads(lambda number: number * number, range(1001)) == [i * i for i in range(1001)]


def test_without_gmpy2_the_remedy_is_named(monkeypatch):
    paillier._gmpy2.cache_clear()
    monkeypatch.setitem(sys.modules, "gmpy2", None)
    with pytest.raises(InputError, match=r"install kohorte\[parties\]") as caught:
        Paillier.random()
    assert caught.value.code == "party-library-missing"
