"""Deterministic encryption of the cells of a column: equal cells give equal ciphertexts.

Guarantee
    Without the key, ciphertexts show only which cells of the column are equal. All have the same length, a missing cell
    has one, too, and a changed ciphertext does not decrypt.
Leaves open
    Frequencies of equal values.
Source
    Harkins: Synthetic Initialization Vector (SIV) Authenticated Encryption Using the Advanced Encryption Standard,
    RFC 5297, 2008; Rogaway, Shrimpton: A Provable-Security Treatment of the Key-Wrap Problem, EUROCRYPT 2006.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from kohorte.errors import InputError, InternalError, ProtocolError
from kohorte.kernels.arrays import Bytes

KEY_BYTES = 64
"""AES-256, once for the synthetic nonce and once for the encryption."""

_TAG_BYTES = 16
_LENGTH_BYTES = 4
_MISSING = 2**32 - 1
"""Stands where otherwise the length of the text stands."""


class ColumnCipher:
    """Encrypts texts of at most `length` bytes in UTF-8, and missing cells (None), under the key of a column."""

    def __init__(self, key: bytes, length: int) -> None:
        if len(key) != KEY_BYTES:
            raise InternalError("the key of a column has 64 bytes", code="party-cipher-use")
        self._cipher, self.length = AESSIV(bytes(key)), length

    def __repr__(self) -> str:
        return f"<ColumnCipher of cells with at most {self.length} bytes>"

    @property
    def bytes_per_cell(self) -> int:
        """The length of every ciphertext."""
        return _TAG_BYTES + _LENGTH_BYTES + self.length

    def encrypt(self, cells: Sequence[str | None]) -> Bytes:
        """Encrypt cells, one row each; a text that is too long is refused."""
        known: dict[str | None, bytes] = {}
        for row, cell in enumerate(cells):
            if cell not in known:
                known[cell] = self._cipher.encrypt(self._padded(cell, row), None)
        matrix = np.frombuffer(b"".join(known[cell] for cell in cells), dtype=np.uint8)
        return matrix.reshape(len(cells), self.bytes_per_cell)

    def decrypt(self, matrix: Bytes) -> list[str | None]:
        """Decrypt rows of ciphertexts; a row that was not encrypted with this key is refused."""
        if matrix.dtype != np.uint8 or matrix.ndim != 2 or matrix.shape[1] != self.bytes_per_cell:
            raise ProtocolError("encrypted cells do not have the length of this column", code="party-ciphertext")
        known: dict[bytes, str | None] = {}
        rows = [row.tobytes() for row in matrix]
        for number, row in enumerate(rows, start=1):
            if row not in known:
                known[row] = self._opened(row, number)
        return [known[row] for row in rows]

    def _padded(self, cell: str | None, row: int) -> bytes:
        text = b"" if cell is None else _utf8(cell, row)
        if len(text) > self.length:
            raise InputError(
                f"row {row + 1}: a cell has {len(text)} bytes, the column was agreed to have at most {self.length}",
                code="party-cell-too-long",
            )
        length = _MISSING if cell is None else len(text)
        return length.to_bytes(_LENGTH_BYTES, "big") + text.ljust(self.length, b"\0")

    def _opened(self, row: bytes, number: int) -> str | None:
        try:
            padded = self._cipher.decrypt(row, None)
            length, text = int.from_bytes(padded[:_LENGTH_BYTES], "big"), padded[_LENGTH_BYTES:]
            cell = None if length == _MISSING else text[:length].decode()
        except (InvalidTag, UnicodeDecodeError):
            raise _malformed(number) from None
        if self._padded(cell, number) != padded:
            raise _malformed(number)
        return cell


def _malformed(number: int) -> ProtocolError:
    return ProtocolError(f"encrypted cell {number} was changed, or encrypted with another key", code="party-ciphertext")


def _utf8(cell: str, row: int) -> bytes:
    try:
        return cell.encode()
    except UnicodeEncodeError:
        raise InputError(f"row {row + 1}: a cell is not valid Unicode text", code="party-cell-text") from None
