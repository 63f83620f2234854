"""Bloom filters of records: similar records have similar bits, and nobody without the secret can read them.

Every pair of neighbouring letters of the names and every digit of birthday and postcode sets a few bits of one filter
for the whole record. Which bits is said by HMAC-SHA-512 under a secret that both houses share.

Hardening
    *Salting per record*: the year of birth is part of everything that is hashed, so that a name sets other bits for
    people of another age, and counting common patterns works within one year at most. *Balancing*: every bit is stored
    together with its opposite, and the bits are permuted by the secret, so that every filter has as many ones as any
    other. *No double hashing*: each position has its own part of the hash.
Leaves open
    Somebody who has both the secret and the filters can try out names. So a third party compares who has no secret.
    Within one year of birth of a large list, frequencies of patterns remain.
Sources
    R. Schnell, T. Bachteler and J. Reiher, Privacy-preserving record linkage using Bloom filters, BMC Medical
    Informatics and Decision Making 9:41, 2009; A Novel Error-Tolerant Anonymous Linking Code, German Record Linkage
    Center, 2011 (one filter for the whole record).
    Attacks: M. Kuzu et al., A Constraint Satisfaction Cryptanalysis of Bloom Filters in Private Record Linkage, PETS
    2011; F. Niedermeyer et al., Cryptanalysis of Basic Bloom Filters Used for Privacy Preserving Record Linkage,
    Journal of Privacy and Confidentiality 6(2), 2014; P. Christen et al., Pattern-Mining Based Cryptanalysis of Bloom
    Filters for Privacy-Preserving Record Linkage, PAKDD 2018; A. Vidanage et al., A Graph Matching Attack on
    Privacy-Preserving Record Linkage, CIKM 2020.
    Hardening: R. Schnell and C. Borgs, Randomized Response and Balanced Bloom Filters for Privacy Preserving Record
    Linkage, ICDM Workshops 2016.
"""

from __future__ import annotations

import hmac
import struct
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from kohorte.patients.linkage.record import Record
from kohorte.trust.keys import Key

BITS = 1024
"""Before balancing, which doubles them."""
POSITIONS = {"first": 14, "last": 8, "date": 16, "sex": 16, "postcode": 3}
"""How many bits each part of a field sets."""
BYTES = 2 * BITS // 8
_ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1, dtype=np.uint8)
_WORDS = struct.Struct(">16I")


class Encoder:
    """Encodes records under a secret that both houses share."""

    def __init__(self, secret: Key) -> None:
        self._hash = secret.derived("bloom filter")
        self._permutation = _permutation(secret.derived("bloom permutation"))
        self._hashed: dict[bytes, Sequence[int]] = {}

    def __repr__(self) -> str:
        return "<Encoder>"

    def filter(self, record: Record) -> bytes:
        """The hardened filter of a record."""
        positions = [place for part in parts_of(record) for place in self._positions(*part, record.date.year)]
        bits = np.zeros(BITS, dtype=np.bool_)
        bits[positions] = True
        balanced = np.concatenate([bits, ~bits])[self._permutation]
        return np.packbits(balanced).tobytes()

    def _positions(self, field: str, part: str, year: int) -> Sequence[int]:
        text = f"{year}\x1f{field}\x1f{part}".encode()
        if text not in self._hashed:
            words = _WORDS.unpack(hmac.digest(self._hash, text, "sha512"))
            self._hashed[text] = [word % BITS for word in words[: POSITIONS[field]]]
        return self._hashed[text]


def parts_of(record: Record) -> Iterator[tuple[str, str]]:
    """What is hashed of a record: pairs of letters, digits with their places."""
    for field, name in (("first", record.first.joined), ("last", record.last.joined)):
        if name:
            padded = f"_{name}_"
            yield from ((field, padded[place : place + 2]) for place in range(len(padded) - 1))
    if record.date:
        yield from (("date", f"{place}{digit}") for place, digit in enumerate(record.date.text[4:]))
        yield "date", record.date.text[4:]
    yield from (("postcode", f"{place}{digit}") for place, digit in enumerate(record.postcode))
    if record.sex:
        yield "sex", record.sex


def similarity(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The Dice coefficient of filters, row by row: 1 for equal ones; balanced filters of strangers have about 0.6."""
    common, mine, theirs = (_ONES[data].sum(axis=1, dtype=np.int64) for data in (one & other, one, other))
    return np.asarray(2 * common / np.maximum(mine + theirs, 1))


def _permutation(key: bytes) -> NDArray[np.int64]:
    """An order of all bits that only the key determines: sorted by their keyed hashes."""
    codes = [hmac.digest(key, place.to_bytes(4, "big"), "sha256") for place in range(2 * BITS)]
    return np.array(sorted(range(2 * BITS), key=codes.__getitem__))
