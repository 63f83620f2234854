"""Compression of payloads in pieces."""

from __future__ import annotations

import contextlib
import io
import os
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte.errors import ProtocolError
from kohorte.parties.transport.https.answers import Answer, State
from kohorte.parties.transport.https.packing import PIECE, chunks, most_packed, packed, unpacked
from kohorte.parties.transport.inbox import Stop

SIZES = [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("make", [bytes, os.urandom, lambda size: (b"abcde%d" * (size // 5))[:size]])
def test_a_payload_is_the_same_after_packing_and_unpacking(size: int, make: object) -> None:
    payload = make(size)
    pieces = list(packed(payload))
    assert zlib.decompress(b"".join(pieces)) == payload
    assert unpacked(iter(pieces), size=len(payload), sender="a") == (payload, sum(map(len, pieces)))
    assert sum(map(len, pieces)) <= most_packed(len(payload))


@given(st.binary(max_size=2000), st.lists(st.integers(1, 300), min_size=1, max_size=20))
def test_it_does_not_matter_how_a_stream_is_cut_into_pieces(payload: bytes, cuts: list[int]) -> None:
    stream = zlib.compress(payload)
    pieces = []
    for cut in cuts:
        pieces.append(stream[:cut])
        stream = stream[cut:]
    pieces.append(stream)
    assert unpacked(iter(pieces), size=len(payload), sender="a")[0] == payload


@given(st.binary(max_size=300), st.integers(0, 300), st.integers(0, 255))
def test_a_changed_byte_is_noticed_or_changes_nothing(payload: bytes, place: int, value: int) -> None:
    stream = bytearray(zlib.compress(payload))
    stream[place % len(stream)] = value
    found = payload
    with contextlib.suppress(ProtocolError):
        found, _ = unpacked(iter([bytes(stream)]), size=len(payload), sender="a")
    assert found == payload


def test_ciphertexts_are_wrapped_and_not_compressed_in_vain() -> None:
    payload = os.urandom(100_000)
    assert b"".join(packed(payload))[1] & 0xC0 == 0  # the level in the header of zlib: fastest or none
    assert payload[:1000] in b"".join(packed(payload))
    assert len(b"".join(packed(bytes(100_000)))) < 1000


@given(st.lists(st.binary(min_size=1, max_size=50)))
def test_chunks_are_read_as_they_were_written(pieces: list[bytes]) -> None:
    body = b"".join(b"%X\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\nnext request"
    file = io.BytesIO(body)
    assert b"".join(chunks(file, most=10_000, sender="a")) == b"".join(pieces)
    assert file.read() == b"next request"


@given(st.binary(max_size=60))
def test_any_bytes_instead_of_chunks_end_with_an_error_and_never_hang(body: bytes) -> None:
    with pytest.raises((ProtocolError, ConnectionError)):
        list(chunks(io.BytesIO(body + b"\r"), most=100, sender="a"))


@pytest.mark.parametrize(
    "answer",
    [
        Answer(State.RUNNING),
        Answer(State.REFUSED, "party-busy"),
        Answer(State.STOPPED, stop=Stop("clinic-a", "party-lost", "encrypt", "helper")),
        Answer(State.STOPPED, stop=Stop("clinic-a", "failed")),
    ],
)
def test_an_answer_is_the_same_after_the_journey(answer: Answer) -> None:
    assert Answer.from_json(answer.to_json(), peer="a") == answer


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b'{"state": "happy"}',
        b'{"state": "refused", "code": "Mrs Miller"}',
        b'{"state": "stopped", "stop": {"by": "Mrs Miller", "code": "failed", "phase": "", "lost": null}}',
        b'{"state": "stopped", "stop": {"by": "a", "code": "x y", "phase": "", "lost": null}}',
        b'{"state": "stopped", "stop": 1}',
        b"[" * 100_000,
        b"\xff",
    ],
)
def test_an_answer_that_makes_no_sense_is_refused_without_repeating_it(body: bytes) -> None:
    with pytest.raises(ProtocolError, match="the answer of clinic-b cannot be read") as caught:
        Answer.from_json(body, peer="clinic-b")
    assert caught.value.code == "party-answer"
    assert "Miller" not in str(caught.value)
