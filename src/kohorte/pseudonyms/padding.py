"""Padding: texts of similar lengths become equally long before they are encrypted."""

from __future__ import annotations

BLOCK = 16
_MARK = b"\x80"


def padded(data: bytes) -> bytes:
    """Add a mark and zeros up to the next multiple of 16 bytes (ISO/IEC 7816-4)."""
    return data + _MARK + bytes(-(len(data) + 1) % BLOCK)


def unpadded(data: bytes) -> bytes:
    """Remove what `padded` added."""
    return data.rstrip(b"\0")[:-1]
