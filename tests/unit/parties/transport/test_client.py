"""Answers of another party that do not arrive as a whole."""

from __future__ import annotations

import http.client
import io
from typing import Any

import pytest

from kohorte.errors import ProtocolError
from kohorte.parties.transport.https.client import Line
from kohorte.parties.transport.https.terms import Contact

WHOLE = b'{"state": "running"}'


class Answering:
    """A connection on which these bytes come as the answer to anything."""

    sock = None

    def __init__(self, answer: bytes) -> None:
        self._answer = answer

    def makefile(self, *_: object) -> io.BytesIO:
        return io.BytesIO(self._answer)

    def request(self, *_: object, **__: object) -> None:
        """Take the request."""

    def getresponse(self) -> http.client.HTTPResponse:
        response = http.client.HTTPResponse(self, method="POST")  # type: ignore[arg-type]
        response.begin()
        return response

    def close(self) -> None:
        """Nothing is open."""


def asked(monkeypatch: pytest.MonkeyPatch, answer: bytes) -> object:
    line = Line(Contact("127.0.0.1:1", "sha256:" + "0" * 64), None, peer="clinic-b")  # type: ignore[arg-type]
    connection: Any = Answering(answer)
    monkeypatch.setattr(line, "_connection", lambda _: connection)
    return line.ask("/ping", {}, seconds=1).state


def head(length: int) -> bytes:
    return f"HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n".encode()


def test_a_whole_answer_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(monkeypatch, head(len(WHOLE)) + WHOLE) == "running"


@pytest.mark.parametrize("rest", [b"", WHOLE[:-1]])
def test_a_party_that_ends_within_its_answer_has_not_answered(monkeypatch: pytest.MonkeyPatch, rest: bytes) -> None:
    with pytest.raises(OSError):  # noqa: PT011 - whether the party is lost is found out by asking it again
        asked(monkeypatch, head(len(WHOLE)) + rest)


def test_an_answer_that_makes_no_sense_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ProtocolError):
        asked(monkeypatch, head(2) + b"??")
