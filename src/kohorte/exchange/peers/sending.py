"""Send requests and answers to other institutions: once each, tried again until they have arrived."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date

from kohorte.disclosures.ledger import Ledger
from kohorte.errors import AccessDenied, EngineError, InputError, KohorteError
from kohorte.exchange.deciding.answers import answer
from kohorte.exchange.deciding.folder import Origin, RequestFolder
from kohorte.exchange.peers.address_book import AddressBook, Peer
from kohorte.exchange.peers.identity import Identity
from kohorte.exchange.peers.outbox import Item, Outbox, State, now
from kohorte.exchange.peers.parcels import Kind, SignedParcel
from kohorte.exchange.request import Request
from kohorte.exchange.request.names import same_name
from kohorte.trust.folder import TrustFolder
from kohorte.trust.log import account
from kohorte.trust.remote import HouseRefused, OtherHouse

DOOR = "/exchange/parcels"
SECONDS = 60.0
SIGNED, SENT, NOT_SENT = "sign request", "send parcel", "parcel refused by the other house"
FINAL = ("exchange-", "body-too-large")
"""How the codes begin with which the other house says that it will never accept a parcel."""
NOT_YET = ("exchange-peer-unknown", "exchange-identity")
"""It does not know this house yet, or has no certificate: people there can change that."""


@dataclass(frozen=True)
class Sent:
    """A parcel, and how far it is after an attempt."""

    number: str
    kind: Kind
    to: str
    state: State
    reason: str = ""


def request_to(folder: TrustFolder, request: Request, to: str, *, today: date, actor: str | None = None) -> Item:
    """Sign a request and put it into the outbox; the request names this house as the institution that asks."""
    own, peer = Identity.of(folder), AddressBook(folder).named(to)
    request.refuse_expired(today)
    if not same_name(request.requester.institution, own.name):
        raise InputError(
            "the request names another institution than this house; a house asks in its own name",
            code="exchange-request-institution",
        )
    signed = SignedParcel.made(own, peer, Kind.REQUEST, {"request": request.to_dict()})
    item = Outbox(folder).new(Kind.REQUEST, signed.parcel.number)
    item.complete(signed)
    _log(folder, SIGNED, item, actor, sha256=request.fingerprint())
    return item


def answer_to_peer(
    folder: RequestFolder, number: int, ledger: Ledger, *, today: date, actor: str | None = None
) -> Item:
    """Make the answer to a request of a peer, as the people decided, and put it into the outbox.

    What a killed process left is completed by the next one.
    """
    origin = folder.origin(number)
    if origin is None:
        raise InputError(f"request {number} came as a file; write its answer to a folder", code="exchange-answer-where")
    with folder.held(number):
        return _answered(folder, number, origin, ledger, today=today, actor=actor)


def _answered(
    folder: RequestFolder, number: int, origin: Origin, ledger: Ledger, *, today: date, actor: str | None
) -> Item:
    own, peer = Identity.of(folder.trust), AddressBook(folder.trust).with_fingerprint(origin.sender)
    outbox = Outbox(folder.trust)
    item = outbox.item(Kind.ANSWER, origin.parcel)
    if not folder.was_answered(number):
        item = outbox.new(Kind.ANSWER, origin.parcel)
        try:
            answer(folder, number, item.files, ledger, today=today, actor=actor)
        except KohorteError:
            item.discard()
            raise
    elif item.is_complete or not item.files.is_dir():
        raise InputError(f"request {number} has been answered already", code="exchange-answered")
    content = {"request": folder.request(number).fingerprint()}
    files = sorted(item.files.iterdir())
    signed = SignedParcel.made(own, peer, Kind.ANSWER, content, files, number=origin.parcel)
    item.complete(signed)
    _log(folder.trust, "sign answer", item, actor, sha256=signed.parcel.sha256)
    return item


def deliver(folder: TrustFolder, item: Item, *, actor: str | None = None) -> Sent:
    """Try to deliver a parcel; one that has arrived is never sent again, and one that was refused neither."""
    with item.held() as mine:
        parcel, standing = item.parcel, item.standing
        if not mine or standing.state is not State.WAITING:
            return _sent(item, _names(folder))
        own, book = Identity.of(folder), AddressBook(folder)
        try:
            peer = book.with_fingerprint(parcel.recipient)
            _handed_over(own, book, peer, item)
        except HouseRefused as refusal:
            if refusal.reason.startswith(FINAL) and refusal.reason not in NOT_YET:
                item.note(replace(standing, state=State.REFUSED, attempts=standing.attempts + 1, reason=refusal.reason))
                _log(folder, NOT_SENT, item, actor, reason=refusal.reason)
            else:
                item.note(standing.failed(refusal.reason, now()))
        except (EngineError, AccessDenied) as problem:
            item.note(standing.failed(problem.code, now()))
        else:
            item.note(replace(standing, state=State.DELIVERED, attempts=standing.attempts + 1, reason="", next_at=""))
            _log(folder, SENT, item, actor, sha256=parcel.sha256)
        return _sent(item, _names(folder))


def deliver_all(folder: TrustFolder, *, only_due: bool = False, actor: str | None = None) -> list[Sent]:
    """Try every parcel that waits, or those whose pause is over."""
    moment = now()
    waiting = (item for item in Outbox(folder).all() if item.standing.state is State.WAITING)
    return [deliver(folder, item, actor=actor) for item in waiting if not only_due or item.standing.is_due(moment)]


def all_sent(folder: TrustFolder, kinds: Iterable[Kind] = tuple(Kind)) -> list[Sent]:
    """Every parcel that this house has sent or sends, the oldest first."""
    names = _names(folder)
    return [_sent(item, names) for item in Outbox(folder).all() if item.parcel.kind in kinds]


def _handed_over(own: Identity, book: AddressBook, peer: Peer, item: Item) -> None:
    signed = item.signed
    book.certificate(peer)  # refuses a file that was replaced
    house = OtherHouse(peer.address, own.certificate_file, own.key_file, book.certificate_file(peer), SECONDS)
    told = house.send(DOOR, signed.pieces(item.files), len(signed.header) + signed.parcel.size)
    if not isinstance(told, dict) or told.get("sha256") != signed.parcel.sha256:
        raise EngineError("the other house did not confirm what it got", code="exchange-unconfirmed")


def _names(folder: TrustFolder) -> dict[str, str]:
    return {peer.fingerprint: peer.name for peer in AddressBook(folder).all()}


def _sent(item: Item, names: Mapping[str, str]) -> Sent:
    parcel, standing = item.parcel, item.standing
    return Sent(
        parcel.number, parcel.kind, names.get(parcel.recipient, parcel.recipient), standing.state, standing.reason
    )


def _log(folder: TrustFolder, action: str, item: Item, actor: str | None, **details: str) -> None:
    folder.log.append(action, f"{item.parcel.kind} {item.parcel.number}", actor=actor or account(), **details)
