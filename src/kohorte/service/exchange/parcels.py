"""What other institutions send to this service, and what waits to be sent to them."""

from __future__ import annotations

import logging
import threading

from kohorte.errors import KohorteError
from kohorte.exchange.peers.address_book import AddressBook
from kohorte.exchange.peers.incoming import Arriving, Receipt
from kohorte.exchange.peers.sending import deliver_all
from kohorte.service.context import Service
from kohorte.service.parts import Part
from kohorte.service.settings import Settings
from kohorte.service.trust.folders import opened
from kohorte.trust.folder import TrustFolder

LOOK_SECONDS = 5.0
END_SECONDS = 1.0
_log = logging.getLogger("kohorte.service")


def arriving(service: Service, shown: str | None) -> Arriving:
    """Begin to receive a parcel; `shown` is the fingerprint of the certificate that the connection has proved."""
    with opened(service, Part.EXCHANGE) as folder:
        proved = None if shown is None else f"sha256:{shown}"
        return Arriving(folder, proved, most=service.settings.upload_limit)


def keep(service: Service, parcel: Arriving) -> Receipt:
    """Keep a parcel that has come, and note it in the audit log."""
    with opened(service, Part.EXCHANGE):
        receipt = parcel.finish()
    with service.database.writing() as connection:
        service.log.append(connection, "receive-parcel", f"{receipt.kind} {receipt.number}", actor=None)
    return receipt


def pinned(settings: Settings) -> str:
    """The certificates of all peers in the address book, as PEM text."""
    return AddressBook(TrustFolder.opened(settings.trust_folder(Part.EXCHANGE))).pinned()


class Deliveries:
    """A thread that sends what waits in the outbox whenever it is due; several processes may run one each."""

    def __init__(self, settings: Settings) -> None:
        self._folder = settings.trust_folder(Part.EXCHANGE)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="kohorte-deliveries", daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def stop(self) -> None:
        """Begin nothing new; what is being sent now is sent again if it was not confirmed."""
        self._ended.set()
        self._thread.join(END_SECONDS)

    def _run(self) -> None:
        while not self._ended.wait(LOOK_SECONDS):
            try:
                deliver_all(TrustFolder.opened(self._folder), only_due=True, actor="service")
            except KohorteError as error:
                _log.warning("the outbox could not be sent: %s", error.code)
