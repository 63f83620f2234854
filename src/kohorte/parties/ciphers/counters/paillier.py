"""Counters under Paillier's cryptosystem, with a modulus of 3072 bits.

A count m is encrypted as (1 + m n) h^r modulo n^2, where n = p q, h is an n-th power and r has half as many bits as n.
Multiplying ciphertexts adds counts. It is slower than ElGamal and has ciphertexts that are twelve times as long, but
rests on another assumption; it is the scheme of the original protocol.

Guarantee
    Without p and q nothing is learnt about a count (indistinguishable under chosen plaintexts), by the decisional
    composite residuosity assumption. Powers with exponents of half the length cannot be told from others if
    factoring is hard. 3072 bits are as strong as a symmetric key of 128 bits (NIST SP 800-57, part 1, table 2).
Leaves open
    Ciphertexts can be changed unnoticed: the channel must protect them.
Source
    Paillier: Public-Key Cryptosystems Based on Composite Degree Residuosity Classes, EUROCRYPT 1999; Damgard, Jurik,
    Nielsen: A Generalization of Paillier's Public-Key System with Applications to Electronic Voting, International
    Journal of Information Security 9(6), 2010 (the form with h and short r); Goldreich, Rosen: On the Security of
    Modular Exponentiation with Application to the Construction of Pseudorandom Generators, Journal of Cryptology 16(2),
    2003 (short exponents).
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from importlib import import_module
from typing import Any, ClassVar, Self

import numpy as np

from kohorte.errors import InputError, ProtocolError
from kohorte.kernels.arrays import Bytes, Codes, Counts
from kohorte.parties.ciphers.agreement import derived
from kohorte.parties.ciphers.counters.base import PrivateCounters, PublicCounters, too_large

BITS = 3072
_RANDOM_BITS = BITS // 2
_PRIME_BYTES = BITS // 16
_MODULUS_BYTES = BITS // 8
_WINDOW = 6
"""Bits of r that one entry of the table of powers stands for."""


class PaillierPublic(PublicCounters):
    """The public key: the modulus n and the n-th power h."""

    bytes_per_counter = 2 * _MODULUS_BYTES

    def __init__(self, modulus: Any, power: Any) -> None:
        self._n, self._h, self._square = modulus, power, modulus * modulus

    def __repr__(self) -> str:
        return f"<PaillierPublic of {BITS} bits>"

    def to_bytes(self) -> bytes:
        """Return the key as bytes: n, then h."""
        return int(self._n).to_bytes(_MODULUS_BYTES, "big") + int(self._h).to_bytes(self.bytes_per_counter, "big")

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read a key that another party sent."""
        n, h = (_number(part) for part in (data[:_MODULUS_BYTES], data[_MODULUS_BYTES:]))
        right = len(data) == 3 * _MODULUS_BYTES and n.bit_length() == BITS and n % 2 == 1
        if not right or not 1 < h < n * n or _gmpy2().gcd(n, h) != 1:
            raise ProtocolError("a public key for counters is malformed", code="party-ciphertext")
        return cls(n, h)

    def _encrypted(self, counts: Counts) -> Bytes:
        numbers = in_threads(self._blinded, [1 + int(count) * self._n for count in counts])
        return self._rows(numbers)

    def _summed(self, counters: Bytes, group_of: Codes, groups: int) -> Bytes:
        sums = [_gmpy2().mpz(1)] * groups
        for number, group in zip(self._numbers(counters), group_of.tolist(), strict=True):
            sums[group] = sums[group] * number % self._square
        return self._rows(sums)

    def _refreshed(self, counters: Bytes) -> Bytes:
        return self._rows(in_threads(self._blinded, self._numbers(counters)))

    def _blinded(self, number: Any) -> Any:
        """Multiply a number with a random power of h."""
        random, mask = secrets.randbits(_RANDOM_BITS), 2**_WINDOW - 1
        for powers in self._powers:
            number = number * powers[random & mask] % self._square
            random >>= _WINDOW
        return number

    @cached_property
    def _powers(self) -> list[list[Any]]:
        """For each window of the exponent, the powers of h that its bits stand for."""
        base, table = self._h, []
        for _ in range(-(-_RANDOM_BITS // _WINDOW)):
            powers = [_gmpy2().mpz(1)]
            for _ in range(2**_WINDOW - 1):
                powers.append(powers[-1] * base % self._square)
            table.append(powers)
            base = powers[-1] * base % self._square
        return table

    def _numbers(self, counters: Bytes) -> list[Any]:
        """Return ciphertexts as numbers; refuse what is none, and what is not blinded."""
        numbers = numbers_of(counters)
        for row, number in enumerate(numbers, start=1):
            if number >= self._square or number % self._n in (0, 1):
                raise ProtocolError(f"counter {row} of a message is not encrypted", code="party-ciphertext")
        return numbers

    def _rows(self, numbers: Sequence[Any]) -> Bytes:
        data = b"".join(int(number).to_bytes(self.bytes_per_counter, "big") for number in numbers)
        return np.frombuffer(data, dtype=np.uint8).reshape(len(numbers), self.bytes_per_counter).copy()


class Paillier(PrivateCounters):
    """The private key of counters under Paillier: the primes p and q."""

    name: ClassVar[str] = "paillier"
    public_type = PaillierPublic

    @classmethod
    def derived(cls, secret: bytes | bytearray) -> Self:
        """Derive the key from the secret of a group; takes about a second."""
        primes = _primes(bytes(secret))
        p = q = next(primes)
        while _gmpy2().gcd(p - 1, q - 1) != 2:
            q = next(primes)
        return cls(b"".join(int(prime).to_bytes(_PRIME_BYTES, "big") for prime in (p, q)))

    @cached_property
    def public(self) -> PaillierPublic:
        """The public key; h is -x^2 to the power n, and x is random, but the same for all who derive the key."""
        p, q = self._factors()
        n, x = p * q, _number(derived(self.data, "counters", self.name, "x", length=_MODULUS_BYTES))
        return PaillierPublic(n, _gmpy2().powmod(-x * x % n, n, n * n))

    def _decrypted(self, counters: Bytes, most: int) -> Counts:
        """Decrypt modulo p only, which suffices because counts are smaller than p."""
        p, q = self._factors()
        numbers = PaillierPublic(p * q, 1)._numbers(counters)  # noqa: SLF001 - the two halves of one key
        square, inverse = p * p, _gmpy2().invert(-q, p)
        powers = in_threads(lambda number: _gmpy2().powmod(number, p - 1, square), numbers)
        counts = [(power - 1) // p * inverse % p for power in powers]
        for row, count in enumerate(counts):
            if count > most:
                raise too_large(row)
        return np.array([int(count) for count in counts], dtype=np.int64)

    def _factors(self) -> tuple[Any, Any]:
        return _number(self.data[:_PRIME_BYTES]), _number(self.data[_PRIME_BYTES:])


def numbers_of(rows: Bytes) -> list[Any]:
    """Return rows of bytes as numbers, the highest byte first."""
    return [_number(row.tobytes()) for row in rows]


def in_threads(function: Callable[[Any], Any], numbers: Sequence[Any]) -> list[Any]:
    """Apply a function to numbers in all cores; the arithmetic runs without the interpreter lock."""
    gmpy2, cores = _gmpy2(), os.cpu_count() or 1
    if len(numbers) < 2 * cores:
        return [function(number) for number in numbers]

    def part(first: int) -> list[Any]:
        with gmpy2.context(gmpy2.get_context(), allow_release_gil=True):
            return [function(number) for number in numbers[first::cores]]

    answers: list[Any] = [None] * len(numbers)
    with ThreadPoolExecutor(cores) as threads:
        for first, some in enumerate(threads.map(part, range(cores))):
            answers[first::cores] = some
    return answers


def _primes(secret: bytes) -> Iterator[Any]:
    """Yield primes that leave the remainder 3 when divided by 4, the product of any two of which has all 3072 bits."""
    attempt = 0
    while True:
        data = derived(secret, "counters", "paillier", str(attempt), length=_PRIME_BYTES)
        candidate = _number(data) | 3 | (3 << (8 * _PRIME_BYTES - 2))
        if _gmpy2().is_prime(candidate, 40):
            yield candidate
        attempt += 1


def _number(data: bytes) -> Any:
    return _gmpy2().mpz(int.from_bytes(data, "big"))


@cache
def _gmpy2() -> Any:
    try:
        return import_module("gmpy2")
    except ImportError:
        raise InputError(
            "counters under Paillier need the library gmpy2; install kohorte[parties]", code="party-library-missing"
        ) from None
