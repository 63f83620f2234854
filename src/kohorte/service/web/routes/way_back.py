"""The way back from pseudonyms: one person asks, two others approve, and it is shown once."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from kohorte.pseudonyms.resolving import Source
from kohorte.service.trust import way_back
from kohorte.service.web.dependencies import ActorDep, Limit, Number, PageNumber, ServiceDep
from kohorte.service.web.models.trust import (
    Notices,
    Revealed,
    WayBackAnswer,
    WayBackQuestion,
    WayBackRequests,
    WayBackResult,
)

router = APIRouter(tags=["reidentification"])
CREATED: dict[int | str, dict[str, Any]] = {
    201: {"headers": {"Location": {"description": "The URL of the request.", "schema": {"type": "string"}}}}
}


@router.post("/way-back", status_code=201, summary="Ask for the way back", responses=CREATED)
def ask_way_back(body: WayBackQuestion, service: ServiceDep, actor: ActorDep, response: Response) -> WayBackAnswer:
    """Ask what some pseudonyms stand for; whether any of them is known is not looked up."""
    source = Source(body.domain, body.key_version)
    asked = way_back.ask(service, actor, source, body.pseudonyms, purpose=body.purpose, until=body.end)
    response.headers["Location"] = f"/api/v1/way-back/{asked['request']}"
    return WayBackAnswer(**asked)


@router.get("/way-back", summary="List the requests for the way back")
def list_way_back(service: ServiceDep, actor: ActorDep, limit: Limit = 20, page: PageNumber = 1) -> WayBackRequests:
    """Return a page of the requests: approvers and data protection officers see all, others only their own."""
    found = way_back.listed(service, actor)
    shown = [WayBackAnswer(**one) for one in found[(page - 1) * limit : page * limit]]
    return WayBackRequests(requests=shown, limit=limit, page=page, total=len(found))


@router.get("/way-back/{number:int}", summary="Show a request for the way back")
def show_way_back(number: Number, service: ServiceDep, actor: ActorDep) -> WayBackAnswer:
    """Return a request, without its pseudonyms."""
    return WayBackAnswer(**way_back.shown(service, actor, number))


@router.post("/way-back/{number:int}/approve", summary="Approve a request")
def approve_way_back(number: Number, service: ServiceDep, actor: ActorDep) -> WayBackAnswer:
    """Approve the request of another person; two different people have to."""
    return WayBackAnswer(**way_back.approve(service, actor, number))


@router.post("/way-back/{number:int}/decline", summary="Decline a request")
def decline_way_back(number: Number, service: ServiceDep, actor: ActorDep) -> WayBackAnswer:
    """Decline a request for good, or take back your own."""
    return WayBackAnswer(**way_back.decline(service, actor, number))


@router.post("/way-back/{number:int}/show", summary="See the result of your request")
def reveal_way_back(number: Number, service: ServiceDep, actor: ActorDep) -> WayBackResult:
    """Return what the pseudonyms stand for, once, to the person who asked; a lost answer must be asked for again."""
    found = way_back.reveal(service, actor, number)
    revealed = [Revealed(pseudonym=pseudonym, original=original) for pseudonym, original in found]
    return WayBackResult(request=number, found=revealed)


@router.post("/way-back/notices", summary="Read the notices about the way back")
def read_notices(service: ServiceDep, actor: ActorDep) -> Notices:
    """Return what happened since you last looked; that you looked is recorded, therefore this is no GET."""
    return Notices(notices=[dict(one) for one in way_back.notices(service, actor)])
