"""The link of a run over HTTPS: messages to the others, and a watch over their signs of life."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping

from OpenSSL import SSL

from kohorte.errors import ProtocolError
from kohorte.parties.transport.https.answers import Answer, State
from kohorte.parties.transport.https.client import PeerClient
from kohorte.parties.transport.https.run import Run
from kohorte.parties.transport.https.terms import RunTerms
from kohorte.parties.transport.https.tls import CertificateRefused, WrongCertificate
from kohorte.parties.transport.inbox import Stop, in_phase

TELL_SECONDS = 2.0
TELL_ATTEMPTS = 3
ANSWER_SECONDS = 3.0
REFUSALS = 3
"""After so many refused connections in a row a party is lost: nothing listens at its address any more."""


class HttpsLink:
    """Brings the messages of one party to the others and watches whether they are alive."""

    def __init__(self, run: Run, context: SSL.Context) -> None:
        self._run = run
        self._closed = threading.Event()
        terms = run.terms
        self.clients: Mapping[str, PeerClient] = {
            peer: PeerClient(terms.contacts[peer], context, peer=peer, study=terms.study, number=run.number)
            for peer in terms.peers
        }
        run.inbox.when_stopped.append(self._abort)

    def watch(self) -> None:
        """Begin to ask the others for signs of life."""
        for client in self.clients.values():
            name = f"kohorte-watch-{self._run.terms.name}-{client.peer}"
            threading.Thread(target=self._watch, args=(client,), name=name, daemon=True).start()

    def deliver(self, to: str, kind: str, payload: bytes) -> int:
        """Send a message; if the other party does not take it, the run ends."""
        try:
            answer, size = self.clients[to].message(kind, payload)
        except OSError as error:
            self._run.inbox.check()  # the run ended meanwhile, and the message was given up
            self._end_without_answer(to, kind, error)
        else:
            if answer.is_good and answer.state is not State.FINISHED:
                return size
            self._end_after(answer, to, kind)
        self._run.inbox.check()
        raise AssertionError("the run has ended")

    def tell_stop(self, to: str, stop: Stop) -> None:
        """Tell a party that the run has ended early; it also learns it from the next sign of life."""
        self._tell(to, lambda client: client.stop(stop, seconds=TELL_SECONDS), attempts=1)

    def tell_done(self, to: str) -> None:
        """Tell a party that this one has done its part; otherwise it would be missed."""
        self._tell(to, lambda client: client.done(seconds=TELL_SECONDS), attempts=TELL_ATTEMPTS)

    def has_ended(self, peer: str) -> bool:
        """Whether nothing listens at the address of a party any more, several times in a row."""
        for _ in range(REFUSALS):
            try:
                self.clients[peer].ping(seconds=ANSWER_SECONDS, kept=False)
            except ConnectionRefusedError:
                self._closed.wait(self._run.terms.patience.beat / 2)
            except OSError:
                return False
            else:
                return False
        return True

    def close(self) -> None:
        """End the watch and close the connections."""
        self._closed.set()
        if self._run.inbox.stopped is None:
            self._run.move(State.FINISHED)
        for client in self.clients.values():
            client.close()

    def _tell(self, to: str, say: Callable[[PeerClient], Answer], *, attempts: int) -> None:
        for _ in range(attempts):
            if to in self._run.inbox.finished:
                return
            with contextlib.suppress(OSError, ProtocolError):
                say(self.clients[to])
                return

    def _abort(self) -> None:
        for client in self.clients.values():
            client.abort()

    # The end of a run

    def _end_without_answer(self, to: str, kind: str, error: OSError) -> None:
        """Find out why a message did not arrive, and end the run."""
        refused = certificate_error(to, self._run.terms, error)
        if refused is not None:
            self._run.inbox.fail(refused)
            return
        try:
            answer = self.clients[to].ping(seconds=ANSWER_SECONDS, kept=False)
        except OSError:
            answer = Answer(State.FINISHED if to in self._run.inbox.finished else State.UNKNOWN)
        self._end_after(answer, to, kind)

    def _end_after(self, answer: Answer, peer: str, kind: str) -> None:
        """End the run because of the answer to a message."""
        if not self.note(answer, peer):
            return
        self._run.inbox.fail(
            ProtocolError(
                f"the connection to {peer} broke while {kind!r} was sent{in_phase(self._run.inbox.phase)}, although "
                f"{peer} is there",
                code="party-connection",
            )
            if answer.state is not State.FINISHED
            else ProtocolError(
                f"{peer} had ended its part of the run when {kind!r} was sent{in_phase(self._run.inbox.phase)}",
                code="party-finished",
            )
        )

    def note(self, answer: Answer, peer: str) -> bool:
        """End the run if the answer says that it has ended at the other party; False if so."""
        if answer.state is State.STOPPED and answer.stop is not None:
            self._run.stop(answer.stop, sender=peer)
        elif answer.state in (State.RUNNING, State.AGREED, State.ASKED, State.FINISHED):
            return True
        else:
            self._run.lose(peer)
        return False

    # Signs of life

    def _watch(self, client: PeerClient) -> None:
        try:
            self._ask_until_silent(client)
        except ProtocolError as error:
            self._run.inbox.fail(error)
        finally:
            client.close_pings()

    def _ask_until_silent(self, client: PeerClient) -> None:
        patience = self._run.terms.patience
        heard = time.monotonic()
        refused = 0
        while not self._closed.wait(patience.beat) and self._is_needed(client.peer):
            rest = heard + patience.silent - time.monotonic()
            try:
                answer = client.ping(seconds=min(ANSWER_SECONDS, max(rest, patience.beat / 10)), kept=True)
            except OSError as error:
                refused = refused + 1 if isinstance(error, ConnectionRefusedError) else 0
                if refused >= REFUSALS or time.monotonic() - heard >= patience.silent:
                    break
            else:
                heard, refused = time.monotonic(), 0
                if not self.note(answer, client.peer):
                    return
                if answer.state is State.FINISHED:
                    self._run.inbox.finish(client.peer)
        if not self._closed.is_set() and self._is_needed(client.peer):
            self._run.lose(client.peer)

    def _is_needed(self, peer: str) -> bool:
        return self._run.inbox.stopped is None and peer not in self._run.inbox.finished


def certificate_error(peer: str, terms: RunTerms, error: OSError) -> ProtocolError | None:
    """Return the error about certificates if this is why a connection failed."""
    contact = terms.contacts[peer]
    if isinstance(error, WrongCertificate) and error.args[0] == contact.fingerprint:
        return ProtocolError(
            f"the certificate of {peer} is not valid today; check the clocks of both machines", code="party-certificate"
        )
    if isinstance(error, WrongCertificate) and (member := terms.member_with(error.args[0])) is not None:
        whom = "this party itself" if member == terms.name else member
        return ProtocolError(
            f"the address of {peer} in the study file, {contact.address}, leads to {whom}; correct the study file and "
            "send it to all",
            code="party-certificate",
        )
    if isinstance(error, WrongCertificate):
        return ProtocolError(
            f"{peer} at {contact.address} shows another certificate than the study file states: {error.args[0]} "
            f"instead of {contact.fingerprint}; ask {peer} for its fingerprint on the telephone",
            code="party-certificate",
        )
    if isinstance(error, CertificateRefused):
        return ProtocolError(
            f"{peer} does not accept the certificate of this party: it does not wait for a run of this study, or its "
            "study file states another fingerprint",
            code="party-certificate-refused",
        )
    return None
