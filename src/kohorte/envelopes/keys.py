"""The key pair of a recipient: others seal with the public key, and only the private key opens."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path

from nacl import bindings, exceptions

from kohorte.data import atomic_write
from kohorte.data.files import refuse_output, unreadable
from kohorte.errors import InputError
from kohorte.trust.private_files import refuse_open_to_others

KEY_BYTES = bindings.crypto_box_PUBLICKEYBYTES
FINGERPRINT_BYTES = 16
"""As many that nobody makes a key with a given fingerprint; files of earlier versions have half of it."""
PRIVATE, PUBLIC = "kohorte envelope private key 1", "kohorte envelope public key 1"
_FILE = re.compile(rf"([^\n]+)\n([0-9a-f]{{{2 * KEY_BYTES}}})\n((?:[0-9a-f]{{{FINGERPRINT_BYTES}}}){{1,2}})\n?")


@dataclass(frozen=True)
class PublicKey:
    """What others get, to seal for the owner or to check that the owner sealed."""

    raw: bytes

    @property
    def fingerprint(self) -> str:
        """A short text for people who compare on the telephone whether they have the right key."""
        return hashlib.sha256(self.raw).digest()[:FINGERPRINT_BYTES].hex()


@dataclass(frozen=True)
class PrivateKey:
    """What only the owner has."""

    raw: bytes = field(repr=False)

    @property
    def public(self) -> PublicKey:
        """The public key that belongs to it."""
        return PublicKey(bindings.crypto_scalarmult_base(self.raw))

    def shared_with(self, other: PublicKey) -> bytes:
        """A secret that only the owners of the two keys can compute."""
        try:
            return bindings.crypto_box_beforenm(other.raw, self.raw)
        except exceptions.CryptoError:
            raise wrong_key() from None


def make_keys(name: Path) -> PublicKey:
    """Write a new key pair: NAME.key, which only its owner can read, and NAME.pub; existing files stay."""
    private, public = name.with_name(f"{name.name}.key"), name.with_name(f"{name.name}.pub")
    for path in (private, public):
        refuse_output(path, force=False)
    _, raw = bindings.crypto_box_keypair()
    key = PrivateKey(raw)
    for path, title, content, closed in (
        (private, PRIVATE, key.raw, True),
        (public, PUBLIC, key.public.raw, False),
    ):
        with atomic_write(path, force=False, private=closed) as temporary:
            temporary.write_text(f"{title}\n{content.hex()}\n{key.public.fingerprint}\n", encoding="ascii")
    return key.public


def read_public(path: Path) -> PublicKey:
    """Read a public key; one that was copied wrongly is refused."""
    return public_of(_text(path), str(path))


def public_of(text: str, where: str) -> PublicKey:
    """The public key in the text of a file; `where` names the file or the field in messages."""
    raw, fingerprint = _parsed(text, PUBLIC, where)
    key = PublicKey(raw)
    if not key.fingerprint.startswith(fingerprint):
        raise wrong_key(where)
    return key


def read_private(path: Path) -> PrivateKey:
    """Read a private key; a file that others can read is refused."""
    try:
        refuse_open_to_others(path, what="key file", mode="600")
    except OSError as error:
        raise unreadable(path, error) from None
    raw, fingerprint = _parsed(_text(path), PRIVATE, str(path))
    key = PrivateKey(raw)
    if not key.public.fingerprint.startswith(fingerprint):
        raise wrong_key(str(path))
    return key


def wrong_key(where: str = "the public key") -> InputError:
    """The error for a key that is none."""
    return InputError(
        f"{where}: is not a key of an envelope, or was damaged; 'kohorte envelope keys' makes a pair",
        code="envelope-key",
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError as error:
        raise unreadable(path, error) from None


def _parsed(text: str, title: str, where: str) -> tuple[bytes, str]:
    found = _FILE.fullmatch(text.replace("\r\n", "\n"))
    if found is not None and found[1] == PRIVATE and title == PUBLIC:
        raise InputError(
            f"{where}: is a private key; give the public one (.pub), and keep this one to yourself",
            code="envelope-key",
        )
    if found is None or found[1] != title:
        raise wrong_key(where)
    return bytes.fromhex(found[2]), found[3]
