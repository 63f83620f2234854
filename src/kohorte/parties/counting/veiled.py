"""A release whose suppressed classes nobody can read, and of which the member that counts does not know them.

Which classes are suppressed tells where people are, and so which rows are dummy rows. The member that counts must not
learn it, and the party that opens the release must not read suppressed rows. So the rows of every class are sealed with
a key of their own. The party that opens the release gets them all; each other party gets a share of every key, and
hands over the shares of the classes that are shown. What suppressed rows show, which is all but their
quasi-identifiers, is the difference between the rows of all classes and those of the classes that are shown.

Leaves open
    All parties together can open suppressed rows: they have all shares. The other parties learn how many classes are
    shown. The party that opens the release learns how many different rows each class has, dummy rows included.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Self

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from kohorte.kernels.arrays import Codes, Counts
from kohorte.parties.ciphers.secret import Keyring, Secret
from kohorte.parties.sealed import MISSING, STAR, Cells, malformed, pack, unpack
from kohorte.parties.sealed_release import SealedRelease

KEY_BYTES = 32
ONCE = bytes(12)
"""The nonce: every key seals one message."""

CELL, STARRED, ABSENT = 0, 1, 2
"""The first byte of each cell of a record: a ciphertext follows, or it shows `*`, or it is missing."""


class ClassKeys(Secret):
    """The keys of some classes, one after another: wiped like any other key."""

    @classmethod
    def random(cls, classes: int) -> Self:
        """Draw a key for each class."""
        return cls(bytearray(secrets.token_bytes(KEY_BYTES * classes)))

    @classmethod
    def joined(cls, shares: Sequence[Cells]) -> Self:
        """The keys that shares give together; of keys and all shares but one, the share that is missing."""
        return cls(bytearray(np.bitwise_xor.reduce(np.stack(shares), axis=0)))

    @property
    def matrix(self) -> Cells:
        """The keys, one in each row."""
        return np.frombuffer(self.data, dtype=np.uint8).reshape(-1, KEY_BYTES)

    def shares(self, parties: int, keyring: Keyring) -> list[KeyShares]:
        """A share for each party: all together give the keys, fewer tell nothing about them."""
        drawn = [keyring.keep(KeyShares.random(len(self.matrix))) for _ in range(parties - 1)]
        rest = KeyShares.joined([self.matrix, *(share.matrix for share in drawn)])
        return [*drawn, keyring.keep(rest)]


class KeyShares(ClassKeys):
    """A share of each key: it is sent to one party, and wiped there and at the member that drew it."""


@dataclass(frozen=True)
class Layout:
    """How the cells of a row follow each other in a record: the length of the ciphertexts of each column."""

    lengths: Mapping[str, int]

    @property
    def width(self) -> int:
        """The bytes of a record."""
        return sum(self.lengths.values()) + len(self.lengths)

    def places(self) -> dict[str, slice]:
        """Where each column is."""
        ends = np.cumsum([1 + length for length in self.lengths.values()]).tolist()
        return {
            name: slice(end - 1 - length, end) for (name, length), end in zip(self.lengths.items(), ends, strict=True)
        }

    def records(self, codes: Mapping[str, Codes], cells: Mapping[str, Cells]) -> Cells:
        """Rows as records: `codes[name][row]` is the index of a cell, or stands for missing or `*`."""
        found = np.zeros((len(next(iter(codes.values()))), self.width), dtype=np.uint8)
        for name, place in self.places().items():
            own = codes[name]
            known = own < STAR
            found[:, place.start] = np.where(known, CELL, np.where(own == STAR, STARRED, ABSENT))
            found[np.flatnonzero(known), place.start + 1 : place.stop] = cells[name][own[known]]
        return found

    def release(self, records: Cells) -> SealedRelease:
        """Records as rows of a release."""
        codes, cells = {}, {}
        for name, place in self.places().items():
            first, rest = records[:, place.start], np.ascontiguousarray(records[:, place.start + 1 : place.stop])
            if (first > ABSENT).any():
                raise malformed("a row of the release is no record")
            different, of = np.unique(rest[first == CELL], axis=0, return_inverse=True)
            own = np.where(first == STARRED, STAR, MISSING).astype(np.uint32)
            own[first == CELL] = of.reshape(-1)
            codes[name], cells[name] = own, different
        return SealedRelease(codes, cells, {})


@dataclass(frozen=True, eq=False)
class Veiled:
    """The rows of each class sealed with its key, and all rows with stars instead of quasi-identifiers, with counters.

    A record of a class ends with the counter of the row.
    """

    blocks: Sequence[bytes] = field(repr=False)
    starred: Cells = field(repr=False)
    counters: Cells = field(repr=False)

    @classmethod
    def of(cls, records: Cells, class_of: Counts, keys: Cells, starred: Cells, counters: Cells) -> Veiled:
        """Seal records with the keys of their classes."""
        order = np.argsort(class_of, kind="stable")
        parts = np.split(records[order], np.searchsorted(class_of[order], np.arange(1, len(keys))))
        sealed = [
            ChaCha20Poly1305(key.tobytes()).encrypt(ONCE, part.tobytes(), None)
            for key, part in zip(keys, parts, strict=True)
        ]
        return cls(sealed, starred, counters)

    def to_bytes(self) -> bytes:
        """As a message."""
        ends = np.cumsum([len(block) for block in self.blocks], dtype=np.int64)
        blocks = np.frombuffer(b"".join(self.blocks), dtype=np.uint8)
        return pack({}, {"blocks": blocks, "ends": ends, "starred": self.starred, "counters": self.counters})

    @classmethod
    def from_bytes(cls, message: bytes, layout: Layout, counter: int) -> Veiled:
        """Read a message; `counter` is the length of a counter."""
        _, arrays = unpack(message)
        blocks, ends, starred, counters = (arrays.get(name) for name in ("blocks", "ends", "starred", "counters"))
        if blocks is None or ends is None or starred is None or counters is None:
            raise malformed("it is not a release with counters")
        if ends.dtype != np.int64 or ends.ndim != 1 or blocks.dtype != np.uint8 or blocks.ndim != 1:
            raise malformed("its classes do not fit together")
        bounds = [0, *ends.tolist()]
        if sorted(bounds) != bounds or bounds[-1] != len(blocks):
            raise malformed("its classes do not fit together")
        if starred.dtype != np.uint8 or starred.ndim != 2 or starred.shape[1] != layout.width:
            raise malformed("its rows do not fit together")
        if counters.dtype != np.uint8 or counters.shape != (len(starred), counter):
            raise malformed("its rows do not fit together")
        sealed = [blocks[low:high].tobytes() for low, high in pairwise(bounds)]
        return cls(sealed, starred, counters)

    def opened(self, classes: Counts, keys: Cells, width: int) -> Cells:
        """The records of some classes, with their keys."""
        found = [b""]
        for number, key in zip(classes.tolist(), keys, strict=True):
            try:
                found.append(ChaCha20Poly1305(key.tobytes()).decrypt(ONCE, self.blocks[number], None))
            except (InvalidTag, IndexError):
                raise malformed("a class cannot be opened with its key") from None
        whole = np.frombuffer(b"".join(found), dtype=np.uint8)
        if len(whole) % width:
            raise malformed("its rows do not fit together")
        return whole.reshape(-1, width)


def left_over(starred: Cells, counts: Counts, shown: Cells, shown_counts: Counts) -> Counts:
    """How many rows of each starred record are suppressed: all rows less those that are shown."""
    place = {record.tobytes(): number for number, record in enumerate(starred)}
    left = counts.copy()
    try:
        np.subtract.at(left, np.array([place[record.tobytes()] for record in shown], dtype=np.int64), shown_counts)
    except KeyError:
        raise malformed("it shows rows that it does not count") from None
    if (left < 0).any():
        raise malformed("it shows more rows than it counts")
    return left
