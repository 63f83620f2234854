"""A party on the network: waits for the others at its port, starts runs and takes part in those of others."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from kohorte.errors import InputError
from kohorte.parties.transport.attention import Attention
from kohorte.parties.transport.channel import RunChannel, code_of
from kohorte.parties.transport.folder import PartyFolder
from kohorte.parties.transport.https.agreement import Agreement
from kohorte.parties.transport.https.answers import State
from kohorte.parties.transport.https.desk import Desk
from kohorte.parties.transport.https.handler import Handler
from kohorte.parties.transport.https.link import HttpsLink
from kohorte.parties.transport.https.port import Port
from kohorte.parties.transport.https.run import Run
from kohorte.parties.transport.https.terms import Invitation, RunTerms
from kohorte.parties.transport.https.tls import tls_context
from kohorte.parties.transport.inbox import FAILED, Stop
from kohorte.parties.transport.messages import MessageLog, Recording


class PartyServer:
    """The open port of a party, for one run after another.

    `address` is where to listen, such as 0.0.0.0:8441, or :8441 for all addresses of this machine. `tell` gets
    sentences for the person who operates this party, from several threads. With `interrupts`, a run that ends while
    the main thread computes raises its error there within seconds, instead of at the next message.
    """

    def __init__(
        self,
        folder: PartyFolder,
        address: str,
        *,
        tell: Callable[[str], None] = lambda _: None,
        interrupts: bool = False,
    ) -> None:
        self.folder = folder
        self._tell = tell
        self._interrupts = interrupts
        self._context = tls_context(folder)
        self._desk = Desk(tell)
        self._channel: RunChannel | None = None
        self._port = Port(address, self._context, self._desk.accepts, lambda stream: Handler(stream, self._desk))

    @property
    def address(self) -> str:
        """The address that this party listens on."""
        return self._port.address

    def close(self) -> None:
        """Close the port; a run that is going on is stopped at all parties."""
        self._stop(FAILED)
        self._desk.close()
        self._port.close()

    def _stop(self, code: str) -> None:
        if self._channel is not None:
            self._channel.stop(code)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._stop(code_of(error))
        self.close()

    def start_run(self, terms: RunTerms) -> RunChannel:
        """Invite all others to a run, wait until they have agreed, and return the channel to them.

        Raises ProtocolError if one cannot be reached, shows another certificate, has another version of the study, or
        refuses; the others are told then.
        """
        self._check_own(terms)
        run = Run(secrets.token_hex(16), terms, starter=terms.name)
        self._desk.take(run)
        link = HttpsLink(run, self._context)
        channel = self._channel = self._channel_of(run, link)
        try:
            Agreement(run, link, self._tell).reach()
        except BaseException as error:
            channel.stop(code_of(error))
            raise
        return self._begun(channel, link)

    def wait_for_run(self, offers: Sequence[RunTerms], decide: Callable[[Invitation], bool]) -> RunChannel:
        """Wait until another party starts a run of one of these studies, and return the channel to the others.

        `decide` is asked about each invitation, in this thread; False refuses it. Only parties of these studies can
        connect. If a run is called off before it begins, this party goes on waiting.
        """
        for terms in offers:
            self._check_own(terms)
        with self._desk.offering(offers):
            while True:
                run = self._desk.next_invitation()
                if self._agrees(run, decide):
                    channel = self._joined(run)
                    if channel is not None:
                        return channel

    def _agrees(self, run: Run, decide: Callable[[Invitation], bool]) -> bool:
        try:
            agrees = decide(Invitation(run.starter, run.number, run.terms))
        except BaseException as error:
            stop = Stop(run.terms.name, code_of(error), run.inbox.phase)
            run.inbox.stop(stop)  # a question of the starter that comes first gets the same answer
            HttpsLink(run, self._context).tell_stop(run.starter, stop)
            raise
        run.move(State.AGREED if agrees else State.REFUSED)
        return agrees

    def _joined(self, run: Run) -> RunChannel | None:
        """Return the channel when the run begins; None if it was called off."""
        link = HttpsLink(run, self._context)
        channel = self._channel = self._channel_of(run, link)
        try:
            begun = run.wait_until_begun(lambda: link.has_ended(run.starter))
        except BaseException as error:
            channel.stop(code_of(error))
            raise
        if begun:
            return self._begun(channel, link)
        run.lose(run.starter)
        channel.close()
        self._tell(f"the run was called off before it began: {run.inbox.reason}")
        return None

    def _begun(self, channel: RunChannel, link: HttpsLink) -> RunChannel:
        link.watch()
        channel.begin()
        return channel

    def _channel_of(self, run: Run, link: HttpsLink) -> RunChannel:
        recording = None if run.terms.record is None else Recording(run.terms.record)
        return RunChannel(
            run.inbox,
            link,
            MessageLog(recording),
            name=run.terms.name,
            peers=run.terms.peers,
            wait=run.terms.patience.message,
            attention=Attention(active=self._interrupts),
        )

    def _check_own(self, terms: RunTerms) -> None:
        if terms.name != self.folder.name:
            raise InputError(
                f"the folder belongs to {self.folder.name!r}, but the run was asked for {terms.name!r}",
                code="party-terms",
            )
        if terms.contacts[terms.name].fingerprint != self.folder.fingerprint:
            raise InputError(
                f"the study file states another certificate for {terms.name} than the one in its folder; "
                f"its fingerprint is {self.folder.fingerprint}",
                code="party-own-certificate",
            )
