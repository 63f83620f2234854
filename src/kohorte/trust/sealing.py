"""Values that a database stores but its administrator cannot read: sealed cells and blind indexes.

Guarantee
    Without the key file a sealed value shows only its length, and a blind index shows only that two rows of the same
    column have the same value. A sealed value that was changed, or moved to another row or table, does not unseal.
Leaves open
    How many rows there are, and when they were written. An older value of the same row can be put back.
Source
    Arciszewski: XChaCha: eXtended-nonce ChaCha and AEAD_XChaCha20_Poly1305, Internet-Draft, 2020; Krawczyk, Bellare,
    Canetti: HMAC: Keyed-Hashing for Message Authentication, RFC 2104, 1997.
"""

from __future__ import annotations

import hashlib
import secrets

from nacl import bindings, exceptions

from kohorte.errors import EngineError
from kohorte.trust.keys import Key

INDEX_BYTES = 16
_NONCE = bindings.crypto_aead_xchacha20poly1305_ietf_NPUBBYTES


class Sealer:
    """Seals the cells of one table under one version of a key; `row` is what identifies the row in the table."""

    def __init__(self, key: Key, table: str) -> None:
        self._key = key.derived("sealing", table)
        self._version = key.version

    def __repr__(self) -> str:
        return f"<Sealer, version {self._version} of the key>"

    def seal(self, data: bytes, *, row: bytes) -> bytes:
        """Encrypt a cell."""
        nonce = secrets.token_bytes(_NONCE)
        return nonce + bindings.crypto_aead_xchacha20poly1305_ietf_encrypt(data, row, nonce, self._key)

    def unseal(self, sealed: bytes, *, row: bytes) -> bytes:
        """Decrypt a cell; one that was changed, moved, or sealed with another key is refused."""
        data = bytes(sealed)
        try:
            return bindings.crypto_aead_xchacha20poly1305_ietf_decrypt(data[_NONCE:], row, data[:_NONCE], self._key)
        except (exceptions.CryptoError, exceptions.ValueError, ValueError):
            raise EngineError(
                "a sealed entry of the database was changed, is damaged, or belongs to another key; "
                "restore the database or the key file from a copy",
                code="trust-damaged",
            ) from None


def exchanged() -> EngineError:
    """The error of a row whose blind index is that of another row."""
    return EngineError(
        "an entry of the database was exchanged for another; restore the database from a copy", code="trust-damaged"
    )


class BlindIndex:
    """Finds equal values of one column without storing them."""

    def __init__(self, key: Key, column: str) -> None:
        block = key.derived("blind index", column).ljust(hashlib.sha256().block_size, b"\0")
        self._inner, self._outer = (hashlib.sha256(bytes(byte ^ pad for byte in block)) for pad in (0x36, 0x5C))
        self._version = key.version

    def __repr__(self) -> str:
        return f"<BlindIndex, version {self._version} of the key>"

    def of(self, text: str) -> bytes:
        """Return the index of a text: its HMAC, which goes on from the two states of the key.

        The module hmac does the same and takes nearly twice as long, which a registration of many people feels.
        """
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(text.encode())
        outer.update(inner.digest())
        return outer.digest()[:INDEX_BYTES]
