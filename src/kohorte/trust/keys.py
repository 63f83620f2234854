"""Key files: the versions of one secret key, of which the last is current.

One line per version, `NUMBER HEX`:

    1 8f0c...
    2 41ab...

A rotation adds a line; old versions stay, so that what was made with them can be resolved. Keys for single purposes are
derived with HKDF-SHA-256 and never stored.

Source
    Krawczyk, Eronen: HMAC-based Extract-and-Expand Key Derivation Function (HKDF), RFC 5869, 2010.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from kohorte.data import atomic_write
from kohorte.data.files import unreadable
from kohorte.errors import InputError
from kohorte.trust.private_files import locked, refuse_open_to_others

KEY_BYTES = 32
FINGERPRINT_BYTES = 8
_LINE = re.compile(rf"([1-9][0-9]{{0,8}}) ([0-9a-f]{{{2 * KEY_BYTES}}})")


@dataclass(frozen=True)
class Key:
    """One version of a key: thirty-two random bytes."""

    version: int
    secret: bytes = field(repr=False)

    def derived(self, *purpose: str, length: int = KEY_BYTES) -> bytes:
        """Return a key for one purpose, which reveals neither this key nor the key of another purpose."""
        info = b"".join(len(word.encode()).to_bytes(4, "big") + word.encode() for word in ("kohorte trust", *purpose))
        return HKDF(algorithm=SHA256(), length=length, salt=None, info=info).derive(self.secret)

    @property
    def fingerprint(self) -> str:
        """Identifies the key without revealing it."""
        return self.derived("fingerprint", length=FINGERPRINT_BYTES).hex()


@dataclass(frozen=True)
class Keys:
    """All versions of a key; `owner` names in messages what the key is of, such as "the domain 'study'"."""

    owner: str
    versions: tuple[Key, ...]
    lost: str = "what was made with it cannot be resolved any more"

    @property
    def current(self) -> Key:
        """The version that everything new is made with."""
        return self.versions[-1]

    def version(self, number: int) -> Key:
        """Return one version; if it is missing, the error says what is lost."""
        for key in self.versions:
            if key.version == number:
                return key
        raise InputError(
            f"{self.owner}: version {number} of its key is not in the key file; restore the file from a copy, "
            f"otherwise {self.lost}",
            code="trust-key-lost",
        )

    def check(self, fingerprints: Mapping[int, str]) -> None:
        """Refuse if a version that was noted by its fingerprint is missing, or is another key now."""
        for number, fingerprint in fingerprints.items():
            if self.version(number).fingerprint != fingerprint:
                raise InputError(
                    f"{self.owner}: version {number} of the key in its key file is another key; "
                    f"restore the key file from a copy, otherwise {self.lost}",
                    code="trust-key-other",
                )

    def with_next(self) -> Keys:
        """Return the keys with a new version as the current one."""
        new = Key(self.current.version + 1, secrets.token_bytes(KEY_BYTES))
        return Keys(self.owner, (*self.versions, new), self.lost)


@dataclass(frozen=True)
class KeyFile:
    """The file of one key, readable by its owner only; `lost` says what nobody can do without the key."""

    path: Path
    owner: str
    lost: str = "what was made with it cannot be resolved any more"

    @property
    def exists(self) -> bool:
        """Whether the file is there."""
        return self.path.exists()

    def create(self) -> Keys:
        """Write a new key; an existing file is never replaced."""
        keys = Keys(self.owner, (Key(1, secrets.token_bytes(KEY_BYTES)),), self.lost)
        self._write(keys, force=False)
        return keys

    def read(self) -> Keys:
        """Read the key; a file that is missing, damaged or open to others is refused."""
        try:
            refuse_open_to_others(self.path, what="key file", mode="600")
            text = self.path.read_text(encoding="ascii", errors="replace")
        except FileNotFoundError:
            raise InputError(
                f"{self.owner}: its key file {self.path.name} is missing; restore it from a copy, "
                f"otherwise {self.lost}",
                code="trust-key-lost",
            ) from None
        except OSError as error:
            raise InputError(unreadable(self.path, error).message, code="trust-key-file") from None
        return Keys(self.owner, versions_in(text, str(self.path)), self.lost)

    def rotate(self) -> Keys:
        """Add a version and return all; a process that is killed leaves the old file or the new one."""
        with locked(self.path.parent):
            keys = self.read().with_next()
            self._write(keys, force=True)
        return keys

    def destroy(self, version: int | None = None) -> None:
        """Destroy one version of the key, or the whole file: overwritten, then removed. Copies are not reached."""
        with locked(self.path.parent):
            keys = self.read()
            left = tuple(key for key in keys.versions if version is not None and key.version != version)
            with self.path.open("r+b") as old:
                size = old.seek(0, os.SEEK_END)
                if left:
                    self._write(Keys(self.owner, left, self.lost), force=True)  # the old file has no name any more
                old.seek(0)
                old.write(bytes(size))
                old.flush()
                os.fsync(old.fileno())
            if not left:
                self.path.unlink()

    def _write(self, keys: Keys, *, force: bool) -> None:
        text = "".join(f"{key.version} {key.secret.hex()}\n" for key in keys.versions)
        with atomic_write(self.path, force=force, private=True) as temporary:
            temporary.write_text(text, encoding="ascii")


def versions_in(text: str, where: str) -> tuple[Key, ...]:
    """The versions in the text of a key file; `where` names the file or the field in messages."""
    found = [_LINE.fullmatch(line) for line in text.splitlines()]
    keys = tuple(Key(int(line[1]), bytes.fromhex(line[2])) for line in found if line is not None)
    ascending = all(one.version < other.version for one, other in pairwise(keys))
    if not keys or len(keys) < len(found) or not ascending:
        raise InputError(
            f"{where}: is not a key file: each line is the number of a version, a blank and "
            f"{KEY_BYTES} bytes in hexadecimal, in ascending order",
            code="trust-key-file",
        )
    return keys
