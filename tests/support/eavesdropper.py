"""Somebody who has recorded every message of a run, and what this person looks for: values, keys, hashes of values."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from kohorte.parties.ciphers import agreement, deterministic, secret
from kohorte.parties.ciphers.ristretto import hash_to_group
from kohorte.parties.counting.veiled import KEY_BYTES, ClassKeys, KeyShares

SHORTEST = 6
"""Shorter texts occur in random bytes by chance."""
WINDOW = 16
"""So many bytes that agree are no coincidence."""

Way = Callable[[Sequence[str]], Iterable[bytes]]
"""How an attacker turns values into what could be in a message."""


def recorded(folder: Path) -> dict[str, bytes]:
    """Every message that was sent, by the name of its file, in the order of sending."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


# Plain values and keys


def plain_forms(text: str) -> set[bytes]:
    """How a text could be written in a message."""
    forms = {text.encode(), text.encode("utf-16-le"), json.dumps(text)[1:-1].encode()}
    return forms | {text.encode("latin-1", "ignore")} if len(text.encode("latin-1", "ignore")) >= SHORTEST else forms


def texts_found(texts: Iterable[str], messages: Iterable[bytes]) -> set[str]:
    """The texts that are in a message; only those that are long enough."""
    whole = b"\n".join(messages)
    long = {text for text in texts if len(text.encode()) >= SHORTEST}
    return {text for text in long if any(form in whole for form in plain_forms(text))}


def keys_found(keys: Iterable[bytes], messages: Iterable[bytes]) -> list[bytes]:
    """The keys of which half is in a message: as bytes, as hexadecimal digits or in base 64."""
    whole, found = b"\n".join(messages), []
    for key in keys:
        halves = (key[: len(key) // 2], key[len(key) // 2 :])
        forms = {form for half in halves for form in (half, half.hex().encode(), half.hex().upper().encode())}
        forms |= {base64.b64encode(key)[:-4], base64.urlsafe_b64encode(key)[:-4]}
        if any(form in whole for form in forms):
            found.append(key)
    return found


@contextmanager
def keys_kept() -> Iterator[set[bytes]]:
    """Keep a copy of every key that is drawn, agreed on or derived within the block.

    Shares of keys are not among them: they are meant to be sent, each to one party.
    """
    kept: set[bytes] = set()

    def keeping(function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any, **more: Any) -> Any:
            found = function(*arguments, **more)
            kept.add(bytes(found))
            return found

        return called

    own_init, cipher_init = secret.Secret.__init__, deterministic.ColumnCipher.__init__

    def of_secret(self: secret.Secret, data: bytes) -> None:
        width = KEY_BYTES if isinstance(self, ClassKeys) else max(1, len(data))
        if not isinstance(self, KeyShares):
            kept.update(bytes(data[place : place + width]) for place in range(0, len(data), width))
        own_init(self, data)

    def of_cipher(self: deterministic.ColumnCipher, key: bytes, length: int) -> None:
        kept.add(bytes(key))
        cipher_init(self, key, length)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secret.Secret, "__init__", of_secret)
        patch.setattr(deterministic.ColumnCipher, "__init__", of_cipher)
        patch.setattr(agreement, "derived", keeping(agreement.derived))
        patch.setattr(agreement, "random_group_secret", keeping(agreement.random_group_secret))
        yield kept


# A dictionary of plausible values


class Windows:
    """All windows of 16 bytes of all messages, at every position."""

    def __init__(self, messages: Iterable[bytes]) -> None:
        self._whole = b"\n".join(messages)
        parts = [np.frombuffer(self._whole[start : start + (len(self._whole) - start) // 8 * 8]) for start in range(8)]
        self._starts = np.unique(np.concatenate([part.view(np.uint64) for part in parts]))

    def holds(self, candidates: Sequence[bytes]) -> list[bool]:
        """Tell of each candidate whether its first 16 bytes are in a message."""
        starts = np.frombuffer(b"".join(one[:8] for one in candidates), dtype=np.uint64)
        places = np.minimum(np.searchsorted(self._starts, starts), len(self._starts) - 1)
        likely = (self._starts[places] == starts).tolist()
        return [maybe and one[:WINDOW] in self._whole for maybe, one in zip(likely, candidates, strict=True)]


def values_found(windows: Windows, dictionary: Sequence[str], ways: Mapping[str, Way]) -> dict[str, set[str]]:
    """The values that an attacker recognizes, by the way that finds them."""
    found = {}
    for name, way in ways.items():
        hits = windows.holds(list(way(dictionary)))
        if own := {value for value, hit in zip(dictionary, hits, strict=True) if hit}:
            found[name] = own
    return found


def hashes() -> dict[str, Way]:
    """Hashes that need no key."""
    names = ("sha256", "sha512", "sha1", "md5", "sha3_256", "blake2b", "blake2s")
    return {
        name: lambda values, name=name: (hashlib.new(name, value.encode()).digest() for value in values)
        for name in names
    }


def keyed_hashes(keys: Mapping[str, bytes]) -> dict[str, Way]:
    """HMAC with keys that everybody knows."""
    return {
        f"hmac-{digest} with {name}": lambda values, key=key, digest=digest: (
            hmac.digest(key, value.encode(), digest) for value in values
        )
        for name, key in keys.items()
        for digest in ("sha256", "sha512")
    }


def points(keys: Mapping[str, bytes]) -> dict[str, Way]:
    """Points of the group, hashed with keys that are known."""
    return {
        f"points with {name}": lambda values, key=key: (
            point.tobytes() for point in hash_to_group([value.encode() for value in values], key)
        )
        for name, key in keys.items()
    }


def encrypted(keys: Mapping[str, bytes], lengths: Iterable[int]) -> dict[str, Way]:
    """Cells under AES-SIV with keys of 64 bytes that are known, padded as the protocols do: written here again."""

    def way(values: Sequence[str], key: bytes, length: int) -> Iterator[bytes]:
        cipher = AESSIV(key)
        for value in values:
            text = value.encode()
            yield cipher.encrypt(len(text).to_bytes(4, "big") + text[:length].ljust(length, b"\0"), None)

    return {
        f"AES-SIV with {name}, {length} bytes": lambda values, key=key, length=length: way(values, key, length)
        for name, key in keys.items()
        for length in lengths
    }
