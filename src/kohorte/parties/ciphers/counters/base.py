"""What every scheme of encrypted counters offers.

Counters are the rows of a matrix of bytes, one ciphertext each. The public key suffices to encrypt counts, to add
encrypted counters and to refresh them; only the private key decrypts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import numpy as np

from kohorte.errors import InternalError, ProtocolError
from kohorte.kernels.arrays import Bytes, Codes, Counts
from kohorte.parties.ciphers.agreement import random_group_secret
from kohorte.parties.ciphers.secret import Secret

MOST = 2**32
"""Larger counts are not encrypted."""


class PublicCounters(ABC):
    """The public key: it encrypts, adds and refreshes."""

    bytes_per_counter: ClassVar[int]

    @abstractmethod
    def to_bytes(self) -> bytes:
        """Return the key as bytes, for the other parties."""

    @classmethod
    @abstractmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read a key that another party sent; what is no key is refused."""

    def encrypt(self, counts: Counts) -> Bytes:
        """Encrypt counts, one row each; equal counts give different ciphertexts."""
        return self._encrypted(checked_counts(counts))

    def sum_groups(self, counters: Bytes, group_of: Codes, groups: int) -> Bytes:
        """Add the counters of each group: `group_of[row]` is the group of a row. An empty group gets a new zero.

        A sum follows from its summands. Refresh it before it is sent to somebody who knows them.
        """
        sums = self._summed(self.checked(counters), np.ascontiguousarray(group_of, dtype=np.uint32), groups)
        empty = np.bincount(group_of, minlength=groups) == 0
        sums[empty] = self._encrypted(np.zeros(int(empty.sum()), dtype=np.int64))
        return sums

    def refresh(self, counters: Bytes) -> Bytes:
        """Give every counter another ciphertext of the same count, which nobody without the key can link to it."""
        return self._refreshed(self.checked(counters))

    @classmethod
    def checked(cls, counters: Bytes) -> Bytes:
        """Return counters from outside, or refuse those that have another length or are not encrypted."""
        if counters.dtype != np.uint8 or counters.ndim != 2 or counters.shape[1] != cls.bytes_per_counter:
            raise ProtocolError("encrypted counters do not have the length of this scheme", code="party-ciphertext")
        return counters

    @abstractmethod
    def _encrypted(self, counts: Counts) -> Bytes: ...

    @abstractmethod
    def _summed(self, counters: Bytes, group_of: Codes, groups: int) -> Bytes: ...

    @abstractmethod
    def _refreshed(self, counters: Bytes) -> Bytes: ...


class PrivateCounters(Secret, ABC):
    """The private key: it decrypts."""

    name: ClassVar[str]
    public_type: ClassVar[type[PublicCounters]]

    @classmethod
    def random(cls) -> Self:
        """Draw a key."""
        return cls.derived(random_group_secret())

    @classmethod
    @abstractmethod
    def derived(cls, secret: bytes | bytearray) -> Self:
        """Derive the key from the secret of a group: all who know the secret derive the same key."""

    @property
    @abstractmethod
    def public(self) -> PublicCounters:
        """The public key."""

    def encrypt(self, counts: Counts) -> Bytes:
        """Encrypt counts as the public key does; who knows the private key may be faster."""
        return self.public.encrypt(counts)

    def decrypt(self, counters: Bytes, most: int) -> Counts:
        """Return the counts; a counter that is malformed or above `most` is refused."""
        if not 0 <= most <= MOST:
            raise InternalError("a limit for counts is negative or too large", code="party-cipher-use")
        return self._decrypted(self.public_type.checked(counters), most)

    @abstractmethod
    def _decrypted(self, counters: Bytes, most: int) -> Counts: ...


def checked_counts(counts: Counts) -> Counts:
    """Return counts that can be encrypted; refuse others."""
    if len(counts) and not 0 <= int(counts.min()) <= int(counts.max()) <= MOST:
        raise InternalError("a count is negative or too large to be encrypted", code="party-cipher-use")
    return counts


def too_large(row: int) -> ProtocolError:
    """The error for a counter above the limit; the first row is 0."""
    return ProtocolError(
        f"encrypted counter {row + 1} is larger than a count can be, or was encrypted with another key",
        code="party-ciphertext",
    )
