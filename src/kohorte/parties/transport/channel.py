"""A party's connection to the others during one run: send and receive bytes by the name of a party."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Protocol, Self

from kohorte.errors import InternalError, KohorteError, ProtocolError
from kohorte.parties.transport.attention import Attention
from kohorte.parties.transport.inbox import FAILED, INTERRUPTED, Inbox, Stop, in_phase
from kohorte.parties.transport.messages import Message, MessageLog, checked_kind

LONGEST_WAIT = 6 * 3600.0
NOT_VALID = "party-message-malformed"


class Channel(Protocol):
    """What a role sees of the others.

    As a context manager it tells the others how the block ended: an exception stops the run at all of them.
    """

    phase: str
    """What the party is doing, for messages about a run that ended; a role sets it."""

    @property
    def name(self) -> str:
        """The name of this party."""

    @property
    def peers(self) -> tuple[str, ...]:
        """The names of the others."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """What this party has sent and received so far."""

    def send(self, to: str, kind: str, payload: bytes) -> None:
        """Send a message; returns when the other party has it, raises ProtocolError if the run has ended."""

    def receive(self, sender: str, kind: str) -> bytes:
        """Wait for the next message of a party, which must be of this kind; raises ProtocolError otherwise."""

    def check(self) -> None:
        """Raise ProtocolError if the run has ended; for long computations between two messages."""

    def close(self) -> None:
        """End this party's part of the run; the others go on."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Link(Protocol):
    """How the messages of one party travel to the others."""

    def deliver(self, to: str, kind: str, payload: bytes) -> int:
        """Bring a message to a party and return its size as sent."""

    def tell_stop(self, to: str, stop: Stop) -> None:
        """Tell a party that the run has ended early; never raises."""

    def tell_done(self, to: str) -> None:
        """Tell a party that this one has done its part; never raises."""

    def close(self) -> None:
        """Release what the link holds."""


class RunChannel:
    """The channel of one party in one run, over any link."""

    def __init__(
        self,
        inbox: Inbox,
        link: Link,
        log: MessageLog,
        *,
        name: str,
        peers: tuple[str, ...],
        wait: float = LONGEST_WAIT,
        attention: Attention | None = None,
    ) -> None:
        self.name = name
        self.peers = peers
        self._inbox = inbox
        self._link = link
        self._log = log
        self._wait = wait
        self._attention = attention or Attention(active=False)
        self._closed = False
        self._latest = ""
        inbox.when_stopped.append(self._attention.interrupt)

    def __repr__(self) -> str:
        return f"<Channel of {self.name} to {', '.join(self.peers)}>"

    @property
    def phase(self) -> str:
        """What the party is doing, for messages about a run that ended."""
        return self._inbox.phase

    @phase.setter
    def phase(self, phase: str) -> None:
        self._inbox.phase = phase and checked_kind(phase)

    @property
    def messages(self) -> tuple[Message, ...]:
        """What this party has sent and received so far."""
        return self._log.messages

    def begin(self) -> None:
        """Count the seconds of the run from now on."""
        self._log.begin()

    def send(self, to: str, kind: str, payload: bytes) -> None:
        """Send a message; returns when the other party has it."""
        self._refuse(to, kind)
        self._inbox.check()
        self._log.record(self.name, to, kind, payload)
        with self._attention.noticing():
            size = self._link.deliver(to, kind, payload)
        self._inbox.check()
        self._log.note(self.name, to, kind, size=size, phase=self.phase)

    def receive(self, sender: str, kind: str) -> bytes:
        """Wait for the next message of a party, which must be of this kind."""
        self._refuse(sender, kind)
        with self._attention.noticing():
            parcel = self._inbox.take(sender, kind, seconds=self._wait)
        self._inbox.check()
        self._log.note(sender, self.name, kind, size=parcel.size, phase=self.phase)
        self._latest = f"the latest one is {kind!r} of {sender}"
        return parcel.payload

    @property
    def stopped(self) -> Stop | None:
        """Why the run ended early; None as long as it goes on, or if it finished."""
        return self._inbox.stopped

    def check(self) -> None:
        """Raise ProtocolError if the run has ended."""
        self._inbox.check()

    def close(self) -> None:
        """End this party's part of the run; the others go on."""
        self._end(self._inbox.stopped)

    def stop(self, code: str) -> None:
        """End the run at all parties; the code is all that they learn. After `close` nothing happens."""
        if self._closed:
            return
        self._inbox.stop(Stop(self.name, code, self.phase))
        self._end(self._inbox.stopped)

    def __enter__(self) -> Self:
        self._attention.begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        interrupted = self._attention.end()
        if error is None and self.stopped is None:
            try:
                self._inbox.refuse_surplus()
            except ProtocolError as surplus:
                self.stop(surplus.code)
                raise
            self.close()
            return
        self.stop(FAILED if error is None else code_of(error))
        if error is None or (interrupted and isinstance(error, KeyboardInterrupt)):
            self._inbox.check()
        if isinstance(error, ProtocolError) and error.code == NOT_VALID and self._latest:
            raise ProtocolError(f"{error.message} ({self._latest}{in_phase(self.phase)})", code=error.code) from None

    def _end(self, stop: Stop | None) -> None:
        """Tell all others at the same time, so that one that does not answer delays nobody."""
        if self._closed:
            return
        self._closed = True
        try:
            with ThreadPoolExecutor(max_workers=max(1, len(self.peers))) as pool:
                for peer in self.peers:
                    if stop is None:
                        pool.submit(self._link.tell_done, peer)
                    elif peer != stop.lost:
                        pool.submit(self._link.tell_stop, peer, stop)
        finally:
            self._link.close()
            self._inbox.clear()

    def _refuse(self, peer: str, kind: str) -> None:
        checked_kind(kind)
        if peer not in self.peers:
            raise InternalError(f"{peer!r} is no other party of this run", code="party-unknown")
        if self._closed:
            raise InternalError("the channel is closed: this party has ended its part of the run", code="party-closed")


def code_of(error: BaseException) -> str:
    """Return the code that tells the others why; never a message, which could contain values."""
    if isinstance(error, KohorteError):
        return error.code
    return INTERRUPTED if isinstance(error, KeyboardInterrupt) else FAILED
