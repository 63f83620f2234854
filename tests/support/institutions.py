"""Institutions that exchange requests and answers, each with a folder of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kohorte.exchange.deciding.folder import RequestFolder
from kohorte.exchange.peers.address_book import AddressBook
from kohorte.exchange.peers.identity import Identity
from kohorte.exchange.peers.incoming import Arriving, Receipt
from kohorte.exchange.peers.outbox import Item
from kohorte.trust.folder import TrustFolder


@dataclass(frozen=True)
class Institution:
    """A house with an identity and an address book."""

    folder: TrustFolder
    address: str = "https://127.0.0.1:9"  # nobody listens there

    @classmethod
    def at(cls, path: Path, name: str, address: str = "https://127.0.0.1:9") -> Institution:
        folder = TrustFolder.opened(path, create=True)
        Identity.create(folder, name)
        return cls(folder, address)

    @property
    def own(self) -> Identity:
        return Identity.of(self.folder)

    @property
    def book(self) -> AddressBook:
        return AddressBook(self.folder)

    @property
    def requests(self) -> RequestFolder:
        return RequestFolder(self.folder)

    def knows(self, other: Institution, *, name: str | None = None) -> None:
        """Put another one into the address book."""
        own = other.own
        self.book.add(name or own.name, other.address, own.certificate, fingerprint=own.fingerprint)

    def takes(self, item: Item, *, shown: str, step: int = 1000, most: int = 1 << 20) -> Receipt:
        """Receive a parcel as the door does, from a connection with a certificate."""
        return self.takes_bytes(b"".join(item.signed.pieces(item.files)), shown=shown, step=step, most=most)

    def takes_bytes(self, sent: bytes, *, shown: str | None, step: int = 1000, most: int = 1 << 20) -> Receipt:
        arriving = Arriving(self.folder, shown, most=most)
        try:
            for start in range(0, len(sent), step):
                arriving.write(sent[start : start + step])
            return arriving.finish()
        finally:
            arriving.abandon()

    def actions(self) -> list[str]:
        """What the log says, in its order."""
        return [entry["action"] for entry in self.folder.log.verified_entries()]


def acquainted(*houses: Institution) -> None:
    """Let all know each other."""
    for one in houses:
        for other in houses:
            if one is not other:
                one.knows(other)
