"""Sealed cells and blind indexes."""

from __future__ import annotations

import hashlib
import hmac

import pytest

from kohorte.errors import EngineError
from kohorte.trust.keys import Key
from kohorte.trust.sealing import BlindIndex, Sealer

KEY = Key(1, bytes(range(32)))
OTHER = Key(2, bytes(range(1, 33)))


def test_a_sealed_cell_unseals_in_its_own_row_only() -> None:
    sealer = Sealer(KEY, "persons")
    sealed = sealer.seal("Müller".encode(), row=b"1")
    assert sealer.unseal(sealed, row=b"1") == "Müller".encode()
    assert "Müller".encode() not in sealed
    assert sealer.seal("Müller".encode(), row=b"1") != sealed


@pytest.mark.parametrize(
    ("sealer", "row", "change"),
    [
        (Sealer(KEY, "persons"), b"2", None),
        (Sealer(KEY, "cases"), b"1", None),
        (Sealer(OTHER, "persons"), b"1", None),
        (Sealer(KEY, "persons"), b"1", 0),
        (Sealer(KEY, "persons"), b"1", 30),
        (Sealer(KEY, "persons"), b"1", -1),
    ],
    ids=["another row", "another table", "another key", "nonce", "text", "tag"],
)
def test_a_cell_that_was_moved_or_changed_is_refused(sealer: Sealer, row: bytes, change: int | None) -> None:
    sealed = bytearray(Sealer(KEY, "persons").seal(b"a name of some length", row=b"1"))
    if change is not None:
        sealed[change] ^= 1
    with pytest.raises(EngineError) as caught:
        sealer.unseal(bytes(sealed), row=row)
    assert caught.value.code == "trust-damaged"


@pytest.mark.parametrize("length", [0, 5, 23, 24, 39])
def test_a_cell_that_was_cut_is_refused(length: int) -> None:
    sealed = Sealer(KEY, "persons").seal(b"", row=b"1")
    with pytest.raises(EngineError):
        Sealer(KEY, "persons").unseal(sealed[:length], row=b"1")


def test_a_blind_index_is_a_keyed_hash_of_the_text() -> None:
    index = BlindIndex(KEY, "original")
    assert index.of("4711") == hmac.new(KEY.derived("blind index", "original"), b"4711", hashlib.sha256).digest()[:16]
    assert len({index.of("4711"), index.of("4712"), BlindIndex(KEY, "name").of("4711")}) == 3
    assert BlindIndex(OTHER, "original").of("4711") != index.of("4711")


def test_no_repr_shows_a_key() -> None:
    assert repr(Sealer(KEY, "persons")) == "<Sealer, version 1 of the key>"
    assert repr(BlindIndex(KEY, "original")) == "<BlindIndex, version 1 of the key>"
