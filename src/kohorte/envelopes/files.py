"""A file in an envelope, in chunks, so that memory does not grow with the file.

Guarantee
    Only the owner of the recipient's private key can read the content. A chunk that was changed, left out, repeated,
    moved or taken from another envelope is noticed, and so is an envelope that was cut or continued; then no output
    appears. With a known sender, also an envelope that somebody else made is noticed.
Leaves open
    How long the file is. Without a sender everybody who has the public key can seal. The recipient, and those who have
    stolen the recipient's key, could make an envelope that names the sender.
Source
    The secret streams of libsodium (XChaCha20-Poly1305 with a final tag).
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from nacl import bindings, exceptions

from kohorte.data import atomic_write, refuse_same_file
from kohorte.data.files import unreadable
from kohorte.envelopes.heads import Head, damaged, opened_head, sealed_head
from kohorte.envelopes.keys import PrivateKey, PublicKey

MAGIC = b"kohorte envelope 1\n"
CHUNK = 1 << 18
_BOX = 32 + 32 + bindings.crypto_box_SEALBYTES
_START = bindings.crypto_secretstream_xchacha20poly1305_HEADERBYTES
_MORE = bindings.crypto_secretstream_xchacha20poly1305_ABYTES
_MESSAGE = bindings.crypto_secretstream_xchacha20poly1305_TAG_MESSAGE
_FINAL = bindings.crypto_secretstream_xchacha20poly1305_TAG_FINAL


def is_envelope(path: Path) -> bool:
    """Whether a file is an envelope."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise unreadable(path, error) from None


def seal_file(
    path: Path, output: Path, recipient: PublicKey, *, sender: PrivateKey | None = None, force: bool = False
) -> int:
    """Seal a file for the recipient; returns its number of bytes."""
    refuse_same_file(path, output)
    try:
        source = path.open("rb")
    except OSError as error:
        raise unreadable(path, error) from None
    with source, atomic_write(output, force=force, private=True) as temporary, temporary.open("wb") as target:
        return write_sealed(_chunks(source, CHUNK), target, recipient, sender=sender)


def sealed_bytes(content: bytes, recipient: PublicKey, *, sender: PrivateKey | None = None) -> bytes:
    """Seal some bytes, which are never on disk in plain."""
    chunks = (content[start : start + CHUNK] for start in range(0, len(content), CHUNK))
    target = io.BytesIO()
    write_sealed(chunks, target, recipient, sender=sender)
    return target.getvalue()


def write_sealed(
    chunks: Iterator[bytes], target: BinaryIO, recipient: PublicKey, *, sender: PrivateKey | None = None
) -> int:
    """Write an envelope; returns how many bytes are in it."""
    head = sealed_head(recipient, sender)
    state = bindings.crypto_secretstream_xchacha20poly1305_state()
    start = bindings.crypto_secretstream_xchacha20poly1305_init_push(state, head.key)
    target.write(MAGIC + head.box + start)
    push, size = bindings.crypto_secretstream_xchacha20poly1305_push, 0
    chunk = next(chunks, b"")
    while True:
        following = next(chunks, None)
        target.write(push(state, chunk, head.box, _FINAL if following is None else _MESSAGE))
        size += len(chunk)
        if following is None:
            return size
        chunk = following


def open_file(
    path: Path, output: Path, recipient: PrivateKey, *, senders: Sequence[PublicKey] = (), force: bool = False
) -> tuple[int, PublicKey | None]:
    """Open an envelope into a file that only its owner can read; returns its size and who sealed it."""
    refuse_same_file(path, output)
    try:
        source = path.open("rb")
    except OSError as error:
        raise unreadable(path, error) from None
    size = 0
    with source, atomic_write(output, force=force, private=True) as temporary, temporary.open("wb") as target:
        head = read_head(source, recipient, senders)
        for chunk in opened_chunks(source, head):
            target.write(chunk)
            size += len(chunk)
    return size, head.sender


def read_head(source: BinaryIO, recipient: PrivateKey, senders: Sequence[PublicKey]) -> Head:
    """Read the beginning of an envelope."""
    begin = source.read(len(MAGIC) + _BOX)
    if not begin.startswith(MAGIC) or len(begin) < len(MAGIC) + _BOX:
        raise damaged()
    return opened_head(begin[len(MAGIC) :], recipient, senders)


def opened_chunks(source: BinaryIO, head: Head) -> Iterator[bytes]:
    """The content, chunk by chunk. It is true only if this ends without an error."""
    state = bindings.crypto_secretstream_xchacha20poly1305_state()
    start = source.read(_START)
    if len(start) < _START:
        raise damaged()
    bindings.crypto_secretstream_xchacha20poly1305_init_pull(state, start, head.key)
    final = False
    for sealed in _chunks(source, CHUNK + _MORE):
        if final or len(sealed) < _MORE:
            raise damaged()
        try:
            chunk, tag = bindings.crypto_secretstream_xchacha20poly1305_pull(state, sealed, head.box)
        except (exceptions.CryptoError, RuntimeError):
            raise damaged() from None
        final = tag == _FINAL
        yield chunk
    if not final:
        raise damaged()


def _chunks(file: BinaryIO, size: int) -> Iterator[bytes]:
    while chunk := file.read(size):
        yield chunk
