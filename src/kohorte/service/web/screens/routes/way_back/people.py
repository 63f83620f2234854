"""From PIDs to people of the patient list: ask, and see them once."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from starlette.responses import Response

from kohorte.errors import KohorteError
from kohorte.service.parts import Part
from kohorte.service.trust import way_back
from kohorte.service.web.dependencies import Number
from kohorte.service.web.models.trust import PeopleQuestion
from kohorte.service.web.screens.refusing import body_of, told_in_place
from kohorte.service.web.screens.routes.way_back.listing import LIST, PLACES
from kohorte.service.web.screens.routes.way_back.steps import add_steps, lines_of, request_page
from kohorte.service.web.screens.visitors import Allowed, Visitor

router = APIRouter(include_in_schema=False)
PLACE = PLACES[Part.PATIENTS]
Asker = Annotated[Visitor, Allowed("ask_people")]


@router.get(f"{PLACE}/new", name="screen_ask_people")
def ask_page(visitor: Asker) -> Response:
    """Show the form of a request."""
    return _form(visitor)


@router.post(f"{PLACE}/new", name="screen_asking_people")
def ask(visitor: Asker) -> Response:
    """Ask who PIDs are; whether any of them is in the list is not looked up."""
    fields = {name: visitor.text(name) for name in ("purpose", "until")}
    try:
        body = body_of(PeopleQuestion, **fields, pids=lines_of(visitor.text("pids")))
        asked = way_back.ask_people(visitor.service, visitor.actor, body.pids, body.wish)
    except KohorteError as error:
        return _form(visitor, error)
    return visitor.to(f"{PLACE}/{asked['request']}", said="way-back-asked")


@router.post(f"{PLACE}/{{number}}/show", name="screen_reveal_people")
def reveal(number: Number, visitor: Annotated[Visitor, Allowed("reveal_people")]) -> Response:
    """Show who the PIDs are, once, to the person who asked."""
    try:
        result, _ = way_back.reveal_people(visitor.service, visitor.actor, number)
    except KohorteError as error:
        return request_page(visitor, Part.PATIENTS, number, error)
    told: dict[str, Any] = {"number": number, "result": result, "people": True}
    return visitor.page("way_back/result.html.j2", here=LIST, **told)


def _form(visitor: Visitor, problem: KohorteError | None = None) -> Response:
    status = 200 if problem is None else told_in_place(visitor, problem)
    typed = {name: visitor.text(name) for name in ("purpose", "until", "pids")}
    told: dict[str, Any] = {"domains": None, "typed": typed, "problem": problem, "people": True}
    return visitor.page("way_back/ask.html.j2", status=status, action=f"{PLACE}/new", **told)


add_steps(router, Part.PATIENTS, "people")
