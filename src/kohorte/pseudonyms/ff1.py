"""Format-preserving encryption FF1: a text of an alphabet becomes another text of the same length.

AES comes from the library `cryptography`; this module is the mode around it, for many texts of one length at a time:
each of the ten rounds encrypts all its blocks in one call.

Guarantee
    Without the key a ciphertext shows only the length of its text, and which texts are equal.
Leaves open
    A ciphertext that was changed decrypts to another text, unnoticed. Short texts of a small alphabet are few: below a
    million possible texts the standard forbids it, and so does this module.
Source
    Dworkin: Recommendation for Block Cipher Modes of Operation: Methods for Format-Preserving Encryption, NIST Special
    Publication 800-38G, 2016, algorithms 7 and 8; the least domain of a million is that of the drafts of its revision 1
    (2019, 2025).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB

from kohorte.errors import InternalError

ROUNDS = 10
BLOCK = 16
SMALLEST_DOMAIN = 1_000_000
LARGEST_RADIX = 1 << 16


class FF1:
    """Encrypts numbers that stand for texts of one length over an alphabet of `radix` characters."""

    def __init__(self, key: bytes, radix: int, tweak: bytes = b"") -> None:
        if not 2 <= radix <= LARGEST_RADIX:
            raise InternalError("the alphabet of FF1 has 2 to 65536 characters", code="pseudonym-ff1-use")
        self._key, self.radix, self.tweak = key, radix, tweak

    def __repr__(self) -> str:
        return f"<FF1 of {self.radix} characters>"

    @property
    def shortest(self) -> int:
        """The least length of a text."""
        length = 2
        while self.radix**length < SMALLEST_DOMAIN:
            length += 1
        return length

    def encrypt(self, numbers: Sequence[int], length: int) -> list[int]:
        """Encrypt texts of one length, each given as a number."""
        halves, rounds = self._halves(numbers, length), self._rounds(length)
        for number in range(ROUNDS):
            modulus = rounds.moduli[number % 2]
            sums = rounds.sums(number, [right for _, right in halves])
            halves = [(right, (left + y) % modulus) for (left, right), y in zip(halves, sums, strict=True)]
        return self._joined(halves, length)

    def decrypt(self, numbers: Sequence[int], length: int) -> list[int]:
        """Decrypt texts of one length, each given as a number."""
        halves, rounds = self._halves(numbers, length), self._rounds(length)
        for number in reversed(range(ROUNDS)):
            modulus = rounds.moduli[number % 2]
            sums = rounds.sums(number, [left for left, _ in halves])
            halves = [((right - y) % modulus, left) for (left, right), y in zip(halves, sums, strict=True)]
        return self._joined(halves, length)

    def _halves(self, numbers: Sequence[int], length: int) -> list[tuple[int, int]]:
        if length < self.shortest:
            raise InternalError("a text is too short for FF1", code="pseudonym-ff1-use")
        modulus = self.radix ** (length - length // 2)
        return [divmod(number, modulus) for number in numbers]

    def _joined(self, halves: list[tuple[int, int]], length: int) -> list[int]:
        modulus = self.radix ** (length - length // 2)
        return [left * modulus + right for left, right in halves]

    def _rounds(self, length: int) -> _Rounds:
        return _Rounds(self._key, self.radix, self.tweak, length)


class _Rounds:
    """What the ten rounds for texts of one length share; names follow the standard."""

    def __init__(self, key: bytes, radix: int, tweak: bytes, length: int) -> None:
        u = length // 2
        v = length - u
        self.moduli = (radix**u, radix**v)
        """Of even and of odd rounds."""
        self.b = ((radix**v - 1).bit_length() + 7) // 8
        self.d = 4 * -(-self.b // 4) + 4
        p = bytes([1, 2, 1, *radix.to_bytes(3, "big"), 10, u % 256]) + length.to_bytes(4, "big")
        self._aes = Cipher(AES(key), ECB()).encryptor()  # noqa: S305 - single blocks; the mode is FF1
        p += len(tweak).to_bytes(4, "big")
        self._padded_tweak = tweak + bytes((-len(tweak) - self.b - 1) % BLOCK)
        self._start = self._aes.update(p)

    def sums(self, number: int, values: Sequence[int]) -> list[int]:
        """The number y of a round for each value."""
        b, head = self.b, self._padded_tweak + bytes([number])
        blocks = self._mac(b"".join([head + value.to_bytes(b, "big") for value in values]), len(head) + b)
        longer = self._expanded(blocks)
        d, width = self.d, len(longer) // len(values) if values else 1
        return [int.from_bytes(longer[at : at + d], "big") for at in range(0, len(longer), width)]

    def _mac(self, messages: bytes, length: int) -> bytes:
        """CBC-MAC of equally long messages, after the common first block; one block each."""
        count = len(messages) // length
        state = self._start * count
        for at in range(0, length, BLOCK):
            if length == BLOCK:
                column = messages
            else:
                column = b"".join([messages[row + at : row + at + BLOCK] for row in range(0, len(messages), length)])
            state = self._aes.update(_xor(state, column))
        return state

    def _expanded(self, blocks: bytes) -> bytes:
        """Each block followed by the encryption of itself plus 1, plus 2 ..., until there are d bytes."""
        further = -(-self.d // BLOCK) - 1
        if not further:
            return blocks
        count = len(blocks) // BLOCK
        parts = [blocks]
        parts += [self._aes.update(_xor(blocks, j.to_bytes(BLOCK, "big") * count)) for j in range(1, further + 1)]
        return b"".join([part[at : at + BLOCK] for at in range(0, len(blocks), BLOCK) for part in parts])


def _xor(one: bytes, other: bytes) -> bytes:
    return (np.frombuffer(one, np.uint8) ^ np.frombuffer(other, np.uint8)).tobytes()
