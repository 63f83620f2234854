"""The key that the database does not have, and what is locked with it: files and small sealed texts.

Files
    A random key of its own for each file, sealed with the master key, then libsodium's secretstream
    (XChaCha20-Poly1305): chunks cannot be changed, left out, reordered or cut off unnoticed. Name and kind
    of the file are authenticated, so that no file can take the place of another, or be taken for something else.
Sealed texts
    XChaCha20-Poly1305 with a random nonce; a label says what the text is, and is authenticated.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, Self

from nacl import bindings, exceptions

from kohorte.data.files import unreadable
from kohorte.errors import EngineError, InputError

KEY_BYTES = 32
MAGIC = b"KOHORTE1"
CHUNK = 1 << 20
_NONCE = bindings.crypto_aead_xchacha20poly1305_ietf_NPUBBYTES
_HEADER = bindings.crypto_secretstream_xchacha20poly1305_HEADERBYTES
_OVERHEAD = bindings.crypto_secretstream_xchacha20poly1305_ABYTES
_FINAL = bindings.crypto_secretstream_xchacha20poly1305_TAG_FINAL
_MESSAGE = bindings.crypto_secretstream_xchacha20poly1305_TAG_MESSAGE
_SEALED_KEY = _NONCE + KEY_BYTES + 16


class Content(StrEnum):
    """What a locked file holds; it can be unlocked as nothing else."""

    UPLOAD = "upload"
    TABLE = "table"
    RELEASE = "release"
    REPORT = "report"


class Vault:
    """A folder of locked files, and the master key."""

    def __init__(self, folder: Path, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise InputError(f"the master key has {KEY_BYTES} bytes", code="service-key")
        self.folder = folder
        self._key = key
        with _file_failures():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def __repr__(self) -> str:
        return "<Vault>"

    @classmethod
    def at(cls, folder: Path, key_file: Path, *, create: bool = False) -> Self:
        """Open a vault with the key in a file; with `create` a new key is made where there is no file yet."""
        if create and not key_file.exists():
            try:
                _make_key(key_file)
            except OSError:
                raise InputError(f"{key_file}: the key file cannot be written", code="service-key") from None
        return cls(folder, _read_key(key_file))

    def derived(self, purpose: str) -> bytes:
        """Return a key for one purpose, from which nobody learns the master key or another purpose's."""
        return hmac.new(self._key, f"kohorte {purpose}".encode(), hashlib.sha256).digest()

    @property
    def fingerprint(self) -> str:
        """What tells this key from others without telling the key."""
        return self.derived("fingerprint").hex()

    def seal(self, text: str | bytes, *, label: str) -> bytes:
        """Lock a small text."""
        data = text.encode() if isinstance(text, str) else text
        nonce = secrets.token_bytes(_NONCE)
        return nonce + bindings.crypto_aead_xchacha20poly1305_ietf_encrypt(data, label.encode(), nonce, self._sealing)

    def unseal(self, sealed: bytes, *, label: str) -> bytes:
        """Unlock a small text; what was changed, or sealed under another label or key, is refused."""
        nonce, data = bytes(sealed[:_NONCE]), bytes(sealed[_NONCE:])
        try:
            return bindings.crypto_aead_xchacha20poly1305_ietf_decrypt(data, label.encode(), nonce, self._sealing)
        except (exceptions.CryptoError, exceptions.ValueError, ValueError):
            raise _damaged("a sealed entry of the database") from None

    @property
    def _sealing(self) -> bytes:
        return self.derived("sealing")

    def path(self, name: str) -> Path:
        """Return where a locked file lies."""
        if not re.fullmatch("[0-9a-f]{32}", name):
            raise InputError("not the name of a locked file", code="service-file-name")
        return self.folder / name

    @contextlib.contextmanager
    def writing(self, content: Content = Content.TABLE) -> Iterator[LockedWriter]:
        """Write a new locked file; it gets its name when the block has ended well, and is gone otherwise."""
        name = secrets.token_hex(16)
        temporary = self.folder / f".{name}.tmp"
        writer = LockedWriter(temporary, name, self, content)
        try:
            yield writer
            writer.finish()
            with _file_failures():
                temporary.replace(self.folder / name)
                _flush_folder(self.folder)
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)

    def write(self, data: bytes, content: Content = Content.TABLE) -> str:
        """Lock bytes into a new file, and return its name."""
        with self.writing(content) as writer:
            writer.write(data)
        return writer.name

    def chunks(self, name: str, content: Content = Content.TABLE) -> Iterator[bytes]:
        """Unlock a file, chunk by chunk; a chunk that was changed is refused, a missing end when it is reached.

        A file of another kind is refused, too: no raw table leaves in the place of a release.
        """
        path = self.path(name)
        try:
            with path.open("rb") as file:
                yield from self._chunks(file, name, content)
        except OSError as error:
            raise EngineError(unreadable("a locked file", error).message, code="service-file") from None

    def read(self, name: str, content: Content = Content.TABLE) -> bytes:
        """Unlock a whole file."""
        return b"".join(self.chunks(name, content))

    def remove(self, name: str | None) -> None:
        """Remove a locked file, if there is one; without its sealed key the content is lost."""
        if name is not None:
            with _file_failures():
                self.path(name).unlink(missing_ok=True)

    def _chunks(self, file: BinaryIO, name: str, content: Content) -> Iterator[bytes]:
        head = file.read(len(MAGIC) + _SEALED_KEY + _HEADER)
        if len(head) < len(MAGIC) + _SEALED_KEY + _HEADER or not head.startswith(MAGIC):
            raise _damaged("a locked file")
        key = self.unseal(head[len(MAGIC) : len(MAGIC) + _SEALED_KEY], label=_label(name, content))
        state = bindings.crypto_secretstream_xchacha20poly1305_state()
        bindings.crypto_secretstream_xchacha20poly1305_init_pull(state, head[-_HEADER:], key)
        tag = _MESSAGE
        while tag != _FINAL:
            chunk = file.read(CHUNK + _OVERHEAD)
            try:
                data, tag = bindings.crypto_secretstream_xchacha20poly1305_pull(state, chunk, name.encode())
            except (exceptions.CryptoError, exceptions.ValueError, ValueError, RuntimeError):
                raise _damaged("a locked file") from None
            yield data
        if file.read(1):
            raise _damaged("a locked file")


class LockedWriter:
    """Takes bytes of any length and writes locked chunks; also counts and hashes what it was given."""

    def __init__(self, path: Path, name: str, vault: Vault, content: Content) -> None:
        self.name = name
        self.bytes = 0
        self._hash = hashlib.sha256()
        self._pending = bytearray()
        with _file_failures():
            self._file = os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb")
        key = bindings.crypto_secretstream_xchacha20poly1305_keygen()
        self._state = bindings.crypto_secretstream_xchacha20poly1305_state()
        header = bindings.crypto_secretstream_xchacha20poly1305_init_push(self._state, key)
        self._file.write(MAGIC + vault.seal(key, label=_label(name, content)) + header)  # small: stays in the buffer

    @property
    def sha256(self) -> str:
        """The SHA-256 of what was written so far."""
        return self._hash.hexdigest()

    def write(self, data: bytes) -> None:
        """Add bytes."""
        self.bytes += len(data)
        self._hash.update(data)
        view = memoryview(data)
        for start in range(0, len(view), CHUNK):
            self._pending += view[start : start + CHUNK]
            if len(self._pending) > CHUNK:  # the last chunk is written by `finish`, which marks it as the last
                self._push(bytes(self._pending[:CHUNK]), _MESSAGE)
                del self._pending[:CHUNK]

    def finish(self) -> None:
        """Write the last chunk and wait until all is on disk."""
        self._push(bytes(self._pending), _FINAL)
        with _file_failures():
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file; without `finish` it is no locked file."""
        with contextlib.suppress(OSError):  # a full disk: `write` or `finish` has said so
            self._file.close()

    def _push(self, data: bytes, tag: int) -> None:
        locked = bindings.crypto_secretstream_xchacha20poly1305_push(self._state, data, self.name.encode(), tag)
        with _file_failures():
            self._file.write(locked)


def _make_key(path: Path) -> None:
    """Write a new key that only the owner can read; of two that try at once one wins."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_bytes(KEY_BYTES).hex() + "\n")
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(temporary)
        _flush_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _read_key(path: Path) -> bytes:
    try:
        mode, text = path.stat().st_mode, path.read_bytes()
    except OSError as error:
        raise InputError(unreadable(path, error).message, code="service-key") from None
    if mode & 0o077:
        raise InputError(f"{path}: others can read the key file; chmod 600 it", code="service-key")
    try:
        return bytes.fromhex(text.decode("ascii").strip())
    except ValueError:
        raise InputError(f"{path}: is no key file: {KEY_BYTES} bytes in hexadecimal", code="service-key") from None


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _file_failures() -> Iterator[None]:
    try:
        yield
    except OSError:
        raise EngineError("a locked file could not be written or removed", code="service-file") from None


def _label(name: str, content: Content) -> str:
    return f"{content} in file {name}"


def _damaged(what: str) -> EngineError:
    return EngineError(
        f"{what} was changed, is damaged, or belongs to another key; restore it from a backup", code="service-damaged"
    )
