"""The address book of a house: the institutions with which it exchanges requests and answers.

peers/book.json           names, addresses, fingerprints and contact persons
peers/FINGERPRINT.pem     the pinned certificate of each
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from kohorte.data.files import atomic_write, read_text
from kohorte.errors import AccessDenied, InputError, nearest
from kohorte.exchange.peers.identity import Identity
from kohorte.exchange.request.names import checked_institution, same_name
from kohorte.parties.transport.certificates import FINGERPRINT, fingerprint
from kohorte.trust.folder import TrustFolder
from kohorte.trust.log import account
from kohorte.trust.private_files import locked

FOLDER, BOOK = "peers", "book.json"
FORMAT = 1
MOST_CONTACTS, LONGEST_CONTACT = 20, 200
LONGEST_CERTIFICATE = 20_000


@dataclass(frozen=True)
class Peer:
    """Another institution: where it is, by which certificate it is known, and whom to ask there."""

    name: str
    address: str
    fingerprint: str
    contacts: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The entry as plain data."""
        return {
            "institution": self.name,
            "address": self.address,
            "fingerprint": self.fingerprint,
            "contacts": list(self.contacts),
        }


class AddressBook:
    """The peers of one house; changes are entries of its log."""

    def __init__(self, folder: TrustFolder) -> None:
        self._folder = folder
        self.path = folder.path / FOLDER

    def all(self) -> list[Peer]:
        """All peers, by name."""
        return sorted(self._read(), key=lambda peer: peer.name)

    def named(self, name: str) -> Peer:
        """The peer with this name, in any spelling."""
        for peer in self._read():
            if same_name(peer.name, name):
                return peer
        raise InputError(
            f"no institution of this name is in the address book{nearest(name, [one.name for one in self._read()])}",
            code="exchange-peer-unknown",
        )

    def with_fingerprint(self, shown: str | None) -> Peer:
        """The peer that proved to have a certificate; anybody else is refused."""
        for peer in self._read():
            if peer.fingerprint == shown:
                return peer
        raise AccessDenied(
            "the certificate of the connection is not in the address book of this house", code="exchange-peer-unknown"
        )

    def certificate_file(self, peer: Peer) -> Path:
        """The pinned certificate of a peer."""
        return self.path / f"{peer.fingerprint.removeprefix('sha256:')}.pem"

    def certificate(self, peer: Peer) -> str:
        """The pinned certificate as PEM text; a file that was replaced is refused."""
        text = read_text(self.certificate_file(peer), what="certificate", code="exchange-peer-certificate")
        if _fingerprint_of(text) != peer.fingerprint:
            raise InputError(
                "a certificate in the address book was replaced; remove the institution and add it again",
                code="exchange-peer-certificate",
            )
        return text

    def add(
        self,
        name: str,
        address: str,
        certificate: str,
        *,
        fingerprint: str,
        contacts: Sequence[str] = (),
        actor: str | None = None,
    ) -> Peer:
        """Add an institution; the fingerprint comes by another way than the certificate, such as the telephone."""
        peer = _checked(name, address, fingerprint, contacts)
        if len(certificate) > LONGEST_CERTIFICATE or _fingerprint_of(certificate) != peer.fingerprint:
            raise InputError(
                "the certificate does not have this fingerprint; ask the institution again, by telephone",
                code="exchange-peer-certificate",
            )
        own = Identity.of(self._folder)
        if same_name(own.name, peer.name) or own.fingerprint == peer.fingerprint:
            raise InputError("this is the name or the certificate of this house itself", code="exchange-peer-exists")
        with locked(self._folder.path):
            self.path.mkdir(mode=0o700, exist_ok=True)
            others = self._read()
            if any(same_name(one.name, peer.name) or one.fingerprint == peer.fingerprint for one in others):
                raise InputError(
                    "an institution with this name or this certificate is in the address book already; remove it first",
                    code="exchange-peer-exists",
                )
            with atomic_write(self.certificate_file(peer), force=True, private=True) as temporary:
                temporary.write_text(certificate, encoding="ascii")
            self._write([*others, peer])
        self._log("add peer", peer, actor)
        return peer

    def remove(self, name: str, *, actor: str | None = None) -> Peer:
        """Remove an institution; what was exchanged with it stays."""
        peer = self.named(name)
        with locked(self._folder.path):
            self._write([one for one in self._read() if one.fingerprint != peer.fingerprint])
            self.certificate_file(peer).unlink(missing_ok=True)
        self._log("remove peer", peer, actor)
        return peer

    def pinned(self) -> str:
        """The certificates of all peers, one after the other, as PEM text."""
        return "".join(self.certificate(peer) for peer in self._read())

    def _log(self, action: str, peer: Peer, actor: str | None) -> None:
        self._folder.log.append(action, f"peer {peer.name}", actor=actor or account(), fingerprint=peer.fingerprint)

    def _read(self) -> list[Peer]:
        file = self.path / BOOK
        if not file.exists():
            return []
        try:
            entries = json.loads(read_text(file, what="address book", code="exchange-peer-book"))["peers"]
            return [
                _checked(one["institution"], one["address"], one["fingerprint"], one["contacts"]) for one in entries
            ]
        except (ValueError, KeyError, TypeError):
            raise InputError(f"{BOOK}: the address book cannot be read", code="exchange-peer-book") from None

    def _write(self, peers: Sequence[Peer]) -> None:
        data: Mapping[str, Any] = {"kohorte": FORMAT, "peers": [peer.to_dict() for peer in peers]}
        with atomic_write(self.path / BOOK, force=True, private=True) as temporary:
            temporary.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _checked(name: object, address: object, fingerprint: object, contacts: Sequence[object]) -> Peer:
    if not isinstance(fingerprint, str) or not FINGERPRINT.fullmatch(fingerprint):
        raise InputError("a fingerprint is sha256: and 64 digits of 0-9 and a-f", code="exchange-peer-value")
    if not isinstance(address, str) or not _is_address(address):
        raise InputError("the address of an institution is https://HOST:PORT", code="exchange-peer-value")
    for contact in contacts:
        if not isinstance(contact, str) or not contact.strip() or not contact.isprintable():
            raise InputError("a contact person is one line of text", code="exchange-peer-value")
    if len(contacts) > MOST_CONTACTS or any(len(str(one)) > LONGEST_CONTACT for one in contacts):
        raise InputError(
            f"there are at most {MOST_CONTACTS} contact persons, each with at most {LONGEST_CONTACT} characters",
            code="exchange-peer-value",
        )
    return Peer(checked_institution(name), address, fingerprint, tuple(map(str, contacts)))


def _is_address(address: str) -> bool:
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return False
    plain = not (parts.path.strip("/") or parts.query or parts.fragment or parts.username or parts.password)
    return parts.scheme == "https" and bool(parts.hostname) and plain and port != 0


def _fingerprint_of(certificate: str) -> str:
    try:
        found = x509.load_pem_x509_certificates(certificate.encode())
    except ValueError:
        found = []
    if len(found) != 1:
        raise InputError("the certificate is not one certificate in PEM", code="exchange-peer-certificate")
    return fingerprint(found[0].public_bytes(Encoding.DER))
