"""Decides what to answer the other parties: invitations, signs of life, stops, and messages of the current run."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from kohorte.errors import InternalError
from kohorte.parties.transport.https.answers import Answer, State
from kohorte.parties.transport.https.run import Run
from kohorte.parties.transport.https.terms import RunTerms
from kohorte.parties.transport.inbox import Stop

BUSY = "party-busy"
NOT_WAITING = "party-not-waiting"
"""The last run of this party is over, and its program does not wait for the next one yet."""
OTHER_STUDY = "party-study"


class Desk:
    """Knows the studies that this party would take part in, and its current run; one run at a time.

    `tell` gets sentences for the person who operates this party.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._offers: tuple[RunTerms, ...] = ()
        self._waiting = False
        self._closed = False
        self._run: Run | None = None
        self._told: set[tuple[str, str]] = set()
        self._changed = threading.Condition()

    # For the party itself

    @contextlib.contextmanager
    def offering(self, offers: Sequence[RunTerms]) -> Iterator[None]:
        """Accept invitations to these studies; afterwards the same parties may still connect, but are refused."""
        with self._changed:
            self._offers = tuple(offers)
            self._waiting = True
        try:
            yield
        finally:
            with self._changed:
                self._waiting = False

    def next_invitation(self) -> Run:
        """Wait for an invitation and return its run, which the party can agree to or refuse."""
        with self._changed:
            while not self._closed:
                if self._run is not None and self._run.state is State.ASKED:
                    return self._run
                self._changed.wait()
        raise InternalError("the port was closed while this party waited for a run", code="party-closed")

    def close(self) -> None:
        """End the waiting for invitations."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def take(self, run: Run) -> None:
        """Make a run that this party starts the current one."""
        with self._changed:
            self._run = run

    # For the other parties, who are known by their certificate

    def accepts(self, fingerprint: str) -> bool:
        """Whether a certificate may connect: it belongs to another party of a study or of the current run."""
        return bool(self._studies_with(fingerprint))

    def _studies_with(self, fingerprint: str) -> list[RunTerms]:
        with self._changed:
            known = self._offers if self._run is None else (*self._offers, self._run.terms)
        return [terms for terms in known if terms.peer_with(fingerprint) is not None]

    def found(self, fingerprint: str, number: str) -> tuple[Run, str] | None:
        """Return the current run and the name of the party that asks, if the party takes part in just this run."""
        with self._changed:
            run = self._run
        if run is None or run.number != number:
            return None
        name = run.terms.peer_with(fingerprint)
        return None if name is None else (run, name)

    def invite(self, fingerprint: str, study: str, number: str) -> Answer:
        """Answer an invitation: first that a person is asked, later, when it is repeated, what was decided."""
        found = self.found(fingerprint, number)
        if found is not None:
            run, name = found
            run.asked_at = time.monotonic()
            return run.answer() if run.starter == name else Answer(State.REFUSED, BUSY)
        known = self._studies_with(fingerprint)
        matching = [terms for terms in known if terms.study == study]
        if not matching:
            return self._refuse_study(known, fingerprint, study)
        return self._ask(matching[0], fingerprint, number)

    def _ask(self, terms: RunTerms, fingerprint: str, number: str) -> Answer:
        starter = terms.peer_with(fingerprint)
        with self._changed:
            if starter is None or not (self._run is None or self._run.is_over):
                return Answer(State.REFUSED, BUSY)
            if not self._waiting:
                return Answer(State.REFUSED, NOT_WAITING)
            self._run = Run(number, terms, starter=starter)
            self._changed.notify_all()
            return self._run.answer()

    def _refuse_study(self, known: Sequence[RunTerms], fingerprint: str, study: str) -> Answer:
        name = known[0].peer_with(fingerprint) if known else None
        if name is not None and (name, study) not in self._told:
            self._told.add((name, study))
            self._tell(f"{name} asked for a run of a study that is not the one you have: compare the study files")
        return Answer(State.REFUSED, OTHER_STUDY)

    def begin(self, fingerprint: str, number: str) -> Answer:
        """Begin the run that this party agreed to; only the party that asked can."""
        found = self.found(fingerprint, number)
        if found is None:
            return Answer(State.UNKNOWN)
        run, name = found
        if name == run.starter and run.state is State.AGREED:
            run.move(State.RUNNING)
        return run.answer()

    def ping(self, fingerprint: str, number: str) -> Answer:
        """Give a sign of life."""
        found = self.found(fingerprint, number)
        return Answer(State.UNKNOWN) if found is None else found[0].answer()

    def stop(self, fingerprint: str, number: str, stop: Stop) -> Answer:
        """End the run because another party says so."""
        found = self.found(fingerprint, number)
        if found is None:
            return Answer(State.UNKNOWN)
        run, name = found
        if not run.is_over:
            run.stop(stop, sender=name)
        return run.answer()

    def done(self, fingerprint: str, number: str) -> Answer:
        """Note that another party has done its part of the run."""
        found = self.found(fingerprint, number)
        if found is None:
            return Answer(State.UNKNOWN)
        run, name = found
        run.inbox.finish(name)
        return run.answer()
