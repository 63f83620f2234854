"""The key pair of a recipient."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from kohorte.envelopes.keys import make_keys, read_private, read_public
from kohorte.errors import InputError


def test_the_public_key_is_that_of_the_private_one_by_another_library(tmp_path: Path) -> None:
    public = make_keys(tmp_path / "house")
    secret = bytes.fromhex((tmp_path / "house.key").read_text().split("\n")[1])
    expected = X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()
    assert public.raw == expected
    assert read_public(tmp_path / "house.pub").raw == expected
    assert public.fingerprint == hashlib.sha256(expected).hexdigest()[:32]


def test_a_fingerprint_is_so_long_that_nobody_makes_another_key_with_it_and_older_files_are_read(
    tmp_path: Path,
) -> None:
    public = make_keys(tmp_path / "house")
    assert len(bytes.fromhex(public.fingerprint)) * 8 >= 128
    for name in ("house.pub", "house.key"):
        path = tmp_path / name
        path.write_text(path.read_text()[:-17] + "\n")
        assert path.read_text().endswith(f"\n{public.fingerprint[:16]}\n")
    assert read_public(tmp_path / "house.pub") == public
    assert read_private(tmp_path / "house.key").public == public
    (tmp_path / "house.pub").write_text((tmp_path / "house.pub").read_text()[:-2] + "\n")
    with pytest.raises(InputError):
        read_public(tmp_path / "house.pub")


def test_only_the_owner_can_read_the_private_key_and_no_repr_shows_it(tmp_path: Path) -> None:
    make_keys(tmp_path / "house")
    path = tmp_path / "house.key"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_text().split("\n")[1] not in repr(read_private(path))
    path.chmod(0o640)
    with pytest.raises(InputError) as refused:
        read_private(path)
    assert refused.value.code == "trust-mode"


def test_existing_keys_are_never_replaced(tmp_path: Path) -> None:
    make_keys(tmp_path / "house")
    before = (tmp_path / "house.key").read_bytes()
    with pytest.raises(InputError) as refused:
        make_keys(tmp_path / "house")
    assert refused.value.code == "output-exists"
    assert (tmp_path / "house.key").read_bytes() == before


def test_a_public_key_with_a_wrong_digit_is_refused(tmp_path: Path) -> None:
    make_keys(tmp_path / "house")
    path = tmp_path / "house.pub"
    title, digits, rest = path.read_text().split("\n", 2)
    other = ("1" if digits[0] == "0" else "0") + digits[1:]
    path.write_text(f"{title}\n{other}\n{rest}")
    with pytest.raises(InputError) as refused:
        read_public(path)
    assert refused.value.code == "envelope-key"
    assert digits[1:20] not in refused.value.message


@pytest.mark.parametrize("content", ["", "nothing\n", "kohorte envelope public key 1\nzz\n00\n"])
def test_a_file_that_is_no_key_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "odd.pub").write_text(content)
    with pytest.raises(InputError) as refused:
        read_public(tmp_path / "odd.pub")
    assert refused.value.code == "envelope-key"


def test_a_private_key_in_place_of_the_public_one_is_refused_with_a_warning(tmp_path: Path) -> None:
    make_keys(tmp_path / "house")
    with pytest.raises(InputError, match="private key"):
        read_public(tmp_path / "house.key")
    with pytest.raises(InputError) as refused:
        read_private(tmp_path / "house.missing")
    assert refused.value.code == "file-unreadable"
