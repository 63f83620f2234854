"""Locked files and sealed texts: whatever is changed is refused, and nothing readable is on disk."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import threading
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from kohorte.errors import EngineError, InputError
from kohorte.service import vault as vault_module
from kohorte.service.vault import CHUNK, MAGIC, Content, Vault
from support.examples import examples

HEAD = len(MAGIC) + 80 + 24  # magic, id of the key and sealed key, header of the stream
OVERHEAD = 17
CANARY = b"Quastenflosser"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault.at(tmp_path / "files", tmp_path / "keys" / "master.key", create=True)


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> int:
    """Files of several chunks that are short enough to try everything."""
    monkeypatch.setattr(vault_module, "CHUNK", 8)
    return 8


def refused(vault: Vault, name: str) -> bool:
    try:
        vault.read(name)
    except EngineError as error:
        return error.code == "service-damaged"
    return False


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 5])
def test_what_was_locked_comes_back(vault: Vault, size: int) -> None:
    data = secrets.token_bytes(size)
    with vault.writing() as writer:
        writer.write(data)
    assert vault.read(writer.name) == data
    assert (writer.bytes, writer.sha256) == (size, hashlib.sha256(data).hexdigest())
    chunks = max(1, -(-size // CHUNK))
    assert vault.path(writer.name).stat().st_size == HEAD + size + chunks * OVERHEAD


@examples(50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=st.lists(st.binary(max_size=40), max_size=8))
def test_it_does_not_matter_in_which_pieces_it_came(vault: Vault, small_chunks: int, pieces: list[bytes]) -> None:
    with vault.writing() as writer:
        for piece in pieces:
            writer.write(piece)
    found = list(vault.chunks(writer.name))
    assert b"".join(found) == b"".join(pieces)
    assert all(len(chunk) == small_chunks for chunk in found[:-1])


def test_a_change_of_any_byte_is_seen(vault: Vault, small_chunks: int) -> None:
    name = vault.write(b"x" * (2 * small_chunks + 3))
    path = vault.path(name)
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert refused(vault, name), place
    path.write_bytes(whole)
    assert not refused(vault, name)


def test_a_file_that_was_cut_anywhere_is_refused(vault: Vault, small_chunks: int) -> None:
    name = vault.write(b"x" * (3 * small_chunks))
    path = vault.path(name)
    whole = path.read_bytes()
    assert len(whole) == HEAD + 3 * (small_chunks + OVERHEAD)
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert refused(vault, name), length


def test_what_was_added_is_refused(vault: Vault, small_chunks: int) -> None:
    name = vault.write(b"x" * (2 * small_chunks))
    path = vault.path(name)
    whole = path.read_bytes()
    for more in (b"\0", whole[-(small_chunks + OVERHEAD) :], whole):
        path.write_bytes(whole + more)
        assert refused(vault, name)


def test_chunks_in_another_order_or_left_out_are_refused(vault: Vault, small_chunks: int) -> None:
    name = vault.write(b"a" * small_chunks + b"b" * small_chunks + b"c")
    path = vault.path(name)
    whole = path.read_bytes()
    step = small_chunks + OVERHEAD
    head, first, second = whole[:HEAD], whole[HEAD : HEAD + step], whole[HEAD + step : HEAD + 2 * step]
    last = whole[HEAD + 2 * step :]
    for parts in ((second, first, last), (first, last), (second, last), (last,), (first, first, second, last)):
        path.write_bytes(head + b"".join(parts))
        assert refused(vault, name)


def test_files_that_were_swapped_are_refused(vault: Vault) -> None:
    one, other = vault.write(b"one"), vault.write(b"two")
    kept = vault.path(one).read_bytes()
    vault.path(one).write_bytes(vault.path(other).read_bytes())
    vault.path(other).write_bytes(kept)
    assert refused(vault, one)
    assert refused(vault, other)


def test_the_content_of_a_file_under_the_key_of_another_is_refused(vault: Vault) -> None:
    one, other = vault.write(b"one"), vault.write(b"two")
    vault.path(one).write_bytes(vault.path(one).read_bytes()[:HEAD] + vault.path(other).read_bytes()[HEAD:])
    assert refused(vault, one)


def test_another_key_opens_nothing(vault: Vault, tmp_path: Path) -> None:
    name, sealed = vault.write(b"one"), vault.seal("text", label="a")
    stranger = Vault(vault.folder, secrets.token_bytes(32))
    assert refused(stranger, name)
    with pytest.raises(EngineError) as caught:
        stranger.unseal(sealed, label="a")
    assert caught.value.code == "service-damaged"
    assert stranger.fingerprint != vault.fingerprint


def test_a_sealed_text_is_refused_when_changed_or_under_another_label(vault: Vault) -> None:
    sealed = vault.seal("text", label="question 1")
    assert vault.unseal(sealed, label="question 1") == b"text"
    assert vault.seal("text", label="question 1") != sealed
    changed = [sealed[:place] + bytes([sealed[place] ^ 1]) + sealed[place + 1 :] for place in range(len(sealed))]
    cut = [sealed[:length] for length in range(len(sealed))]
    for wrong, label in [(sealed, "question 2"), *((one, "question 1") for one in changed + cut)]:
        with pytest.raises(EngineError) as caught:
            vault.unseal(wrong, label=label)
        assert caught.value.code == "service-damaged"
        assert "text" not in str(caught.value)


def test_nothing_readable_is_on_disk(vault: Vault, tmp_path: Path) -> None:
    data = CANARY * 200_000
    vault.write(data)
    (tmp_path / "sealed").write_bytes(vault.seal(data, label="a"))
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert CANARY not in path.read_bytes()


def test_large_files_pass_through_little_memory(vault: Vault) -> None:
    piece, pieces = secrets.token_bytes(CHUNK + 17), 200
    tracemalloc.start()
    try:
        with vault.writing() as writer:
            for _ in range(pieces):
                writer.write(piece)
        read = sum(len(chunk) for chunk in vault.chunks(writer.name))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert read == pieces * len(piece)
    assert peak < 16 * CHUNK


def test_only_the_owner_can_read_files_and_key(vault: Vault, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        Vault.at(tmp_path / "new" / "files", tmp_path / "new" / "keys" / "key", create=True).write(b"x")
    finally:
        os.umask(before)
    for path in (tmp_path / "new").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_file_appears_only_when_it_is_whole(vault: Vault) -> None:
    def write_and_fail() -> None:
        with vault.writing() as writer:
            writer.write(b"x" * 3 * CHUNK)
            assert [path.name for path in vault.folder.iterdir()] == [f".{writer.name}.tmp"]
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_and_fail()
    assert list(vault.folder.iterdir()) == []


def test_a_removed_file_is_gone_and_may_be_removed_again(vault: Vault) -> None:
    name = vault.write(b"x")
    vault.remove(name)
    vault.remove(name)
    vault.remove(None)
    with pytest.raises(EngineError) as caught:
        vault.read(name)
    assert caught.value.code == "service-file"


@pytest.mark.parametrize("name", ["", ".", "..", "../keys/master.key", "a/b", "A" * 32, "a" * 31, "a" * 32 + "\n"])
def test_a_name_that_is_none_reaches_no_file(vault: Vault, name: str) -> None:
    for use in (vault.read, vault.remove):
        with pytest.raises(InputError) as caught:
            use(name)
        assert caught.value.code == "service-file-name"


def test_a_full_disk_is_told_without_a_half_file(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EngineError) as caught:
        vault.write(b"x")
    assert caught.value.code == "service-file"
    assert list(vault.folder.iterdir()) == []


def test_those_who_make_a_key_at_once_get_the_same(tmp_path: Path) -> None:
    found: list[str] = []

    def make() -> None:
        found.append(Vault.at(tmp_path / "files", tmp_path / "keys" / "key", create=True).fingerprint)

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
    assert [path.name for path in (tmp_path / "keys").iterdir()] == ["key"]


@pytest.mark.parametrize("content", ["", "xyz", "00" * 31, "00" * 33, "äö"])
def test_a_key_file_without_a_key_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "key"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(InputError) as caught:
        Vault.at(tmp_path / "files", path)
    assert caught.value.code == "service-key"


def test_a_key_file_that_others_can_read_is_refused(vault: Vault, tmp_path: Path) -> None:
    path = tmp_path / "keys" / "master.key"
    path.chmod(0o640)
    with pytest.raises(InputError) as caught:
        Vault.at(tmp_path / "files", path)
    assert caught.value.code == "service-key"
    assert "chmod 600" in str(caught.value)
    assert path.read_text().strip() not in str(caught.value)


def test_a_missing_key_is_refused_unless_it_may_be_made(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        Vault.at(tmp_path / "files", tmp_path / "key")
    assert caught.value.code == "service-key"
    (tmp_path / "file").touch()
    with pytest.raises(InputError) as caught:
        Vault.at(tmp_path / "files", tmp_path / "file" / "key", create=True)
    assert caught.value.code == "service-key"


def test_keys_for_purposes_differ_and_the_key_is_not_shown(vault: Vault, tmp_path: Path) -> None:
    master = (tmp_path / "keys" / "master.key").read_text().strip()
    derived = {vault.derived(purpose).hex() for purpose in ("audit", "sealing", "tokens")}
    assert len({*derived, master, vault.fingerprint}) == 5
    assert master not in repr(vault)


def test_a_raw_table_cannot_leave_in_the_place_of_a_release(vault: Vault) -> None:
    name = vault.write(b"raw rows", Content.TABLE)
    for other in (Content.RELEASE, Content.REPORT, Content.UPLOAD):
        with pytest.raises(EngineError, match="belongs to another key"):
            vault.read(name, other)
    assert vault.read(name, Content.TABLE) == b"raw rows"
