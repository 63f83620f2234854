"""Files in envelopes: only the recipient opens them, and every change is noticed."""

from __future__ import annotations

import hmac
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from nacl import bindings
from nacl.public import PrivateKey as NaclKey
from nacl.public import SealedBox

from kohorte.envelopes import files
from kohorte.envelopes.files import open_file, seal_file, sealed_bytes
from kohorte.errors import InputError, KohorteError
from support.envelopes import Pair

CHUNK = 1000
HEAD = len(b"kohorte envelope 1\n") + 112 + 24
Change = Callable[[bytes], bytes]


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "CHUNK", CHUNK)


def opened(sealed: bytes, tmp_path: Path, key: Pair, *senders: Pair) -> bytes:
    (tmp_path / "in").write_bytes(sealed)
    open_file(tmp_path / "in", tmp_path / "out", key.private, senders=[one.public for one in senders], force=True)
    return (tmp_path / "out").read_bytes()


def sealed(content: bytes, tmp_path: Path, key: Pair, sender: Pair | None = None) -> bytes:
    private = None if sender is None else sender.private
    (tmp_path / "sealed").write_bytes(sealed_bytes(content, key.public, sender=private))
    return (tmp_path / "sealed").read_bytes()


def code_of(sealed: bytes, tmp_path: Path, key: Pair, *senders: Pair) -> str:
    (tmp_path / "out").unlink(missing_ok=True)
    with pytest.raises(KohorteError) as refused:
        opened(sealed, tmp_path, key, *senders)
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".out*"))
    return refused.value.code


def by_hand(sealed: bytes, secret: bytes, shared: bytes = b"") -> bytes:
    """Open an envelope with libsodium and HMAC only, as the page of the format says."""
    box, start, rest = sealed[19:131], sealed[131:155], sealed[155:]
    key = NaclKey(secret)
    content = SealedBox(key).decrypt(box)
    extracted = hmac.digest(bytes(32), content[:32] + shared, "sha256")
    info = b"kohorte envelope 1" + bytes(key.public_key) + box
    stream_key = hmac.digest(extracted, info + b"\x01", "sha256")
    state = bindings.crypto_secretstream_xchacha20poly1305_state()
    bindings.crypto_secretstream_xchacha20poly1305_init_pull(state, start, stream_key)
    found, tag = b"", 0
    for begin in range(0, len(rest), CHUNK + 17):
        chunk, tag = bindings.crypto_secretstream_xchacha20poly1305_pull(state, rest[begin : begin + CHUNK + 17], box)
        found += chunk
    assert tag == 3
    return found


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 500])
def test_what_is_sealed_is_opened(tmp_path: Path, recipient: Pair, size: int) -> None:
    content = os.urandom(size)
    (tmp_path / "plain").write_bytes(content)
    assert seal_file(tmp_path / "plain", tmp_path / "sealed", recipient.public) == size
    assert opened((tmp_path / "sealed").read_bytes(), tmp_path, recipient) == content
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o600
    assert content[:8] not in (tmp_path / "sealed").read_bytes() or size < 8


def test_libsodium_alone_opens_the_same_content(tmp_path: Path, recipient: Pair, sender: Pair) -> None:
    content = os.urandom(2 * CHUNK + 7)
    assert by_hand(sealed(content, tmp_path, recipient), recipient.private.raw) == content
    shared = bindings.crypto_box_beforenm(sender.public.raw, recipient.private.raw)
    assert by_hand(sealed(content, tmp_path, recipient, sender), recipient.private.raw, shared) == content


def chunks(data: bytes) -> list[bytes]:
    size = CHUNK + 17
    return [data[begin : begin + size] for begin in range(HEAD, len(data), size)]


def with_chunks(data: bytes, *numbers: int) -> bytes:
    parts = chunks(data)
    return data[:HEAD] + b"".join(parts[number] for number in numbers)


CHANGES: dict[str, Change] = {
    "two chunks swapped": lambda data: with_chunks(data, 1, 0, 2, 3),
    "the last chunk moved forward": lambda data: with_chunks(data, 0, 1, 3, 2),
    "a chunk left out": lambda data: with_chunks(data, 0, 2, 3),
    "the first chunk left out": lambda data: with_chunks(data, 1, 2, 3),
    "the last chunk left out": lambda data: with_chunks(data, 0, 1, 2),
    "a chunk repeated": lambda data: with_chunks(data, 0, 1, 1, 2, 3),
    "the last chunk repeated": lambda data: with_chunks(data, 0, 1, 2, 3, 3),
    "cut within a chunk": lambda data: data[:-1],
    "cut after the head": lambda data: data[:HEAD],
    "cut within the head": lambda data: data[: HEAD - 30],
    "continued": lambda data: data + b"x",
    "continued by a chunk": lambda data: data + bytes(CHUNK + 17),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_change_of_chunks_is_noticed_and_nothing_is_written(tmp_path: Path, recipient: Pair, change: Change) -> None:
    data = sealed(os.urandom(3 * CHUNK + 500), tmp_path, recipient)
    assert len(chunks(data)) == 4
    assert code_of(change(data), tmp_path, recipient) == "envelope-damaged"


def test_a_chunk_of_another_envelope_is_noticed(tmp_path: Path, recipient: Pair) -> None:
    content = os.urandom(2 * CHUNK)
    one, other = sealed(content, tmp_path, recipient), sealed(content, tmp_path, recipient)
    mixed = one[:HEAD] + chunks(one)[0] + chunks(other)[1]
    assert code_of(mixed, tmp_path, recipient) == "envelope-damaged"
    assert code_of(other[:HEAD] + one[HEAD:], tmp_path, recipient) == "envelope-damaged"


def test_every_changed_bit_is_noticed(tmp_path: Path, recipient: Pair, sender: Pair) -> None:
    data = sealed(b"diagnosis", tmp_path, recipient, sender)
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1 << (place % 8)
        assert code_of(bytes(changed), tmp_path, recipient, sender) in ("envelope-damaged", "envelope-other-key")


def test_another_key_opens_nothing(tmp_path: Path, recipient: Pair, stranger: Pair) -> None:
    assert code_of(sealed(b"x", tmp_path, recipient), tmp_path, stranger) == "envelope-other-key"


def test_with_a_known_sender_nobody_else_can_have_sealed(
    tmp_path: Path, recipient: Pair, sender: Pair, stranger: Pair
) -> None:
    data = sealed(b"from the clinic", tmp_path, recipient, sender)
    assert opened(data, tmp_path, recipient, sender) == b"from the clinic"
    assert opened(data, tmp_path, recipient, stranger, sender) == b"from the clinic"
    assert code_of(data, tmp_path, recipient, stranger) == "envelope-sender"
    assert code_of(sealed(b"x", tmp_path, recipient), tmp_path, recipient, sender) == "envelope-sender"
    assert code_of(sealed(b"x", tmp_path, recipient, stranger), tmp_path, recipient, sender) == "envelope-sender"


def test_a_stranger_who_names_the_sender_in_the_box_is_noticed(tmp_path: Path, recipient: Pair, sender: Pair) -> None:
    """The stranger has both public keys and writes the format by hand, without the shared secret."""
    secret = os.urandom(32)
    box = bindings.crypto_box_seal(secret + sender.public.raw, recipient.public.raw)
    extracted = hmac.digest(bytes(32), secret, "sha256")
    key = hmac.digest(extracted, b"kohorte envelope 1" + recipient.public.raw + box + b"\x01", "sha256")
    state = bindings.crypto_secretstream_xchacha20poly1305_state()
    start = bindings.crypto_secretstream_xchacha20poly1305_init_push(state, key)
    chunk = bindings.crypto_secretstream_xchacha20poly1305_push(state, b"forged", box, 3)
    data = b"kohorte envelope 1\n" + box + start + chunk
    assert code_of(data, tmp_path, recipient, sender) == "envelope-damaged"


def test_the_sender_is_not_shown_to_those_who_pass_it_on(tmp_path: Path, recipient: Pair, sender: Pair) -> None:
    data = sealed(b"x", tmp_path, recipient, sender)
    assert sender.public.raw not in data
    assert len(data) == len(sealed(b"x", tmp_path, recipient))


def test_a_key_of_low_order_is_refused(tmp_path: Path, recipient: Pair) -> None:
    from kohorte.envelopes.keys import PublicKey

    with pytest.raises(InputError) as refused:
        sealed_bytes(b"x", PublicKey(bytes(32)))
    assert refused.value.code == "envelope-key"
    assert not (tmp_path / "sealed").exists()
    box = bindings.crypto_box_seal(os.urandom(32) + (1).to_bytes(32, "little"), recipient.public.raw)
    assert code_of(b"kohorte envelope 1\n" + box + bytes(100), tmp_path, recipient) == "envelope-key"


def test_an_envelope_is_not_opened_over_itself(tmp_path: Path, recipient: Pair) -> None:
    path = tmp_path / "sealed"
    data = sealed(b"x", tmp_path, recipient)
    with pytest.raises(InputError) as refused:
        open_file(path, path, recipient.private, force=True)
    assert refused.value.code == "output-is-input"
    assert path.read_bytes() == data
