"""Before a run: ask all other parties to take part, until everybody has agreed, and let them begin."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

from kohorte.errors import ProtocolError
from kohorte.parties.transport.https.answers import Answer, State
from kohorte.parties.transport.https.client import PeerClient, Silence
from kohorte.parties.transport.https.desk import BUSY, NOT_WAITING, OTHER_STUDY
from kohorte.parties.transport.https.link import REFUSALS, HttpsLink, certificate_error
from kohorte.parties.transport.https.run import Run
from kohorte.parties.transport.https.tls import CertificateRefused

ASK_SECONDS = 5.0
SILENT_SECONDS = 3.0
"""How long one invitation waits for an answer; several in a row without one end the run."""
SOON_SECONDS = 0.05
"""The second invitation follows after this time; the pauses double, up to the time between two signs of life."""
GRACE_SECONDS = 5.0
"""A party may need a moment before it waits for a run: its program has just been started and accepts no certificate
before it knows its studies, or its last run has just ended."""


class Agreement:
    """Asks all other parties at the same time.

    An invitation is repeated, in the end every second: the other party answers first that a person is asked, then what
    was decided. A party that has agreed is asked until the last one has, so that it knows that somebody still waits.

    People have minutes to start their program (`reach`) and to agree (`agree`). A program that was started answers by
    itself, also while its person is asked. If the machine takes the connection and nothing answers (`silent`), the
    program is frozen, and the party is lost, as it would be during a run. So is a party that has answered and can no
    longer be reached: its program has ended, and with it what its person decided.
    """

    def __init__(self, run: Run, link: HttpsLink, tell: Callable[[str], None]) -> None:
        self._run = run
        self._link = link
        self._tell = tell
        self._agreed: set[str] = set()
        self._over = threading.Event()
        run.inbox.when_stopped.append(self._over.set)

    def reach(self) -> None:
        """Return when all have agreed and were told to begin; raise the first reason against it."""
        self._ask_all(self._invite)
        self._run.inbox.check()
        self._run.move(State.RUNNING)
        self._ask_all(self._begin)
        self._run.inbox.check()

    def _ask_all(self, ask: Callable[[PeerClient], None]) -> None:
        clients = self._link.clients.values()
        pool = ThreadPoolExecutor(max_workers=len(clients))
        try:
            done, _ = wait([pool.submit(ask, client) for client in clients], return_when=FIRST_EXCEPTION)
            for future in done:
                future.result()
        finally:
            self._over.set()
            pool.shutdown(wait=False)

    def _begin(self, client: PeerClient) -> None:
        try:
            self._link.note(client.begin(seconds=ASK_SECONDS), client.peer)
        except OSError:
            self._run.lose(client.peer)

    def _invite(self, client: PeerClient) -> None:
        patience = self._run.terms.patience
        began = reached = heard = time.monotonic()
        said, pause = "", min(SOON_SECONDS, patience.beat)
        was_there, refused = False, 0
        while not self._over.is_set():
            rest = heard + patience.silent - time.monotonic()
            try:
                answer = client.invite(seconds=min(SILENT_SECONDS, max(rest, patience.beat / 10)))
            except OSError as error:
                said = self._say(said, f"{client.peer} cannot be reached yet")
                now = time.monotonic()
                refused = refused + 1 if isinstance(error, ConnectionRefusedError) else 0
                heard = heard if was_there or isinstance(error, Silence) else now
                if now - heard >= patience.silent or (was_there and refused >= REFUSALS):
                    self._run.lose(client.peer)
                    self._run.inbox.check()
                self._refuse_unreachable(client.peer, error, seconds=now - reached)
            else:
                reached = heard = time.monotonic()
                was_there, refused = was_there or answer.state in (State.ASKED, State.AGREED), 0
                if answer.code == NOT_WAITING and reached - began < min(GRACE_SECONDS, patience.reach):
                    said = self._say(said, f"{client.peer} does not wait for runs yet")
                else:
                    said = self._say(said, self._note(client.peer, answer))
            if time.monotonic() - began > patience.agree:
                raise ProtocolError(
                    f"not everybody has agreed to the run within {patience.agree:.0f} seconds: "
                    f"{', '.join(peer for peer in self._link.clients if peer not in self._agreed)}",
                    code="party-agreement",
                )
            self._over.wait(pause)
            pause = min(2 * pause, patience.beat)

    def _note(self, peer: str, answer: Answer) -> str:
        """Take note of an answer and return what to say about it; raise if the run cannot begin."""
        if answer.state is State.AGREED:
            self._agreed.add(peer)
            if len(self._agreed) == len(self._link.clients):
                self._over.set()
            return f"{peer} agrees"
        if answer.state is State.STOPPED and answer.stop is not None:
            self._run.stop(answer.stop, sender=peer)
            self._run.inbox.check()
        if answer.state is not State.ASKED:
            raise _refusal(peer, answer.code)
        return f"{peer} is asked"

    def _say(self, said: str, text: str) -> str:
        if text != said:
            self._tell(text)
        return text

    def _refuse_unreachable(self, peer: str, error: OSError, *, seconds: float) -> None:
        contact = self._run.terms.contacts[peer]
        refused = certificate_error(peer, self._run.terms, error)
        if isinstance(error, CertificateRefused) and seconds < min(GRACE_SECONDS, self._run.terms.patience.reach):
            return
        if refused is not None:
            raise refused
        if seconds > self._run.terms.patience.reach:
            raise ProtocolError(
                f"{peer} cannot be reached at {contact.address}: its program does not wait for runs there, or a "
                "firewall is between you",
                code="party-unreachable",
            )


def _refusal(peer: str, code: str) -> ProtocolError:
    if code == OTHER_STUDY:
        return ProtocolError(
            f"{peer} has another version of the study: its study file, plan or hierarchies differ from yours",
            code="party-study",
        )
    if code == BUSY:
        return ProtocolError(
            f"{peer} takes part in another run, or starts one itself; only one party starts a run", code="party-busy"
        )
    if code == NOT_WAITING:
        return ProtocolError(
            f"{peer} does not wait for runs: its last run has ended, and it has not been told to wait for another one",
            code="party-not-waiting",
        )
    return ProtocolError(f"{peer} refuses to take part in the run", code="party-refused")
