"""The key file: several keys in one file, replaced in one step, and noticed by those who have it open."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kohorte.errors import InputError
from kohorte.service.keyring import ChainKey, KeyFile, KeyRing, MasterKey

RING = KeyRing(
    MasterKey(b"c" * 32),
    MasterKey(b"n" * 32),
    (MasterKey(b"p" * 32), MasterKey(b"q" * 32)),
    (ChainKey("audit", 1, b"a" * 32), ChainKey("spent", 1, b"s" * 32), ChainKey("audit", 7, b"b" * 32)),
)


def test_a_ring_comes_back_from_its_text() -> None:
    assert KeyRing.from_text(RING.to_text()) == RING
    bare = KeyRing(MasterKey(b"c" * 32))
    assert bare.to_text() == (b"c" * 32).hex() + "\n"
    assert KeyRing.from_text(bare.to_text()) == bare


def test_no_key_is_shown() -> None:
    for secret in (b"c", b"n", b"p", b"a", b"s"):
        assert (secret * 4).decode() not in repr(RING)


@pytest.mark.parametrize("line", ["next", "previous xyz", "audit x 00", "audit 1", "strange 1 00", "next 00", "x y z"])
def test_a_line_that_is_none_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "key"
    path.write_text(RING.to_text() + line + "\n")
    path.chmod(0o600)
    with pytest.raises(InputError) as caught:
        KeyFile(path)
    assert caught.value.code == "service-key"


def test_an_entry_has_the_key_of_the_last_change_before_it() -> None:
    assert [RING.chain_key("audit", number)[:1] for number in (1, 6, 7, 900)] == [b"a", b"a", b"b", b"b"]
    fresh = KeyRing(MasterKey(b"c" * 32))
    assert fresh.chain_key("audit", 5) == fresh.current.derived("audit")


def test_a_new_key_changes_no_key_of_a_log_until_it_is_told_from_which_entry_on() -> None:
    before = KeyRing(MasterKey(b"c" * 32), MasterKey(b"n" * 32))
    after = before.with_next_as_current()
    assert after.current == before.next
    assert after.chain_key("audit", 9) == before.chain_key("audit", 9)
    later = after.with_chain_keys_from({"audit": 5, "spent": 3})
    assert later.chain_key("audit", 4) == before.chain_key("audit", 4)
    assert later.chain_key("audit", 5) == later.current.derived("audit")
    assert later.with_chain_keys_from({"audit": 8, "spent": 8}) == later


def test_a_process_that_has_the_file_open_notices_that_it_was_replaced(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "key"
    one = KeyFile.at(path, create=True)
    other = KeyFile.at(path)
    (path.parent / ".key.0123.tmp").write_text("left by a process that was killed")
    first = one.ring.current
    one.replace(replace(one.ring, next=MasterKey.new()))
    assert other.ring == one.ring
    assert other.ring.all == (first, one.ring.next)
    path.unlink()
    assert other.ring == one.ring
    assert [found.name for found in path.parent.iterdir()] == []
