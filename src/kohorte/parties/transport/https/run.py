"""One run at one party: what has been agreed, and the checks of every message that arrives."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kohorte.errors import ProtocolError
from kohorte.parties.transport.https.answers import Answer, State
from kohorte.parties.transport.https.terms import RunTerms
from kohorte.parties.transport.inbox import AGREE, Inbox, Parcel, Stop, in_phase
from kohorte.parties.transport.messages import is_kind


@dataclass(frozen=True)
class Envelope:
    """The headers of a message: study, number in the order of its sender, kind, and size when unpacked."""

    study: str
    sequence: int
    kind: str
    size: int


class Run:
    """The state of a run, shared by the thread of the role and those that answer the other parties."""

    def __init__(self, number: str, terms: RunTerms, *, starter: str) -> None:
        self.number = number
        self.terms = terms
        self.starter = starter
        self.inbox = Inbox(terms.name, terms.peers)
        self.inbox.phase = AGREE
        self.asked_at = time.monotonic()
        self._state = State.ASKED
        self._expected = dict.fromkeys(terms.peers, 1)
        self._arriving: set[str] = set()
        self._changed = threading.Condition()
        self.inbox.when_stopped.append(self._wake)

    @property
    def state(self) -> State:
        """How the run stands at this party."""
        if self._state is not State.REFUSED and self.inbox.stopped is not None:
            return State.STOPPED
        return self._state

    def move(self, state: State) -> None:
        """Go on to another state and wake up who waits for it."""
        with self._changed:
            self._state = state
            if state is State.RUNNING and self.inbox.phase == AGREE:
                self.inbox.phase = ""  # from now on the role says what it does
            self._changed.notify_all()

    def wait_until_begun(self, has_ended: Callable[[], bool]) -> bool:
        """Wait until the party that asked begins the run; False if it stopped the run, is silent or has ended.

        It repeats its invitation again and again. When one is late, `has_ended` says whether its program is gone.
        """
        patience = self.terms.patience
        while True:
            with self._changed:
                rest, state = self.asked_at + patience.silent - time.monotonic(), self.state
                if state is not State.AGREED or rest <= 0:
                    return state is State.RUNNING
                self._changed.wait(min(rest, patience.beat))
            if time.monotonic() - self.asked_at > 2 * patience.beat and has_ended():
                return False

    @property
    def is_over(self) -> bool:
        """Whether this party has nothing more to do in the run."""
        return self.state in (State.STOPPED, State.FINISHED, State.REFUSED)

    def answer(self) -> Answer:
        """Return what to answer a party that asks how the run stands."""
        state = self.state
        return Answer(state, "party-refused" if state is State.REFUSED else "", self.inbox.stopped)

    @contextlib.contextmanager
    def arriving(self, sender: str, envelope: Envelope) -> Iterator[None]:
        """Check the headers of a message, and keep its place in the order of its sender while its body is read."""
        with self._changed:
            self._check(sender, envelope)
            self._arriving.add(sender)
        try:
            yield
        finally:
            with self._changed:
                self._arriving.discard(sender)

    def put(self, sender: str, envelope: Envelope, payload: bytes, *, size: int) -> None:
        """Hand a message that has arrived to the role."""
        with self._changed:
            self._expected[sender] += 1
        self.inbox.put(sender, Parcel(envelope.kind, payload, size))

    def _check(self, sender: str, envelope: Envelope) -> None:
        expected = self._expected[sender]
        limit = self.terms.limits.of(envelope.kind)
        if envelope.study != self.terms.study:
            raise ProtocolError(f"{sender} sent a message of another study", code="party-study")
        if envelope.sequence != expected or sender in self._arriving:
            raise ProtocolError(
                f"{sender} sent message {envelope.sequence} where message {expected} was expected: one was repeated or "
                "left out",
                code="party-sequence",
            )
        if not is_kind(envelope.kind):
            raise ProtocolError(f"{sender} sent a message of a kind that cannot exist", code="party-kind")
        if envelope.size > limit:
            raise ProtocolError(
                f"{sender} announced a message {envelope.kind!r} of {envelope.size:,} bytes; at most {limit:,} are "
                "accepted",
                code="party-size",
            )
        if self.inbox.waiting(sender) + envelope.size > self.terms.limits.waiting:
            raise ProtocolError(f"{sender} sends faster than its messages are needed", code="party-size")

    def stop(self, stop: Stop, *, sender: str) -> None:
        """End the run because another party says so; names that are not of this run count for nothing."""
        by = stop.by if stop.by in self.terms.peers else sender
        lost = stop.lost if stop.lost in self.terms.contacts else None
        self.inbox.stop(Stop(by, stop.code, stop.phase, lost))

    def lose(self, peer: str) -> None:
        """End the run because another party no longer answers."""
        self.inbox.fail(
            ProtocolError(
                f"{peer} no longer answers{in_phase(self.inbox.phase)}; the run has ended, and can be started again "
                f"when {peer} is back",
                code="party-lost",
            ),
            lost=peer,
        )

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()
