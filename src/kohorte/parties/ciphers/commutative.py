"""Encryption that commutes: layers of several parties come off in any order.

Guarantee
    A point is encrypted by multiplying it with the key. Equal points give equal ciphertexts under the same keys. Those
    who do not know the key learn only which are equal: linking a hashed value with its ciphertext is the
    decisional Diffie-Hellman problem in ristretto255.
Leaves open
    Frequencies of equal values. A ciphertext can be changed into that of a multiple of the point, so that the channel
    must protect it.
Source
    Pohlig, Hellman: An Improved Algorithm for Computing Logarithms over GF(p) and Its Cryptographic Significance, IEEE
    Transactions on Information Theory 24(1), 1978; as a commutative cipher of hashed values: Agrawal, Evfimievski,
    Srikant: Information Sharing Across Private Databases, SIGMOD 2003.
"""

from __future__ import annotations

from typing import Self

from kohorte.parties.ciphers.ristretto import Points, invert, multiply, random_scalar
from kohorte.parties.ciphers.secret import Secret


class CommutativeKey(Secret):
    """The key of one party for one column."""

    @classmethod
    def random(cls) -> Self:
        """Draw a key."""
        return cls(random_scalar())

    def encrypt(self, points: Points) -> Points:
        """Add the layer of this party; what is not a point is refused."""
        return multiply(points, self.data)

    def decrypt(self, points: Points) -> Points:
        """Take the layer of this party off."""
        return multiply(points, bytes(invert(self.data)))
