"""Key files: versions, rotation, derivation, and what happens when a key is lost."""

from __future__ import annotations

import hashlib
import hmac
import os
from pathlib import Path

import pytest

from kohorte import InputError
from kohorte.trust.keys import Key, KeyFile


@pytest.fixture
def file(tmp_path: Path) -> KeyFile:
    return KeyFile(tmp_path / "study.key", "the domain 'study'", "no pseudonym of it can be resolved")


def code_of(caught: pytest.ExceptionInfo[InputError]) -> str:
    return caught.value.code


def test_a_new_key_has_one_version_and_can_be_read_by_its_owner_only(file: KeyFile) -> None:
    keys = file.create()
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert keys == file.read()
    assert [key.version for key in keys.versions] == [1]
    assert len(keys.current.secret) == 32


def test_a_rotation_adds_a_version_and_keeps_the_old_ones(file: KeyFile) -> None:
    first = file.create().current
    keys = file.rotate()
    assert keys == file.read()
    assert [key.version for key in keys.versions] == [1, 2]
    assert keys.version(1) == first
    assert keys.current.secret != first.secret
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert list(file.path.parent.iterdir()) == [file.path]


def test_a_key_file_is_never_replaced_by_a_new_one(file: KeyFile) -> None:
    keys = file.create()
    with pytest.raises(InputError) as caught:
        file.create()
    assert code_of(caught) == "output-exists"
    assert file.read() == keys


def test_a_missing_key_file_and_a_missing_version_say_what_is_lost(file: KeyFile) -> None:
    with pytest.raises(InputError, match=r"the domain 'study'.*no pseudonym of it can be resolved") as caught:
        file.read()
    assert code_of(caught) == "trust-key-lost"
    keys = file.create()
    with pytest.raises(InputError, match=r"version 7.*no pseudonym of it can be resolved") as caught:
        keys.version(7)
    assert code_of(caught) == "trust-key-lost"


def test_another_key_under_the_same_name_is_noticed_by_its_fingerprint(file: KeyFile) -> None:
    noted = {1: file.create().current.fingerprint}
    file.read().check(noted)
    file.path.unlink()
    other = file.create()
    with pytest.raises(InputError, match=r"version 1 .* is another key") as caught:
        other.check(noted)
    assert code_of(caught) == "trust-key-other"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_key_file_that_others_can_read_is_refused(file: KeyFile, mode: int) -> None:
    file.create()
    file.path.chmod(mode)
    with pytest.raises(InputError, match="chmod 600") as caught:
        file.read()
    assert code_of(caught) == "trust-mode"


def test_a_key_file_of_another_account_is_refused(file: KeyFile, monkeypatch: pytest.MonkeyPatch) -> None:
    file.create()
    if os.geteuid() == 0:
        os.chown(file.path, 12345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(InputError, match="another account") as caught:
        file.read()
    assert code_of(caught) == "trust-owner"


@pytest.mark.parametrize(
    "text",
    ["", "\n", "1 abc\n", "1 " + "ab" * 31 + "\n", "2 " + "ab" * 32 + "\n1 " + "cd" * 32 + "\n", "ab" * 32, "\xe4"],
    ids=["empty", "blank", "short", "31 bytes", "order", "no number", "not ascii"],
)
def test_a_damaged_key_file_is_refused_without_showing_it(file: KeyFile, text: str) -> None:
    file.create()
    file.path.write_text(text)
    with pytest.raises(InputError) as caught:
        file.read()
    assert code_of(caught) == "trust-key-file"
    assert "abab" not in caught.value.message


def test_a_derived_key_is_hkdf_of_the_secret_and_differs_with_every_purpose() -> None:
    key = Key(1, bytes(range(32)))
    info = b"".join(len(word).to_bytes(4, "big") + word for word in (b"kohorte trust", b"one", b"two"))
    extracted = hmac.new(bytes(32), key.secret, hashlib.sha256).digest()
    assert key.derived("one", "two") == hmac.new(extracted, info + b"\1", hashlib.sha256).digest()
    assert len({key.derived("one", "two"), key.derived("onetwo"), key.derived("one"), key.derived()}) == 4
    assert len(key.derived("one", length=64)) == 64


def test_no_repr_shows_a_secret(file: KeyFile) -> None:
    keys = file.create()
    shown = repr(keys) + repr(keys.current) + repr(file)
    assert keys.current.secret.hex() not in shown
    assert repr(keys.current.secret) not in shown
