"""Timeouts for slow clients: for the headers of a request, for its body, and for reading the response."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from starlette.types import Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from kohorte.service.web.client_certificates import NAME, certificate_of

MOST_HEADER_BYTES = 32 * 1024
HEADER_SECONDS = 20.0
BODY_SECONDS = 30.0
ANSWER_SECONDS = 60.0
LENGTHS = frozenset({b"content-length", b"transfer-encoding"})


class SingleLengthConnection(h11.Connection):
    """Refuses a request with Content-Length and Transfer-Encoding: a proxy might use the other one (smuggling)."""

    def next_event(self) -> Any:
        """Return the next event."""
        event = super().next_event()
        if isinstance(event, h11.Request) and {name for name, _ in event.headers} >= LENGTHS:
            raise h11.RemoteProtocolError("a request has one length")
        return event


class SlowClientProtocol(H11Protocol):
    """HTTP/1.1 that closes the connections of clients that are too slow."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.conn = SingleLengthConnection(h11.SERVER, MOST_HEADER_BYTES)
        self._application, self.app = self.app, self._serve
        self._owed: object = None
        self._reading: asyncio.TimerHandle | None = None
        self._writing: asyncio.TimerHandle | None = None
        self._unsent: int | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timeout of the first request."""
        super().connection_made(transport)
        self._wait_for_client()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all timeouts."""
        _cancel(self._reading, self._writing)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read the data, and check whether the request is complete."""
        super().data_received(data)
        self._wait_for_client()

    def _wait_for_client(self) -> None:
        """Start the timeout of a request once; further bytes of the same request do not extend it."""
        owed = None
        if self.conn.their_state is h11.IDLE or (
            self.conn.their_state is h11.SEND_BODY and self.conn.our_state is h11.DONE  # answered, but still sending
        ):
            owed = self.conn.their_state
        if owed is not self._owed:
            _cancel(self._reading)
            self._owed = owed
            self._reading = self.loop.call_later(HEADER_SECONDS, self.transport.abort) if owed else None

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request; abort when its body pauses for too long."""
        expected = True

        async def with_timeout() -> Message:
            nonlocal expected
            message = await (self._part_of_body(receive) if expected else receive())
            expected = message.get("more_body", False)
            return message

        scope[NAME] = certificate_of(self.transport)
        await self._application(scope, with_timeout, send)

    async def _part_of_body(self, receive: Receive) -> Message:
        try:
            async with asyncio.timeout(BODY_SECONDS):
                return await receive()
        except TimeoutError:
            self.transport.abort()
            return await receive()  # that the client has gone

    def on_response_complete(self) -> None:
        """Apply the timeout to the end of the response, too."""
        super().on_response_complete()
        self._wait_for_reader()

    def pause_writing(self) -> None:
        """Start the timeout for reading the response."""
        super().pause_writing()
        self._wait_for_reader()

    def resume_writing(self) -> None:
        """Note that the client has read something."""
        super().resume_writing()
        self._unsent = None

    def _wait_for_reader(self) -> None:
        if self._writing is None and self.transport.get_write_buffer_size():
            self._writing = self.loop.call_later(ANSWER_SECONDS, self._look_at_reader)
            self._unsent = self.transport.get_write_buffer_size()

    def _look_at_reader(self) -> None:
        self._writing = None
        if self._unsent == self.transport.get_write_buffer_size() > 0:
            self.transport.abort()
        else:
            self._wait_for_reader()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP; during a response only abort."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.abort()


def _cancel(*timers: asyncio.TimerHandle | None) -> None:
    for timer in timers:
        if timer is not None:
            timer.cancel()
