"""Asks another party over HTTPS: one connection for messages, one for signs of life, and short ones for the rest."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Iterable, Mapping

from OpenSSL import SSL

from kohorte.parties.transport.https.answers import (
    KIND_HEADER,
    LONGEST_ANSWER,
    RUN_HEADER,
    SEQUENCE_HEADER,
    SIZE_HEADER,
    STUDY_HEADER,
    Answer,
    stop_headers,
)
from kohorte.parties.transport.https.packing import packed
from kohorte.parties.transport.https.terms import Contact, endpoint
from kohorte.parties.transport.https.tls import TlsStream
from kohorte.parties.transport.inbox import Stop

CONNECT_SECONDS = 5.0
MESSAGE_SECONDS = 30.0
REUSE_SECONDS = 20.0
"""A connection that was idle for longer is made again: firewalls forget it, and the other side ends it after 60 s."""


class Silence(TimeoutError):
    """Another party's machine took the connection, but its program does not answer."""


class _Https(http.client.HTTPConnection):
    """A connection to a party at its address, with exactly its certificate."""

    def __init__(self, contact: Contact, context: SSL.Context, *, seconds: float) -> None:
        self._contact = contact
        self._context = context
        self._limit = seconds
        host, port = endpoint(contact.address)
        super().__init__(host, port, timeout=seconds)

    def connect(self) -> None:
        """Connect and compare the certificate before a byte is sent."""
        seconds = min(self._limit, CONNECT_SECONDS)
        plain = socket.create_connection((self.host, self.port), timeout=seconds)
        try:
            stream = TlsStream(
                self._context, plain, lambda shown: shown == self._contact.fingerprint, seconds=seconds, server=False
            )
        except TimeoutError:
            raise Silence from None
        stream.settimeout(self._limit)
        self.sock = stream  # has the methods of a socket that http.client uses


class Line:
    """A connection to a party that is kept open between requests; one request at a time."""

    def __init__(self, contact: Contact, context: SSL.Context, *, peer: str) -> None:
        self._contact = contact
        self._context = context
        self._peer = peer
        self._lock = threading.Lock()
        self._open: _Https | None = None
        self._used = 0.0

    def ask(
        self, path: str, headers: Mapping[str, str], *, seconds: float, body: Iterable[bytes] | None = None
    ) -> Answer:
        """Send a request and read the answer; every wait takes at most so many seconds.

        OSError means that there was no answer.
        """
        with self._lock:
            connection = self._connection(seconds)
            try:
                return self._exchange(connection, path, headers, body)
            except http.client.HTTPException:
                self._drop()
                raise ConnectionAbortedError from None
            except BaseException:
                self._drop()
                raise

    def abort(self) -> None:
        """End a request that another thread is waiting for."""
        connection = self._open
        stream = None if connection is None else connection.sock
        if isinstance(stream, TlsStream):
            stream.abort()

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._drop()

    def _connection(self, seconds: float) -> _Https:
        if self._open is not None and time.monotonic() - self._used > REUSE_SECONDS:
            self._drop()
        if self._open is None:
            self._open = _Https(self._contact, self._context, seconds=seconds)
        if self._open.sock is not None:
            self._open.sock.settimeout(seconds)
        return self._open

    def _exchange(
        self, connection: _Https, path: str, headers: Mapping[str, str], body: Iterable[bytes] | None
    ) -> Answer:
        if body is None:
            connection.request("POST", path, headers={**headers, "Content-Length": "0"})
        else:
            chunked = {**headers, "Transfer-Encoding": "chunked"}
            connection.request("POST", path, body=body, headers=chunked, encode_chunked=True)
        try:
            response = connection.getresponse()
        except TimeoutError:
            raise Silence from None
        told = response.read(LONGEST_ANSWER)
        if response.length and len(told) < LONGEST_ANSWER:  # the other side ended within its answer
            raise ConnectionAbortedError
        answer = Answer.from_json(told, peer=self._peer)
        self._used = time.monotonic()
        if response.will_close or not response.isclosed():
            self._drop()
        return answer

    def _drop(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None


class PeerClient:
    """Asks one other party about one run."""

    def __init__(self, contact: Contact, context: SSL.Context, *, peer: str, study: str, number: str) -> None:
        self.peer = peer
        self._contact = contact
        self._context = context
        self._headers = {STUDY_HEADER: study, RUN_HEADER: number}
        self._messages = self._line()
        self._pings = self._line()
        self._sent = 0

    def invite(self, *, seconds: float) -> Answer:
        """Ask the party to take part; asked again, it answers what it has decided."""
        return self._ask_once("/invite", {}, seconds=seconds)

    def begin(self, *, seconds: float) -> Answer:
        """Tell the party that everybody has agreed."""
        return self._ask_once("/begin", {}, seconds=seconds)

    def stop(self, stop: Stop, *, seconds: float) -> Answer:
        """Tell the party that the run has ended early."""
        return self._ask_once("/stop", stop_headers(stop), seconds=seconds)

    def done(self, *, seconds: float) -> Answer:
        """Tell the party that this one has done its part."""
        return self._ask_once("/done", {}, seconds=seconds)

    def ping(self, *, seconds: float, kept: bool) -> Answer:
        """Ask for a sign of life, over a connection that is kept or over a new one."""
        if kept:
            return self._pings.ask("/ping", self._headers, seconds=seconds)
        return self._ask_once("/ping", {}, seconds=seconds)

    def message(self, kind: str, payload: bytes) -> tuple[Answer, int]:
        """Send a message and return the answer and how many bytes were sent."""
        self._sent += 1
        headers = {SEQUENCE_HEADER: str(self._sent), KIND_HEADER: kind, SIZE_HEADER: str(len(payload))}
        body = _Counted(packed(payload))
        answer = self._messages.ask("/message", {**self._headers, **headers}, seconds=MESSAGE_SECONDS, body=body)
        return answer, body.size

    def abort(self) -> None:
        """End a message that is being sent."""
        self._messages.abort()

    def close(self) -> None:
        """Close the connection for messages."""
        self._messages.close()

    def close_pings(self) -> None:
        """Close the connection for signs of life."""
        self._pings.close()

    def _ask_once(self, path: str, headers: Mapping[str, str], *, seconds: float) -> Answer:
        line = self._line()
        try:
            return line.ask(path, {**self._headers, **headers}, seconds=seconds)
        finally:
            line.close()

    def _line(self) -> Line:
        return Line(self._contact, self._context, peer=self.peer)


class _Counted:
    """Pieces of a body, counted as they are sent."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self.size = 0

    def __iter__(self) -> _Counted:
        return self

    def __next__(self) -> bytes:
        piece = next(self._pieces)
        self.size += len(piece)
        return piece
