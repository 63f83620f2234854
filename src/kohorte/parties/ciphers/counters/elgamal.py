"""Counters under additive ElGamal in ristretto255.

A count m is encrypted as the two points (r G, r H + m G), with the generator G, the public key H = x G and a random r.
Adding ciphertexts adds counts. Decryption finds m from m G by searching, so that counts must be small.

Guarantee
    Without x nothing is learnt about a count (indistinguishable under chosen plaintexts), by the decisional
    Diffie-Hellman assumption in ristretto255, with 128-bit security.
Leaves open
    Ciphertexts can be changed unnoticed: the channel must protect them. Public keys of several parties are joined by
    adding them; a party that chooses its key after it has seen the others could know the joint private key alone, so
    that the parties must be honest about their keys.
Source
    ElGamal: A Public Key Cryptosystem and a Signature Scheme Based on Discrete Logarithms, IEEE Transactions on
    Information Theory 31(4), 1985; with the count in the exponent, and with joint keys: Cramer, Gennaro, Schoenmakers:
    A Secure and Optimally Efficient Multi-Authority Election Scheme, EUROCRYPT 1997.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from kohorte.errors import ProtocolError
from kohorte.kernels.arrays import Bytes, Codes, Counts
from kohorte.kernels.points_reference import POINT_BYTES, SCALAR_BYTES
from kohorte.parties.ciphers import ristretto
from kohorte.parties.ciphers.agreement import derived
from kohorte.parties.ciphers.counters.base import PrivateCounters, PublicCounters, checked_counts
from kohorte.parties.ciphers.counters.small_logarithms import small_logarithms
from kohorte.parties.ciphers.ristretto import Points


class ElGamalPublic(PublicCounters):
    """A public key of one party, of a group that shares the private key, or of several parties jointly."""

    bytes_per_counter = 2 * POINT_BYTES

    def __init__(self, point: Points) -> None:
        self._point = ristretto.check_points(point)

    def __repr__(self) -> str:
        return f"<ElGamalPublic {self.to_bytes().hex()[:16]}>"

    def to_bytes(self) -> bytes:
        """Return the key as bytes."""
        return self._point.tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read a key that another party sent."""
        if len(data) != POINT_BYTES:
            raise ProtocolError("a public key for counters has another length", code="party-ciphertext")
        return cls(np.frombuffer(data, dtype=np.uint8).reshape(1, -1))

    @classmethod
    def joint(cls, keys: Sequence[ElGamalPublic]) -> Self:
        """Join the keys of several parties: all of them are needed to decrypt, one after another (`ElGamal.strip`)."""
        points = np.vstack([key._point for key in keys])  # noqa: SLF001 - of the same class
        return cls(ristretto.sum_groups(points, np.zeros(len(points), dtype=np.uint32), 1))

    @classmethod
    def checked(cls, counters: Bytes) -> Bytes:
        """Refuse counters of another length, and those that are not encrypted: their first point is neutral."""
        plain = np.flatnonzero(~super().checked(counters)[:, :POINT_BYTES].any(axis=1))
        if len(plain):
            raise ProtocolError(f"counter {plain[0] + 1} of a message is not encrypted", code="party-ciphertext")
        return counters

    def _encrypted(self, counts: Counts) -> Bytes:
        random = ristretto.random_scalars(len(counts))
        values, index = np.unique(counts, return_inverse=True)
        multiples = ristretto.multiply_base(ristretto.scalars_of(values.tolist()))
        return np.hstack(
            [
                ristretto.multiply_base(random),
                ristretto.add(ristretto.multiply_each(random, self._point), multiples[index]),
            ]
        )

    def _summed(self, counters: Bytes, group_of: Codes, groups: int) -> Bytes:
        return np.hstack([ristretto.sum_groups(half, group_of, groups) for half in _halves(counters)])

    def _refreshed(self, counters: Bytes) -> Bytes:
        zeros = _halves(self._encrypted(np.zeros(len(counters), dtype=np.int64)))
        pairs = zip(_halves(counters), zeros, strict=True)
        return np.hstack([ristretto.add(half, zero) for half, zero in pairs])


class ElGamal(PrivateCounters):
    """The private key of counters under ElGamal: a scalar."""

    name: ClassVar[str] = "elgamal"
    public_type = ElGamalPublic

    @classmethod
    def derived(cls, secret: bytes | bytearray) -> Self:
        """Derive the key from the secret of a group."""
        wide = derived(bytes(secret), "counters", cls.name, length=2 * SCALAR_BYTES)
        return cls((int.from_bytes(wide, "little") % ristretto.ORDER).to_bytes(SCALAR_BYTES, "little"))

    @cached_property
    def public(self) -> ElGamalPublic:
        """The public key."""
        scalar = np.frombuffer(self.data, dtype=np.uint8).reshape(1, -1)
        return ElGamalPublic(ristretto.multiply_base(scalar))

    def encrypt(self, counts: Counts) -> Bytes:
        """Encrypt counts: r H + m G is (r x + m) G, and multiples of the generator are twice as fast as others."""
        key, random = int.from_bytes(self.data, "little"), ristretto.random_scalars(len(checked_counts(counts)))
        blinded = [
            (key * int.from_bytes(own.tobytes(), "little") + count) % ristretto.ORDER
            for own, count in zip(random, counts.tolist(), strict=True)
        ]
        return np.hstack([ristretto.multiply_base(random), ristretto.multiply_base(ristretto.scalars_of(blinded))])

    def strip(self, counters: Bytes) -> Bytes:
        """Take the share of this party off counters under a joint key; the last party decrypts instead."""
        return np.hstack([counters[:, :POINT_BYTES], self._opened(ElGamalPublic.checked(counters))])

    def _decrypted(self, counters: Bytes, most: int) -> Counts:
        return small_logarithms(self._opened(counters), most)

    def _opened(self, counters: Bytes) -> Points:
        first, second = _halves(counters)
        return ristretto.subtract(second, ristretto.multiply(first, self.data))


def _halves(counters: Bytes) -> tuple[Points, Points]:
    return counters[:, :POINT_BYTES], counters[:, POINT_BYTES:]
