"""Passwords: which are good enough, how they are kept, and how many are hashed at once."""

import threading
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from nacl.pwhash import argon2id

from kohorte.errors import InputError
from kohorte.service.storage.schema import now
from kohorte.trust import passwords

ABOUT = ("jane.doe.senior@example.com", "Jane Doe the Second", "Fraunhofer IOSB")


@pytest.fixture(autouse=True)
def light_hashes() -> None:
    """Here, passwords are hashed with full work."""
    passwords._nobodys.cache_clear()


def test_a_hash_is_argon2id_with_at_least_the_work_that_owasp_asks_for() -> None:
    kept = passwords.hashed("three sparrows on a wire")
    assert kept.startswith("$argon2id$v=19$")
    work = dict(part.split("=") for part in kept.split("$")[3].split(","))
    assert int(work["m"]) >= 19 * 1024
    assert int(work["t"]) >= 2


def test_only_the_password_itself_fits_its_hash() -> None:
    kept = passwords.hashed("three sparrows on a wire")
    assert passwords.fits("three sparrows on a wire", kept)
    assert not passwords.fits("three sparrows on a wir", kept)
    assert not passwords.fits("", kept)
    assert not passwords.fits("three sparrows on a wire", None)


def test_two_hashes_of_one_password_differ() -> None:
    assert passwords.hashed("three sparrows on a wire") != passwords.hashed("three sparrows on a wire")


def test_letters_that_look_the_same_are_the_same() -> None:
    composed = unicodedata.normalize("NFC", "fünf Spätzchen am Draht")
    taken_apart = unicodedata.normalize("NFD", composed)
    assert composed != taken_apart
    assert passwords.fits(taken_apart, passwords.hashed(composed))


def test_a_damaged_hash_fits_nothing() -> None:
    assert not passwords.fits("three sparrows on a wire", "")
    assert not passwords.fits("three sparrows on a wire", "$argon2id$nonsense")


def test_a_hash_with_less_work_is_outdated() -> None:
    weaker = argon2id.str(b"x", passwords.PASSES, passwords.MEMORY // 2).decode()
    fewer = argon2id.str(b"x", passwords.PASSES - 1, passwords.MEMORY).decode()
    assert passwords.is_outdated(weaker)
    assert passwords.is_outdated(fewer)
    assert not passwords.is_outdated(passwords.hashed("three sparrows on a wire"))


def test_a_password_of_nobody_takes_as_much_work_as_one_of_somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = passwords.hashed("three sparrows on a wire")
    work, real = [], argon2id.verify

    def watched(stored: bytes, password: bytes) -> bool:
        work.append(stored.split(b"$")[1:4])
        return real(stored, password)

    monkeypatch.setattr(passwords.argon2id, "verify", watched)
    assert not passwords.fits("something quite else", None)
    assert not passwords.fits("something quite else", kept)
    assert work == [[b"argon2id", b"v=19", b"m=32768,t=2,p=1"]] * 2


def test_only_a_few_passwords_are_hashed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    running, most, lock = 0, 0, threading.Lock()
    real = argon2id.str

    def watched(*arguments: object) -> bytes:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        try:
            return real(b"x", 1, 8192)
        finally:
            threading.Event().wait(0.01)
            with lock:
                running -= 1

    monkeypatch.setattr(passwords.argon2id, "str", watched)
    with ThreadPoolExecutor(32) as pool:
        list(pool.map(passwords.hashed, ["three sparrows on a wire"] * 64))
    assert 2 <= most <= passwords.AT_ONCE


@pytest.mark.parametrize(
    ("password", "words"),
    [
        ("elevenchars", "at least 12"),
        ("x" * 201, "at most"),
        ("aaaaaaaaaaaa", "different"),
        ("PasswordPassword", "most common"),
        ("jane.doe.senior@EXAMPLE.com", "must not be"),
        ("janedoethesecond", "must not be"),
        ("fraunhofer  iosb", "must not be"),
    ],
)
def test_a_password_that_could_be_guessed_is_refused_without_being_repeated(password: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as raised:
        passwords.refuse_weak(password, about=ABOUT)
    assert raised.value.code == "password-weak"
    assert password not in raised.value.message


def test_a_password_of_twelve_to_two_hundred_characters_will_do() -> None:
    passwords.refuse_weak("abcdefghijkm", about=ABOUT)
    passwords.refuse_weak("ab cde" * 33 + "fg", about=ABOUT)


def test_a_weak_initial_password_expires_and_a_strong_one_does_not() -> None:
    expiry = passwords.initial_expiry("123456", about=ABOUT)
    assert expiry is not None
    assert timedelta(hours=71) < expiry - now() <= timedelta(hours=72)
    assert passwords.initial_expiry("three sparrows on a wire", about=ABOUT) is None


@pytest.mark.parametrize("password", ["12345", "", "x" * 201])
def test_an_initial_password_is_not_too_short_and_not_too_long(password: str) -> None:
    with pytest.raises(InputError) as raised:
        passwords.initial_expiry(password, about=ABOUT)
    assert raised.value.code == "password-weak"
