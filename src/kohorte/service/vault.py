"""Encrypted files and small sealed texts; their keys are not in the database.

Files
    A random key for each file, sealed with the master key, and libsodium's secretstream (XChaCha20-Poly1305): chunks
    cannot be changed, left out, reordered or truncated unnoticed. Name and kind of the file are authenticated, so that
    no file can be mistaken for another.
Sealed texts
    XChaCha20-Poly1305 with a random nonce and an authenticated label that says what the text is. The first bytes are
    the id of the master key (docs/decisions/0029-key-rotation.md).
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, Self

from nacl import bindings, exceptions

from kohorte.data.files import unreadable
from kohorte.errors import EngineError, InputError
from kohorte.service.keyring import ID_BYTES, KEY_BYTES, KeyFile, KeyRing, MasterKey, flush_folder

MAGIC = b"KOHORTE2"
MAGIC_WITHOUT_ID = b"KOHORTE1"
"""Files of versions before key ids; they are read, and re-sealed by a rotation."""
CHUNK = 1 << 20
_NONCE = bindings.crypto_aead_xchacha20poly1305_ietf_NPUBBYTES
_HEADER = bindings.crypto_secretstream_xchacha20poly1305_HEADERBYTES
_OVERHEAD = bindings.crypto_secretstream_xchacha20poly1305_ABYTES
_FINAL = bindings.crypto_secretstream_xchacha20poly1305_TAG_FINAL
_MESSAGE = bindings.crypto_secretstream_xchacha20poly1305_TAG_MESSAGE
_SEALED_KEY = ID_BYTES + _NONCE + KEY_BYTES + 16
_NAME = re.compile("[0-9a-f]{32}")


class Content(StrEnum):
    """The kind of an encrypted file; it can be decrypted as this kind only."""

    UPLOAD = "upload"
    TABLE = "table"
    RELEASE = "release"
    REPORT = "report"


class Vault:
    """A folder of encrypted files, and the keys; `key` is a key file, or a fixed key."""

    def __init__(self, folder: Path, key: bytes | KeyFile) -> None:
        self.folder = folder
        self._keys = key if isinstance(key, KeyFile) else KeyRing(MasterKey(key))
        with _file_failures():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def __repr__(self) -> str:
        return "<Vault>"

    @classmethod
    def at(cls, folder: Path, key_file: Path, *, create: bool = False) -> Self:
        """Open a vault with a key file; with `create` a missing file is created with a new key."""
        return cls(folder, KeyFile.at(key_file, create=create))

    @property
    def ring(self) -> KeyRing:
        """The keys at this moment."""
        return self._keys.ring if isinstance(self._keys, KeyFile) else self._keys

    def replace_keys(self, ring: KeyRing) -> None:
        """Replace the key file while no file is being completed: the next file is sealed with the new current key."""
        assert isinstance(self._keys, KeyFile)
        with self._locked(fcntl.LOCK_EX):
            self._keys.replace(ring)

    def derived(self, purpose: str) -> bytes:
        """Return a key for one purpose, derived from the current master key."""
        return self.ring.current.derived(purpose)

    @property
    def fingerprint(self) -> str:
        """Identifies the current key without revealing it."""
        return self.ring.current.fingerprint

    def seal(self, text: str | bytes, *, label: str) -> bytes:
        """Encrypt a small text with the current key; its first bytes are the id of the key."""
        data, key = text.encode() if isinstance(text, str) else text, self.ring.current
        nonce = secrets.token_bytes(_NONCE)
        locked = bindings.crypto_aead_xchacha20poly1305_ietf_encrypt(data, label.encode(), nonce, key.sealing)
        return key.id + nonce + locked

    def unseal(self, sealed: bytes, *, label: str) -> bytes:
        """Decrypt a small text; a text that was changed, or sealed under another label or key, is refused."""
        data, keys = bytes(sealed), self.ring.all
        for key in keys:
            if data.startswith(key.id):
                return _decrypted(key, data[ID_BYTES:], label)
        for key in keys:  # texts of versions before key ids
            with contextlib.suppress(EngineError):
                return _decrypted(key, data, label)
        raise _damaged("a sealed entry of the database")

    def path(self, name: str) -> Path:
        """Return the path of an encrypted file."""
        if not _NAME.fullmatch(name):
            raise InputError("not the name of an encrypted file", code="service-file-name")
        return self.folder / name

    @contextlib.contextmanager
    def writing(self, content: Content = Content.TABLE) -> Iterator[LockedWriter]:
        """Write a new encrypted file; it gets its name if the block succeeds, and is removed otherwise."""
        name = secrets.token_hex(16)
        temporary = self.folder / f".{name}.tmp"
        writer = LockedWriter(temporary, name, self, content)
        try:
            yield writer
            with self._locked(fcntl.LOCK_SH):
                writer.finish()
                temporary.replace(self.folder / name)
                flush_folder(self.folder)
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)

    def write(self, data: bytes, content: Content = Content.TABLE) -> str:
        """Encrypt bytes into a new file, and return its name."""
        with self.writing(content) as writer:
            writer.write(data)
        return writer.name

    def chunks(self, name: str, content: Content = Content.TABLE) -> Iterator[bytes]:
        """Decrypt a file in chunks; a changed chunk is refused, and a truncated file when its end is reached.

        A file of another kind is refused, too, so that a raw table is never sent instead of a release.
        """
        path = self.path(name)
        try:
            with path.open("rb") as file:
                yield from self._chunks(file, name, content)
        except OSError as error:
            raise EngineError(unreadable("an encrypted file", error).message, code="service-file") from None

    def read(self, name: str, content: Content = Content.TABLE) -> bytes:
        """Decrypt a whole file."""
        return b"".join(self.chunks(name, content))

    def is_another(self, name: str, content: Content) -> bool:
        """Whether a file exists that does not belong under this name, or is of another kind; reads only its head."""
        try:
            with self.path(name).open("rb") as file:
                self.unseal(_head(file)[0], label=_label(name, content))
        except (EngineError, InputError):
            return True
        except OSError:
            return False
        return False

    def remove(self, name: str | None) -> None:
        """Remove an encrypted file, if it exists; without its sealed key the content is lost."""
        if name is not None:
            path = self.path(name)
            with self._locked(fcntl.LOCK_SH):
                path.unlink(missing_ok=True)

    def names(self) -> list[str]:
        """Return the names of all encrypted files."""
        with _file_failures():
            return sorted(path.name for path in self.folder.iterdir() if _NAME.fullmatch(path.name))

    def reseal(self, name: str) -> bool:
        """Seal the key of an encrypted file with the current master key; return whether that was needed.

        A copy with a new head replaces the file, unless the file was removed meanwhile.
        """
        try:
            old = self.path(name).open("rb")
        except FileNotFoundError:
            return False
        with old, _file_failures():
            sealed, header = _head(old)
            if sealed.startswith(self.ring.current.id):
                return False
            key, label = self._file_key(sealed, name)
            temporary = self.folder / f".{name}.tmp"
            with os.fdopen(os.open(temporary, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as new:
                new.write(MAGIC + self.seal(key, label=label) + header)
                shutil.copyfileobj(old, new, CHUNK)
                new.flush()
                os.fsync(new.fileno())
            self._put_in_place(temporary, self.path(name))
        return True

    def _put_in_place(self, temporary: Path, path: Path) -> None:
        with self._locked(fcntl.LOCK_EX):
            if path.exists():
                temporary.replace(path)
                flush_folder(self.folder)
            else:
                temporary.unlink(missing_ok=True)

    def _file_key(self, sealed: bytes, name: str) -> tuple[bytes, str]:
        """The key of a file of any kind, and the label that it is sealed under."""
        for content in Content:
            with contextlib.suppress(EngineError):
                return self.unseal(sealed, label=_label(name, content)), _label(name, content)
        raise _damaged("an encrypted file")

    @contextlib.contextmanager
    def _locked(self, kind: int) -> Iterator[None]:
        """Lock the folder: shared while a file is added or removed, exclusive while keys or files are replaced."""
        with _file_failures():
            descriptor = os.open(self.folder, os.O_RDONLY)
            try:
                fcntl.flock(descriptor, kind)
                yield
            finally:
                os.close(descriptor)

    def _chunks(self, file: BinaryIO, name: str, content: Content) -> Iterator[bytes]:
        sealed, header = _head(file)
        key = self.unseal(sealed, label=_label(name, content))
        state = bindings.crypto_secretstream_xchacha20poly1305_state()
        bindings.crypto_secretstream_xchacha20poly1305_init_pull(state, header, key)
        tag = _MESSAGE
        while tag != _FINAL:
            chunk = file.read(CHUNK + _OVERHEAD)
            try:
                data, tag = bindings.crypto_secretstream_xchacha20poly1305_pull(state, chunk, name.encode())
            except (exceptions.CryptoError, exceptions.ValueError, ValueError, RuntimeError):
                raise _damaged("an encrypted file") from None
            yield data
        if file.read(1):
            raise _damaged("an encrypted file")


class LockedWriter:
    """Writes bytes of any length as encrypted chunks, and counts and hashes them."""

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
        self._vault, self._key, self._label = vault, key, _label(name, content)
        self._file.write(MAGIC + bytes(_SEALED_KEY) + header)  # small: stays in the buffer

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
            self._file.seek(len(MAGIC))
            self._file.write(self._vault.seal(self._key, label=self._label))  # with the key that is current now
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file; without `finish` it is incomplete."""
        with contextlib.suppress(OSError):  # a full disk was reported by `write` or `finish`
            self._file.close()

    def _push(self, data: bytes, tag: int) -> None:
        locked = bindings.crypto_secretstream_xchacha20poly1305_push(self._state, data, self.name.encode(), tag)
        with _file_failures():
            self._file.write(locked)


def _head(file: BinaryIO) -> tuple[bytes, bytes]:
    """The sealed key and the header of the stream at the beginning of an encrypted file."""
    magic = file.read(len(MAGIC))
    length = _SEALED_KEY - (ID_BYTES if magic == MAGIC_WITHOUT_ID else 0)
    head = file.read(length + _HEADER)
    if len(head) < length + _HEADER or magic not in (MAGIC, MAGIC_WITHOUT_ID):
        raise _damaged("an encrypted file")
    return head[:length], head[length:]


def _decrypted(key: MasterKey, data: bytes, label: str) -> bytes:
    nonce, locked = data[:_NONCE], data[_NONCE:]
    try:
        return bindings.crypto_aead_xchacha20poly1305_ietf_decrypt(locked, label.encode(), nonce, key.sealing)
    except (exceptions.CryptoError, exceptions.ValueError, ValueError):
        raise _damaged("a sealed entry of the database") from None


@contextlib.contextmanager
def _file_failures() -> Iterator[None]:
    try:
        yield
    except OSError:
        raise EngineError("an encrypted file could not be written or removed", code="service-file") from None


def _label(name: str, content: Content) -> str:
    return f"{content} in file {name}"


def _damaged(what: str) -> EngineError:
    return EngineError(
        f"{what} was changed, is damaged, or belongs to another key; restore it from a backup", code="service-damaged"
    )
