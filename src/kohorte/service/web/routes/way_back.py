"""The way back: one person asks, two others approve, and it is shown once.

Both parts have it, each with requests and approvers of its own: from pseudonyms to what they stand for, usually PIDs,
and from PIDs to people.
"""

from __future__ import annotations

import base64
from typing import Any

from fastapi import APIRouter, Response

from kohorte.pseudonyms.resolving import Source
from kohorte.service.parts import Part
from kohorte.service.trust import way_back
from kohorte.service.web.dependencies import ActorDep, Limit, Number, PageNumber, ServiceDep
from kohorte.service.web.models.handing_over import HandingOver, PeopleHandingOver
from kohorte.service.web.models.trust import (
    Notices,
    PeopleQuestion,
    PeopleResult,
    Revealed,
    RevealedPerson,
    WayBackAnswer,
    WayBackQuestion,
    WayBackRequests,
    WayBackResult,
)

CREATED: dict[int | str, dict[str, Any]] = {
    201: {"headers": {"Location": {"description": "The URL of the request.", "schema": {"type": "string"}}}}
}
router = APIRouter(tags=["reidentification"], prefix="/way-back")
people_router = APIRouter(prefix="/way-back")
"""Belongs to the routes of the patient list."""


@router.post("", status_code=201, summary="Ask for the way back", responses=CREATED)
def ask_way_back(body: WayBackQuestion, service: ServiceDep, actor: ActorDep, response: Response) -> WayBackAnswer:
    """Ask what some pseudonyms stand for; whether any of them is known is not looked up."""
    source = Source(body.domain, body.key_version)
    asked = way_back.ask(service, actor, source, body.pseudonyms, body.wish)
    response.headers["Location"] = f"/api/v1/way-back/{asked['request']}"
    return WayBackAnswer(**asked)


@people_router.post("", status_code=201, summary="Ask who PIDs are", responses=CREATED)
def ask_people(body: PeopleQuestion, service: ServiceDep, actor: ActorDep, response: Response) -> WayBackAnswer:
    """Ask who some PIDs are; whether any of them is in the list is not looked up."""
    asked = way_back.ask_people(service, actor, body.pids, body.wish)
    response.headers["Location"] = f"/api/v1/patients/way-back/{asked['request']}"
    return WayBackAnswer(**asked)


@router.post("/{number:int}/show", summary="See the result of your request")
def reveal_way_back(
    number: Number, service: ServiceDep, actor: ActorDep, body: HandingOver | None = None
) -> WayBackResult:
    """Return what the pseudonyms stand for, once, to the person who asked; a lost answer must be asked for again.

    With a recipient the answer is an envelope that only the recipient can open, and shows nothing else.
    """
    result, envelope = way_back.reveal(service, actor, number, (body or HandingOver()).handing())
    found = None if envelope else [Revealed.model_validate(one) for one in result.to_dicts()]
    return WayBackResult(request=number, found=found, unknown=result.unknown, envelope=_text(envelope))


@people_router.post("/{number:int}/show", summary="See the people of your request")
def reveal_people(
    number: Number, service: ServiceDep, actor: ActorDep, body: PeopleHandingOver | None = None
) -> PeopleResult:
    """Return who the PIDs are, once, to the person who asked; a lost answer must be asked for again.

    With a recipient, such as the treating physician, the answer is an envelope that only the recipient can open.
    """
    wish = body or PeopleHandingOver()
    result, envelope = way_back.reveal_people(service, actor, number, wish.handing(wish.consent))
    people = {
        pid: None if values is None else dict(zip(result.names, values, strict=True))
        for pid, values in result.found.items()
    }
    found = None if envelope else [RevealedPerson(pid=pid, person=person) for pid, person in people.items()]
    return PeopleResult(request=number, found=found, unknown=result.unknown, envelope=_text(envelope))


def _text(envelope: bytes | None) -> str | None:
    return None if envelope is None else base64.b64encode(envelope).decode()


def _add_steps(to: APIRouter, part: Part, ending: str) -> None:
    """Add the steps that do not depend on what is asked for; `ending` ends the names of the operations."""

    def listed(service: ServiceDep, actor: ActorDep, limit: Limit = 20, page: PageNumber = 1) -> WayBackRequests:
        """Return a page of the requests: approvers and data protection officers see all, others only their own."""
        found = way_back.listed(service, actor, part=part)
        shown = [WayBackAnswer(**one) for one in found[(page - 1) * limit : page * limit]]
        return WayBackRequests(requests=shown, limit=limit, page=page, total=len(found))

    def shown(number: Number, service: ServiceDep, actor: ActorDep) -> WayBackAnswer:
        """Return a request, without its pseudonyms or PIDs."""
        return WayBackAnswer(**way_back.shown(service, actor, number, part=part))

    def approve(number: Number, service: ServiceDep, actor: ActorDep) -> WayBackAnswer:
        """Approve the request of another person; two different people have to."""
        return WayBackAnswer(**way_back.approve(service, actor, number, part=part))

    def decline(number: Number, service: ServiceDep, actor: ActorDep) -> WayBackAnswer:
        """Decline a request for good, or take back your own."""
        return WayBackAnswer(**way_back.decline(service, actor, number, part=part))

    def notices(service: ServiceDep, actor: ActorDep) -> Notices:
        """Return what happened since you last looked; that you looked is recorded, therefore this is no GET."""
        return Notices(notices=[dict(one) for one in way_back.notices(service, actor, part=part)])

    for method, path, endpoint, name, summary in (
        ("GET", "", listed, f"list_{ending}", "List the requests for the way back"),
        ("GET", "/{number:int}", shown, f"show_{ending}", "Show a request for the way back"),
        ("POST", "/{number:int}/approve", approve, f"approve_{ending}", "Approve a request"),
        ("POST", "/{number:int}/decline", decline, f"decline_{ending}", "Decline a request"),
        ("POST", "/notices", notices, f"read_{ending}_notices", "Read the notices about the way back"),
    ):
        to.add_api_route(path, endpoint, methods=[method], name=name, summary=summary)


_add_steps(router, Part.PSEUDONYMS, "way_back")
_add_steps(people_router, Part.PATIENTS, "people")
