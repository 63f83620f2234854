"""The steps of a request that are alike in both parts: look at it, approve it, decline it, read the notices."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from kohorte.errors import KohorteError
from kohorte.service.parts import Part
from kohorte.service.trust import way_back
from kohorte.service.web.dependencies import Number
from kohorte.service.web.screens.people import namer
from kohorte.service.web.screens.refusing import told_in_place
from kohorte.service.web.screens.routes.way_back.listing import LIST, PLACES, with_task
from kohorte.service.web.screens.visitors import Allowed, Visitor


def add_steps(to: APIRouter, part: Part, ending: str) -> None:
    """Add the screens of a part; `ending` ends the names of its operations."""
    sees, approves, declines = Allowed(f"show_{ending}"), Allowed(f"approve_{ending}"), Allowed(f"decline_{ending}")
    reads = Allowed(f"read_{ending}_notices")

    def shown(number: Number, visitor: Visitor = sees) -> Response:
        return request_page(visitor, part, number)

    def approve(number: Number, visitor: Visitor = approves) -> Response:
        try:
            way_back.approve(visitor.service, visitor.actor, number, part=part)
        except KohorteError as error:
            return request_page(visitor, part, number, error)
        return visitor.to(f"{PLACES[part]}/{number}", said="way-back-approved")

    def decline(number: Number, visitor: Visitor = declines) -> Response:
        try:
            way_back.decline(visitor.service, visitor.actor, number, part=part)
        except KohorteError as error:
            return request_page(visitor, part, number, error)
        return visitor.to(f"{PLACES[part]}/{number}", said="way-back-declined")

    def notices(visitor: Visitor = reads) -> Response:
        found = way_back.notices(visitor.service, visitor.actor, part=part)
        told: dict[str, Any] = {"notices": found[::-1], "part": str(part), "named": namer(visitor)}
        return visitor.page("way_back/notices.html.j2", here=LIST, **told)

    place = PLACES[part]
    for method, path, endpoint, name in (
        ("GET", f"{place}/{{number}}", shown, f"screen_show_{ending}"),
        ("POST", f"{place}/{{number}}/approve", approve, f"screen_approve_{ending}"),
        ("POST", f"{place}/{{number}}/decline", decline, f"screen_decline_{ending}"),
        ("POST", f"{place}/notices", notices, f"screen_{ending}_notices"),
    ):
        to.add_api_route(path, endpoint, methods=[method], name=name)


def request_page(visitor: Visitor, part: Part, number: int, problem: KohorteError | None = None) -> Response:
    """Show a request, without its pseudonyms or PIDs, and what the visitor can do."""
    status = 200 if problem is None else told_in_place(visitor, problem)
    found = with_task(visitor, part, way_back.shown(visitor.service, visitor.actor, number, part=part))
    told: dict[str, Any] = {"wish": found, "named": namer(visitor), "problem": problem}
    return visitor.page("way_back/request.html.j2", status=status, **told)


def lines_of(text: str) -> list[str]:
    """The pseudonyms or PIDs of a field: one in each line, or separated by blanks, commas or semicolons."""
    return text.replace(",", " ").replace(";", " ").split()
