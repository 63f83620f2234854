"""What a check knows: the statistics of the world, and the institutions of the address book."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from starlette.responses import Response

from kohorte.errors import InputError, KohorteError
from kohorte.service.exchange import asking, statistics
from kohorte.service.web.models.exchange import GivenPeer, PeerName
from kohorte.service.web.screens.refusing import body_of, told_in_place
from kohorte.service.web.screens.visitors import Allowed, Visitor

router = APIRouter(include_in_schema=False)
STATISTICS, PEERS = "/app/exchange/statistics", "/app/exchange/peers"
POLICY = "default"


@router.get(STATISTICS, name="screen_statistics")
def statistics_page(visitor: Annotated[Visitor, Allowed("list_statistics")]) -> Response:
    """List the tables of frequencies, and what is old or missing."""
    versions = statistics.listed(visitor.service)
    problems = statistics.problems(visitor.service, POLICY) if visitor.may("check_statistics") else []
    return visitor.page("exchange/statistics.html.j2", versions=versions, problems=problems)


@router.post(f"{STATISTICS}/shipped", name="screen_import_shipped")
def import_shipped(visitor: Annotated[Visitor, Allowed("import_shipped_statistics")]) -> Response:
    """Import the tables that come with Kohorte."""
    statistics.add_shipped(visitor.service, visitor.actor)
    return visitor.to(STATISTICS, said="statistics-imported")


@router.get(PEERS, name="screen_peers")
def peers_page(visitor: Annotated[Visitor, Allowed("list_peers")]) -> Response:
    """Show the address book, and by what others know this house."""
    return _peers(visitor)


@router.post(PEERS, name="screen_add_peer")
def add_peer(visitor: Annotated[Visitor, Allowed("add_peer")]) -> Response:
    """Add an institution with the fingerprint that a person there read out."""
    names = ("institution", "address", "certificate", "fingerprint")
    fields = {name: visitor.text(name) for name in names}
    contacts = [line.strip() for line in visitor.text("contacts").splitlines() if line.strip()]
    try:
        given = body_of(GivenPeer, **fields, contacts=contacts)
        asking.add_peer(visitor.service, visitor.actor, given.model_dump())
    except KohorteError as error:
        return _peers(visitor, error)
    return visitor.to(PEERS, said="peer-added")


@router.post(f"{PEERS}/remove", name="screen_remove_peer")
def remove_peer(visitor: Annotated[Visitor, Allowed("remove_peer")]) -> Response:
    """Remove an institution; it can send nothing more."""
    try:
        given = body_of(PeerName, institution=visitor.text("institution"))
        asking.remove_peer(visitor.service, visitor.actor, given.institution)
    except KohorteError as error:
        return _peers(visitor, error)
    return visitor.to(PEERS, said="peer-removed")


def _peers(visitor: Visitor, problem: KohorteError | None = None) -> Response:
    status = 200 if problem is None else told_in_place(visitor, problem)
    try:
        identity = asking.identity(visitor.service)
    except InputError:  # nobody has given this house a certificate yet
        identity = None
    names = ("institution", "address", "certificate", "fingerprint", "contacts")
    typed = {name: visitor.text(name) for name in names}
    peers = asking.peers(visitor.service)
    return visitor.page(
        "exchange/peers.html.j2", status=status, identity=identity, peers=peers, typed=typed, problem=problem
    )
