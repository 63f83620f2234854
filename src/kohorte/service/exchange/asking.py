"""What users of the service ask other institutions, and the answers that come back; and the address book."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kohorte.errors import AccessDenied
from kohorte.exchange.peers.address_book import AddressBook
from kohorte.exchange.peers.answers import ReceivedAnswers
from kohorte.exchange.peers.identity import Identity
from kohorte.exchange.peers.parcels import Kind
from kohorte.exchange.peers.sending import SIGNED, all_sent, deliver, request_to
from kohorte.exchange.request import Request
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.integrity.marks import USER, USERS
from kohorte.service.parts import Part
from kohorte.service.permissions import Permission
from kohorte.service.storage.schema import users
from kohorte.service.trust.folders import name_of, note, opened
from kohorte.trust.folder import TrustFolder


def identity(service: Service) -> dict[str, str]:
    """Name, fingerprint and certificate of this house."""
    with opened(service, Part.EXCHANGE) as folder:
        return Identity.of(folder).to_dict()


def peers(service: Service) -> list[dict[str, Any]]:
    """The address book."""
    with opened(service, Part.EXCHANGE) as folder:
        return [peer.to_dict() for peer in AddressBook(folder).all()]


def add_peer(service: Service, actor: Actor, given: Mapping[str, Any]) -> dict[str, Any]:
    """Add an institution to the address book."""
    with opened(service, Part.EXCHANGE) as folder:
        peer = AddressBook(folder).add(
            given["institution"],
            given["address"],
            given["certificate"],
            fingerprint=given["fingerprint"],
            contacts=given["contacts"],
            actor=name_of(actor),
        )
    note(service, actor, "add-peer", f"peer {peer.fingerprint[-16:]}")
    return peer.to_dict()


def remove_peer(service: Service, actor: Actor, name: str) -> None:
    """Remove an institution from the address book."""
    with opened(service, Part.EXCHANGE) as folder:
        peer = AddressBook(folder).remove(name, actor=name_of(actor))
    note(service, actor, "remove-peer", f"peer {peer.fingerprint[-16:]}")


def send(service: Service, actor: Actor, to: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Send a request; the person who asks is the one who is signed in."""
    with service.database.reading() as connection:
        row = connection.execute(USERS.where(users.c.id == actor.user_id)).one()
        service.guard.checked(connection, USER, row)
    with opened(service, Part.EXCHANGE) as folder:
        person = {"name": row.name, "institution": Identity.of(folder).name, "contact": row.email_address}
        request = Request.from_dict({"kohorte": 1, "requester": person, **asked})
        item = request_to(folder, request, to, today=datetime.now(UTC).date(), actor=name_of(actor))
        sent = deliver(folder, item, actor=name_of(actor))
    note(service, actor, "send-request", f"request {sent.number}")
    return {"number": sent.number, "to": sent.to, "state": str(sent.state), "code": sent.reason}


def sent(service: Service, actor: Actor) -> list[dict[str, Any]]:
    """The requests that the actor has sent, or all."""
    with opened(service, Part.EXCHANGE) as folder:
        own = _own(folder, actor)
        found = [one for one in all_sent(folder, (Kind.REQUEST,)) if one.number in own]
    return [{"number": one.number, "to": one.to, "state": str(one.state), "code": one.reason} for one in found]


def answers(service: Service, actor: Actor) -> list[dict[str, Any]]:
    """The answers to requests that the actor has sent, or all; each is verified."""
    with opened(service, Part.EXCHANGE) as folder:
        own, received = _own(folder, actor), ReceivedAnswers(folder).at_once()
        return [received.verified(number).to_dict() for number in received.numbers() if number in own]


def answer_file(service: Service, actor: Actor, number: str, name: str) -> Path:
    """A file of a verified answer."""
    with opened(service, Part.EXCHANGE) as folder:
        received = ReceivedAnswers(folder)
        if number not in received.numbers() or number not in _own(folder, actor):
            raise AccessDenied("there is no such answer", code="not-found")
        found = {path.name: path for path in received.verified(number).files}
    if name not in found:
        raise AccessDenied("there is no such file", code="not-found")
    note(service, actor, "read-answer", f"request {number}")
    return found[name]


def _own(folder: TrustFolder, actor: Actor) -> set[str]:
    """The numbers of the requests that the actor may see: stewards see all, others those that they signed."""
    entries = (entry for entry in folder.log.verified_entries() if entry["action"] == SIGNED)
    everything = actor.may(Permission.MANAGE_REQUESTS)
    return {entry["about"].split()[1] for entry in entries if everything or entry["actor"] == name_of(actor)}
