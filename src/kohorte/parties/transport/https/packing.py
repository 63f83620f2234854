"""Compress payloads piece by piece, and unpack what arrives without ever holding more than was announced."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator
from typing import Protocol

from kohorte.errors import ProtocolError

PIECE = 1 << 18
SAMPLES = 8
SAMPLE = 1 << 12
WORTH_IT = 0.9
CHUNK_LINE = re.compile(rb"[0-9a-fA-F]{1,8}\r\n")


class Readable(Protocol):
    """What is used of a file."""

    def read(self, size: int, /) -> bytes:
        """Read so many bytes, or fewer at the end."""

    def readline(self, size: int, /) -> bytes:
        """Read a line, but at most so many bytes."""


def packed(payload: bytes) -> Iterator[bytes]:
    """Yield the payload as a zlib stream, in pieces.

    Level 1 is the fastest that compresses. Ciphertexts do not become smaller, so if samples of the payload do not
    either, it is only wrapped.
    """
    pack = zlib.compressobj(_level(payload))
    view = memoryview(payload)
    for start in range(0, len(view), PIECE):
        piece = pack.compress(view[start : start + PIECE])
        if piece:
            yield piece
    yield pack.flush()


def _level(payload: bytes) -> int:
    step = max(SAMPLE, len(payload) // SAMPLES)
    sample = b"".join(payload[start : start + SAMPLE] for start in range(0, len(payload), step))
    return 1 if len(zlib.compress(sample, 1)) < WORTH_IT * len(sample) else 0


def most_packed(size: int) -> int:
    """Return how many bytes a payload of this size can have as a zlib stream; wrapping adds far below one percent."""
    return size + size // 100 + 1024


def unpacked(pieces: Iterator[bytes], *, size: int, sender: str) -> tuple[bytes, int]:
    """Return the payload of the announced size, and how many bytes it had as sent.

    A stream that unpacks to more or less, that is damaged, or that goes on after its end, is refused. Nothing beyond
    the announced size is unpacked.
    """
    unpack = zlib.decompressobj()
    payload = io.BytesIO()
    sent = 0
    for piece in pieces:
        sent += len(piece)
        _unpack_piece(unpack, piece, payload, size=size, sender=sender)
    if not unpack.eof or payload.tell() != size:
        raise _damaged(sender)
    return payload.getvalue(), sent


def _unpack_piece(unpack: zlib._Decompress, piece: bytes, payload: io.BytesIO, *, size: int, sender: str) -> None:
    while piece:
        if unpack.eof:
            raise _damaged(sender)
        try:
            payload.write(unpack.decompress(piece, PIECE))
        except zlib.error:
            raise _damaged(sender) from None
        if payload.tell() > size:
            raise ProtocolError(f"a message of {sender} unpacks to more bytes than it announced", code="party-size")
        if unpack.unused_data:
            raise _damaged(sender)
        piece = unpack.unconsumed_tail


def chunks(file: Readable, *, most: int, sender: str) -> Iterator[bytes]:
    """Read a body with chunked transfer coding (RFC 9112, section 7.1), piece by piece and at most so many bytes.

    ConnectionError means that the connection broke before the end.
    """
    read = 0
    while length := _chunk_length(file, sender):
        read += length
        if read > most:
            raise ProtocolError(
                f"a message of {sender} has more bytes than its announced size allows", code="party-size"
            )
        while length:
            piece = file.read(min(length, PIECE))
            if not piece:
                raise ConnectionResetError
            length -= len(piece)
            yield piece
        _expect_line_end(file, sender)
    _expect_line_end(file, sender)


def _chunk_length(file: Readable, sender: str) -> int:
    line = file.readline(16)
    if not line.endswith(b"\n") and len(line) < 16:
        raise ConnectionResetError
    if not CHUNK_LINE.fullmatch(line):
        raise _damaged(sender)
    return int(line, 16)


def _expect_line_end(file: Readable, sender: str) -> None:
    end = file.read(2)
    if len(end) < 2:
        raise ConnectionResetError
    if end != b"\r\n":
        raise _damaged(sender)


def _damaged(sender: str) -> ProtocolError:
    return ProtocolError(f"a message of {sender} is damaged: it cannot be unpacked", code="party-compression")
