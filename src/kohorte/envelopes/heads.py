"""The head of an envelope: a key for the content, in a sealed box that only the recipient can open.

A sealed box does not say who made it. If the sender gives a private key, the key of the content also depends on the
secret that sender and recipient share, so that only one of the two can have sealed the content. The sender's public key
is inside the box: those who pass the envelope on do not learn who sealed it.

Source
    Bernstein: Cryptography in NaCl, 2009, and the sealed boxes of libsodium (X25519, XSalsa20, Poly1305); Krawczyk,
    Eronen: HKDF, RFC 5869, 2010; the sender as in mode Auth of Barnes et al.: Hybrid Public Key Encryption, RFC 9180,
    2022, section 5.1.3.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from nacl import bindings, exceptions

from kohorte.envelopes.keys import KEY_BYTES, PrivateKey, PublicKey, wrong_key
from kohorte.errors import AccessDenied, InputError

SECRET_BYTES = 32
NOBODY = bytes(KEY_BYTES)
"""Stands in a box for a sender who is not named."""


@dataclass(frozen=True)
class Head:
    """The box as it stands in the envelope, what only sender and recipient know, and who sealed it."""

    box: bytes
    key: bytes = field(repr=False)
    facts: bytes = field(repr=False)
    sender: PublicKey | None


def sealed_head(recipient: PublicKey, sender: PrivateKey | None, facts: bytes = b"") -> Head:
    """Make a head with a new key; `facts` are sealed along with it."""
    secret = secrets.token_bytes(SECRET_BYTES)
    name = NOBODY if sender is None else sender.public.raw
    shared = b"" if sender is None else sender.shared_with(recipient)
    try:
        box = bindings.crypto_box_seal(secret + name + facts, recipient.raw)
    except (exceptions.CryptoError, RuntimeError):
        raise wrong_key() from None
    return Head(box, _content_key(secret, shared, box, recipient), facts, None if sender is None else sender.public)


def opened_head(box: bytes, recipient: PrivateKey, senders: Sequence[PublicKey]) -> Head:
    """Open a box; if senders are given, one of them must have sealed it."""
    try:
        content = bindings.crypto_box_seal_open(box, recipient.public.raw, recipient.raw)
    except (exceptions.CryptoError, exceptions.TypeError, exceptions.ValueError):
        raise InputError(
            "the envelope was sealed for another key, or its beginning was changed", code="envelope-other-key"
        ) from None
    if len(content) < SECRET_BYTES + KEY_BYTES:
        raise damaged()
    secret, name = content[:SECRET_BYTES], content[SECRET_BYTES : SECRET_BYTES + KEY_BYTES]
    sender = None if name == NOBODY else PublicKey(name)
    if senders and sender not in senders:
        raise AccessDenied("the envelope was not sealed by the given sender", code="envelope-sender")
    shared = b"" if sender is None else recipient.shared_with(sender)
    facts = content[SECRET_BYTES + KEY_BYTES :]
    return Head(box, _content_key(secret, shared, box, recipient.public), facts, sender)


def damaged(where: str = "") -> InputError:
    """The error for content that is not as it was sealed."""
    return InputError(
        f"{where}the envelope was changed on its way, or a part of it is missing; nothing was opened",
        code="envelope-damaged",
    )


def _content_key(secret: bytes, shared: bytes, box: bytes, recipient: PublicKey) -> bytes:
    info = b"kohorte envelope 1" + recipient.raw + box
    return HKDF(algorithm=SHA256(), length=SECRET_BYTES, salt=None, info=info).derive(secret + shared)
