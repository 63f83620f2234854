"""All requests for the way back that a visitor may see, of both parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter
from starlette.responses import Response

from kohorte.service.parts import Part
from kohorte.service.trust import way_back
from kohorte.service.trust.folders import name_of
from kohorte.service.web.dependencies import PageNumber
from kohorte.service.web.screens.people import namer
from kohorte.service.web.screens.visitors import Allowed, Visitor
from kohorte.trust.way_back import State

router = APIRouter(include_in_schema=False)
LIST = "/app/way-back"
PER_PAGE = 50
PLACES: Mapping[Part, str] = {Part.PSEUDONYMS: f"{LIST}/pseudonyms", Part.PATIENTS: f"{LIST}/people"}
"""Where the requests of each part are."""


@router.get(LIST, name="screen_way_back")
def list_page(visitor: Annotated[Visitor, Allowed("list_way_back")], page: PageNumber = 1) -> Response:
    """List the requests: approvers and data protection officers see all, others only their own."""
    found = sorted(waiting(visitor), key=lambda one: str(one["asked_at"]), reverse=True)
    shown = found[(page - 1) * PER_PAGE : page * PER_PAGE]
    return visitor.page(
        "way_back/requests.html.j2",
        requests=shown,
        parts=[str(part) for part in PLACES if part in visitor.service.settings.parts],
        named=namer(visitor),
        page=page,
        pages=-(-len(found) // PER_PAGE),
    )


def waiting(visitor: Visitor) -> list[dict[str, Any]]:
    """The requests of all served parts, each with what it waits for."""
    return [
        with_task(visitor, part, one)
        for part in PLACES
        if part in visitor.service.settings.parts
        for one in way_back.listed(visitor.service, visitor.actor, part=part)
    ]


def with_task(visitor: Visitor, part: Part, one: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request with its address, what it waits for, and whether that is for the visitor to do."""
    own, actor = one["asked_by"] == name_of(visitor.actor), name_of(visitor.actor)
    approved = actor in one["approved_by"]
    approves = one["state"] == State.OPEN and not own and not approved and visitor.may("approve_way_back")
    shows = one["state"] == State.APPROVED and own
    ends = one["state"] in (State.OPEN, State.APPROVED) and (own or visitor.may("approve_way_back"))
    told = {"path": f"{PLACES[part]}/{one['request']}", "part": str(part), "own": own, "approved_by_me": approved}
    return {**one, **told, "can_approve": approves, "can_show": shows, "can_end": ends}
