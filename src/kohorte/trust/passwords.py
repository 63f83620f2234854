"""Passwords: hashing with Argon2id, and requirements.

Passwords that users choose for themselves must be strong. A password that a steward sets for another user may be weak,
but then expires after three days.
"""

from __future__ import annotations

import secrets
import threading
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache

from nacl import exceptions
from nacl.pwhash import argon2id

from kohorte.errors import InputError

PASSES = 2
MEMORY = 32 << 20
AT_ONCE = 4  # each hash takes MEMORY, so further logins wait instead of exhausting the memory
SHORTEST = 12
SHORTEST_INITIAL = 6
LONGEST = 200
FEWEST_DIFFERENT = 5
INITIAL_LASTS = timedelta(hours=72)
COMMON = frozenset(
    (
        "000000000000", "012345678910", "111111111111", "112233445566", "1234567890123", "123456789012",
        "1234567891011", "123456789123", "1q2w3e4r5t6y", "1qaz2wsx3edc", "abcdefghijkl", "abcd12345678",
        "administrator", "administrator1", "changemechangeme", "changeme1234", "hospital1234", "iloveyou1234",
        "krankenhaus1", "krankenhaus123", "letmeinletmein", "passwort1234", "passwort12345", "passwortpasswort",
        "password1234", "password12345", "password123456", "passwordpassword", "q1w2e3r4t5y6", "qwertyqwerty",
        "qwertyuiop12", "qwertyuiop123", "qwertzuiop12", "qwertzuiop123", "welcome12345", "willkommen12",
        "willkommen123",
    )
)  # fmt: skip
_hashing = threading.BoundedSemaphore(AT_ONCE)


def hashed(password: str) -> str:
    """Return the hash of a password, for storage."""
    with _hashing:
        return argon2id.str(_encoded(password), PASSES, MEMORY).decode("ascii")


def fits(password: str, stored: str | None) -> bool:
    """Whether a password matches a hash; without a hash the check takes the same time and returns False."""
    against = _nobodys() if stored is None else stored
    with _hashing:
        try:
            return argon2id.verify(against.encode("ascii"), _encoded(password)) and stored is not None
        except (exceptions.InvalidkeyError, ValueError):
            return False


def is_outdated(stored: str) -> bool:
    """Whether a hash was made with less work than required today."""
    work = dict(part.split("=") for part in stored.split("$")[3].split(","))
    return int(work["m"]) < MEMORY >> 10 or int(work["t"]) < PASSES


def warm_up() -> None:
    """Prepare the hash that `fits` uses for unknown users, so that the first check does not take longer."""
    _nobodys()


def refuse_weak(password: str, *, about: Iterable[str]) -> None:
    """Refuse a password that is easy to guess; `about` holds e-mail address, name and institution of the user."""
    weakness = _weakness(password, about)
    if weakness is not None:
        raise InputError(f"the password {weakness}", code="password-weak")


def initial_expiry(password: str, *, about: Iterable[str]) -> datetime | None:
    """Return when a password that somebody else chose expires; None for a strong password."""
    if len(_normal(password)) < SHORTEST_INITIAL:
        raise InputError(f"the password needs at least {SHORTEST_INITIAL} characters", code="password-weak")
    if len(password) > LONGEST:
        raise InputError(f"the password may have {LONGEST} characters at most", code="password-weak")
    return None if _weakness(password, about) is None else datetime.now(UTC) + INITIAL_LASTS


def _weakness(password: str, about: Iterable[str]) -> str | None:
    plain = _plain(password)
    if len(_normal(password)) < SHORTEST:
        return f"needs at least {SHORTEST} characters"
    if len(password) > LONGEST:
        return f"may have {LONGEST} characters at most"
    if len(set(plain)) < FEWEST_DIFFERENT:
        return f"needs at least {FEWEST_DIFFERENT} different characters"
    if plain in COMMON:
        return "is one of the most common"
    if plain in {_plain(text) for text in about}:
        return "must not be the e-mail address, the name or the institution"
    return None


@cache
def _nobodys() -> str:
    return hashed(secrets.token_hex())


def _encoded(password: str) -> bytes:
    return _normal(password).encode()


def _normal(password: str) -> str:
    """Normalize to NFC, so that equal characters from different keyboards give equal bytes."""
    return unicodedata.normalize("NFC", password)


def _plain(text: str) -> str:
    return "".join(_normal(text).casefold().split())
