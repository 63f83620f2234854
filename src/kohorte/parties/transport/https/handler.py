"""Reads requests of other parties from a connection and writes the answers, as HTTP/1.1."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from typing import Any

from kohorte.errors import ProtocolError
from kohorte.parties.transport.https.answers import (
    KIND_HEADER,
    RUN_HEADER,
    SEQUENCE_HEADER,
    SIZE_HEADER,
    STOP_HEADERS,
    STUDY_HEADER,
    Answer,
    State,
    stop_of,
)
from kohorte.parties.transport.https.desk import Desk
from kohorte.parties.transport.https.packing import chunks, most_packed, unpacked
from kohorte.parties.transport.https.run import Envelope, Run
from kohorte.parties.transport.https.terms import RUN, STUDY
from kohorte.parties.transport.https.tls import TlsStream

IDLE_SECONDS = 60.0
BODY_SECONDS = 20.0
BAD_REQUEST = "party-request"


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection.

    Who asks is known from the certificate of the connection, never from a header.
    """

    protocol_version = default_request_version = "HTTP/1.1"
    timeout = IDLE_SECONDS

    def __init__(self, stream: TlsStream, desk: Desk) -> None:
        self._stream = stream
        self._desk = desk
        super().__init__(stream, ("", 0), desk)  # type: ignore[arg-type]  # has what the base class uses

    def do_POST(self) -> None:
        """Answer a request."""
        number = self._header(RUN_HEADER)
        if not RUN.fullmatch(number):
            return self._write(400, Answer(State.UNKNOWN, BAD_REQUEST))
        if self.path == "/message":
            return self._receive(number)
        if "Transfer-Encoding" in self.headers or self._header("Content-Length") not in ("", "0"):
            return self._write(400, Answer(State.UNKNOWN, BAD_REQUEST))
        answer = self._answer(number)
        return self._write(200 if answer.is_good else 409, answer)

    def _answer(self, number: str) -> Answer:
        peer = self._stream.peer
        match self.path:
            case "/invite" if STUDY.fullmatch(self._header(STUDY_HEADER)):
                return self._desk.invite(peer, self._header(STUDY_HEADER), number)
            case "/begin":
                return self._desk.begin(peer, number)
            case "/ping":
                return self._desk.ping(peer, number)
            case "/done":
                return self._desk.done(peer, number)
            case "/stop":
                return self._stop(number)
        return Answer(State.UNKNOWN, BAD_REQUEST)

    def _stop(self, number: str) -> Answer:
        texts = {key: self.headers.get(header) for key, header in STOP_HEADERS.items()}
        try:
            stop = stop_of(lambda key: texts[key])
        except ValueError:
            return Answer(State.UNKNOWN, BAD_REQUEST)
        return self._desk.stop(self._stream.peer, number, stop)

    def _receive(self, number: str) -> None:
        found = self._desk.found(self._stream.peer, number)
        if found is None:
            return self._write(409, Answer(State.UNKNOWN))
        run, sender = found
        if run.is_over:
            return self._write(409, run.answer())
        try:
            self._read_message(run, sender)
        except ProtocolError as error:
            run.inbox.fail(error)
            return self._write(409, run.answer())
        return self._write(200, run.answer())

    def _read_message(self, run: Run, sender: str) -> None:
        envelope = self._envelope(sender)
        with run.arriving(sender, envelope):
            self._stream.settimeout(BODY_SECONDS)
            body = chunks(self.rfile, most=most_packed(envelope.size), sender=sender)
            payload, sent = unpacked(body, size=envelope.size, sender=sender)
            self._stream.settimeout(IDLE_SECONDS)
            run.put(sender, envelope, payload, size=sent)

    def _envelope(self, sender: str) -> Envelope:
        numbers = [self._header(SEQUENCE_HEADER), self._header(SIZE_HEADER)]
        if not all(text.isascii() and text.isdecimal() and len(text) < 16 for text in numbers):
            raise ProtocolError(f"a message of {sender} has no readable headers", code="party-request")
        if self._header("Transfer-Encoding") != "chunked" or "Content-Length" in self.headers:
            raise ProtocolError(f"a message of {sender} has no readable headers", code="party-request")
        sequence, size = map(int, numbers)
        return Envelope(self._header(STUDY_HEADER), sequence, self._header(KIND_HEADER), size)

    def _header(self, name: str) -> str:
        values = self.headers.get_all(name, [])
        return values[0].strip() if len(values) == 1 else ""

    def _write(self, status: int, answer: Answer) -> None:
        """Write the answer; after a refusal the rest of the request may be unread, so the connection ends."""
        body = answer.to_json()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status != 200:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        self.wfile.write(body)
        if status != 200:
            self._stream.linger()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what is no valid HTTP; nothing of the request is repeated."""
        del message, explain
        self._write(code, Answer(State.UNKNOWN, BAD_REQUEST))

    def version_string(self) -> str:
        """Name the program without versions."""
        return "kohorte"

    def log_message(self, *_: Any) -> None:
        """Log nothing: what matters is told by the run."""
