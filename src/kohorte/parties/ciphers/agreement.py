"""Keys that parties agree on: one for each pair of parties and run, and a secret of the whole group.

Each party draws a pair of keys for a run and sends the public half to the others, over channels that prove who sends.
Two parties derive the same pairwise key from their own private half and the other's public half. One party draws the
group secret and sends it to each other party, sealed with the pairwise key. Keys of columns are derived from it.

Guarantee
    Only the two parties know a pairwise key. It is bound to the study, the run, both names and both public halves: in
    another run, or with another party in between, the keys differ. Private halves are never stored, so that what was
    sealed in a run cannot be opened later, even with the certificates.
Leaves open
    A party that is told the group secret can pass it on.
Source
    Langley, Hamburg, Turner: Elliptic Curves for Security, RFC 7748, 2016, section 6.1; Krawczyk, Eronen: HMAC-based
    Extract-and-Expand Key Derivation Function (HKDF), RFC 5869, 2010; Nir, Langley: ChaCha20 and Poly1305 for IETF
    Protocols, RFC 8439, 2018.
"""

from __future__ import annotations

import secrets
from typing import Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from kohorte.errors import ProtocolError
from kohorte.parties.ciphers import deterministic
from kohorte.parties.ciphers.secret import Secret

SECRET_BYTES = 32
_NONCE_BYTES = 12


class PairKey(Secret):
    """The key that two parties share in one run."""

    def seal(self, data: bytes, *, about: str) -> bytes:
        """Encrypt bytes for the other party; `about` says what they are, and must be the same when they are opened."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + ChaCha20Poly1305(self.data).encrypt(nonce, data, about.encode())

    def open(self, sealed: bytes, *, about: str) -> bytes:
        """Decrypt what the other party sealed; anything else is refused."""
        try:
            return ChaCha20Poly1305(self.data).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], about.encode())
        except (InvalidTag, ValueError):
            raise ProtocolError(
                f"what was sealed as {about!r} was changed, or sealed with another key", code="party-ciphertext"
            ) from None


class KeyPair(Secret):
    """The pair of keys of one party for one run."""

    @classmethod
    def random(cls) -> Self:
        """Draw a pair."""
        return cls(X25519PrivateKey.generate().private_bytes_raw())

    @property
    def public(self) -> bytes:
        """The public half, for the other parties."""
        return X25519PrivateKey.from_private_bytes(self.data).public_key().public_bytes_raw()

    def shared(self, public: bytes, *, study: str, run: str, names: tuple[str, str]) -> PairKey:
        """Derive the key shared with the party that has this public half.

        `study` is the hash of the study, `run` the id of the run, `names` the names of both parties in any order.
        """
        try:
            other = X25519PublicKey.from_public_bytes(public)
            agreed = X25519PrivateKey.from_private_bytes(self.data).exchange(other)
        except ValueError:  # another length, or a point of small order
            raise ProtocolError("a party sent a public key that is none", code="party-ciphertext") from None
        halves = sorted((self.public.hex(), public.hex()))
        return PairKey(derived(agreed, "pair", study, run, *sorted(names), *halves))


def random_group_secret() -> bytearray:
    """Draw the secret of a group."""
    return bytearray(secrets.token_bytes(SECRET_BYTES))


def column_key(group_secret: bytes, column: str) -> bytes:
    """Derive the key of a column from the secret of the group."""
    return derived(group_secret, "column", column, length=deterministic.KEY_BYTES)


def derived(secret: bytes, *labels: str, length: int = SECRET_BYTES) -> bytes:
    """Derive a key for one purpose; other labels give an independent key."""
    info = b"".join(len(label.encode()).to_bytes(4, "big") + label.encode() for label in ("kohorte parties", *labels))
    return HKDF(algorithm=SHA256(), length=length, salt=None, info=info).derive(bytes(secret))
