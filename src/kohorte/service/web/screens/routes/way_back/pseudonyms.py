"""From pseudonyms to what they stand for: ask, and see the result once."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from starlette.responses import Response

from kohorte.errors import KohorteError
from kohorte.pseudonyms.resolving import Source
from kohorte.service.parts import Part
from kohorte.service.trust import domains, way_back
from kohorte.service.web.dependencies import Number
from kohorte.service.web.models.trust import WayBackQuestion
from kohorte.service.web.screens.refusing import body_of, told_in_place
from kohorte.service.web.screens.routes.way_back.listing import LIST, PLACES
from kohorte.service.web.screens.routes.way_back.steps import add_steps, lines_of, request_page
from kohorte.service.web.screens.visitors import Allowed, Visitor

router = APIRouter(include_in_schema=False)
PLACE = PLACES[Part.PSEUDONYMS]
Asker = Annotated[Visitor, Allowed("ask_way_back")]


@router.get(f"{PLACE}/new", name="screen_ask_way_back")
def ask_page(visitor: Asker) -> Response:
    """Show the form of a request."""
    return _form(visitor)


@router.post(f"{PLACE}/new", name="screen_asking_way_back")
def ask(visitor: Asker) -> Response:
    """Ask what pseudonyms stand for; whether any of them is known is not looked up."""
    fields = {name: visitor.text(name) for name in ("domain", "purpose", "until")}
    try:
        body = body_of(WayBackQuestion, **fields, pseudonyms=lines_of(visitor.text("pseudonyms")))
        asked = way_back.ask(visitor.service, visitor.actor, Source(body.domain), body.pseudonyms, body.wish)
    except KohorteError as error:
        return _form(visitor, error)
    return visitor.to(f"{PLACE}/{asked['request']}", said="way-back-asked")


@router.post(f"{PLACE}/{{number}}/show", name="screen_reveal_way_back")
def reveal(number: Number, visitor: Annotated[Visitor, Allowed("reveal_way_back")]) -> Response:
    """Show what the pseudonyms stand for, once, to the person who asked."""
    try:
        result, _ = way_back.reveal(visitor.service, visitor.actor, number)
    except KohorteError as error:
        return request_page(visitor, Part.PSEUDONYMS, number, error)
    told: dict[str, Any] = {"number": number, "result": result, "people": False}
    return visitor.page("way_back/result.html.j2", here=LIST, **told)


def _form(visitor: Visitor, problem: KohorteError | None = None) -> Response:
    status = 200 if problem is None else told_in_place(visitor, problem)
    names = [one["name"] for one in domains.listed(visitor.service)] if visitor.may("list_domains") else None
    typed = {name: visitor.text(name) for name in ("domain", "purpose", "until", "pseudonyms")}
    told: dict[str, Any] = {"domains": names, "typed": typed, "problem": problem, "people": False}
    return visitor.page("way_back/ask.html.j2", status=status, action=f"{PLACE}/new", **told)


add_steps(router, Part.PSEUDONYMS, "way_back")
