"""The messages that have arrived at a party, and whether its run still goes on."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kohorte.errors import ProtocolError

INTERRUPTED = "interrupted"
FAILED = "failed"
AGREE = "agree"
"""The phase before a run has begun: its members are asked whether they take part."""


REASONS = {
    INTERRUPTED: "it was interrupted there",
    FAILED: "an unexpected failure",
    "no-solution": "no-solution; no release satisfies the plan. A higher suppression_limit, weaker models, or fewer "
    "quasi-identifiers would help; the message there says how much",
}
"""Reasons of a stop, in words; others are codes of errors, which docs/errors.md explains."""


@dataclass(frozen=True)
class Stop:
    """Why a run ended early: the party that ended it, the code of its reason, its phase, and a party that was lost."""

    by: str
    code: str
    phase: str = ""
    lost: str | None = None

    def error(self) -> ProtocolError:
        """Return the error that another party raises because of this stop."""
        where = in_phase(self.phase)
        if self.lost is not None:
            return ProtocolError(
                f"{self.by} stopped the run{where}, because it no longer reaches {self.lost}", code="party-lost"
            )
        reason = REASONS.get(self.code, self.code)
        return ProtocolError(f"{self.by} stopped the run{where}; its reason: {reason}", code="party-stopped")


def in_phase(phase: str) -> str:
    """Return " in the phase encrypt", or nothing if no phase has begun."""
    return f" in the phase {phase}" if phase else ""


@dataclass(frozen=True)
class Parcel:
    """A message that has arrived: its kind, its payload, and its size as it was sent."""

    kind: str
    payload: bytes
    size: int


class Inbox:
    """Keeps the messages of each sender in their order until they are taken, and wakes up who waits when a run ends.

    `phase` is what the party is doing, for messages about a run that ended. `when_stopped` is called once, in the
    thread that stops the run.
    """

    def __init__(self, name: str, peers: Iterable[str]) -> None:
        self.phase = ""
        self.when_stopped: list[Callable[[], None]] = []
        self._name = name
        self._parcels: dict[str, deque[Parcel]] = {peer: deque() for peer in peers}
        self._finished: set[str] = set()
        self._stop: Stop | None = None
        self._error: ProtocolError | None = None
        self._changed = threading.Condition()

    @property
    def stopped(self) -> Stop | None:
        """Why the run ended early; None as long as it goes on, or if it finished."""
        with self._changed:
            return self._stop

    @property
    def finished(self) -> frozenset[str]:
        """The other parties that have done their part."""
        with self._changed:
            return frozenset(self._finished)

    def waiting(self, sender: str) -> int:
        """Return how many bytes of a sender have arrived and were not taken yet."""
        with self._changed:
            return sum(len(parcel.payload) for parcel in self._parcels[sender])

    def put(self, sender: str, parcel: Parcel) -> None:
        """Add a message that has arrived."""
        with self._changed:
            self._parcels[sender].append(parcel)
            self._changed.notify_all()

    def stop(self, stop: Stop, error: ProtocolError | None = None) -> None:
        """End the run, unless it has ended before; `error` says more to this party than the stop says to the others."""
        with self._changed:
            if self._stop is not None:
                return
            self._stop = stop
            self._error = error
            self._changed.notify_all()
        for call in self.when_stopped:
            call()

    def fail(self, error: ProtocolError, *, lost: str | None = None) -> None:
        """End the run because this party found an error; the others learn its code, and which party was lost."""
        self.stop(Stop(self._name, error.code, self.phase, lost), error)

    def finish(self, sender: str) -> None:
        """Note that a party has done its part and will send nothing more."""
        with self._changed:
            self._finished.add(sender)
            self._changed.notify_all()

    @property
    def reason(self) -> str:
        """Why the run ended early, in words."""
        try:
            self.check()
        except ProtocolError as error:
            return error.message
        return ""

    def check(self) -> None:
        """Raise the reason if the run has ended early."""
        with self._changed:
            self._raise_stop()

    def take(self, sender: str, kind: str, *, seconds: float) -> Parcel:
        """Wait for the next message of a sender, which must be of the given kind."""
        with self._changed:
            self._changed.wait_for(lambda: self._has_news(sender), timeout=seconds)
            self._raise_stop()
            if self._parcels[sender]:
                return self._next(sender, kind)
            if sender in self._finished:
                raise ProtocolError(
                    f"{sender} has ended its part of the run without sending {kind!r}{in_phase(self.phase)}; the "
                    "parties may have different versions of this program",
                    code="party-finished",
                )
        raise ProtocolError(
            f"{sender} answers, but has not sent {kind!r}{in_phase(self.phase)} within {seconds:.0f} seconds",
            code="party-timeout",
        )

    def refuse_surplus(self) -> None:
        """Raise an error if a party sent more than its role asks for."""
        with self._changed:
            for sender, parcels in self._parcels.items():
                if parcels:
                    raise ProtocolError(
                        f"{sender} sent {parcels[0].kind!r}{in_phase(self.phase)}, which nobody asked for; the parties "
                        "may have different versions of this program",
                        code="party-surplus",
                    )

    def clear(self) -> None:
        """Forget the messages that nobody has taken."""
        with self._changed:
            for parcels in self._parcels.values():
                parcels.clear()

    def _raise_stop(self) -> None:
        if self._error is not None:
            raise ProtocolError(self._error.message, code=self._error.code)
        if self._stop is not None:
            raise self._stop.error()

    def _has_news(self, sender: str) -> bool:
        return self._stop is not None or bool(self._parcels[sender]) or sender in self._finished

    def _next(self, sender: str, kind: str) -> Parcel:
        parcel = self._parcels[sender].popleft()
        if parcel.kind != kind:
            raise ProtocolError(
                f"{sender} sent {parcel.kind!r} where {kind!r} was expected{in_phase(self.phase)}; the parties may "
                "have different versions of this program",
                code="party-kind",
            )
        return parcel
