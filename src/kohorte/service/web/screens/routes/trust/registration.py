"""Register a person, or look one up without storing anything."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from kohorte.errors import KohorteError
from kohorte.patients.identity import FIELDS
from kohorte.service.web.dependencies import LARGEST_NUMBER
from kohorte.service.web.models.patients import People
from kohorte.service.web.routes.patients import register_patients
from kohorte.service.web.screens.refusing import body_of, told_in_place
from kohorte.service.web.screens.visitors import Allowed, Visitor

router = APIRouter(include_in_schema=False)
PAGE = "/app/patients/register"
Registrar = Annotated[Visitor, Allowed("register_patients")]


@router.get(PAGE, name="screen_registration")
def registration_page(visitor: Registrar) -> Response:
    """Show the form for a person."""
    return _page(visitor)


@router.post(PAGE, name="screen_register")
async def register(visitor: Registrar) -> Response:
    """Register a person or look one up, by the route of the REST interface, which tells sources nothing by its time."""
    recipient = visitor.text("recipient")
    wanted = int(recipient) if recipient.isdecimal() and int(recipient[:10]) <= LARGEST_NUMBER else None
    try:
        body = body_of(
            People,
            people=[{name: visitor.text(name) for name in FIELDS}],
            temp_ids_for=wanted,
            dry_run=visitor.text("do") == "look-up",
        )
        answer = await register_patients(body, visitor.service, visitor.actor)
    except KohorteError as error:
        return await run_in_threadpool(_refused, visitor, error)
    return _page(visitor, found=answer.registrations[0], looked_up=body.dry_run)


def _refused(visitor: Visitor, error: KohorteError) -> Response:
    return _page(visitor, status=told_in_place(visitor, error), problem=error)


def _page(visitor: Visitor, status: int = 200, **told: Any) -> Response:
    typed = {name: visitor.text(name) for name in (*FIELDS, "recipient")}
    shown = {"problem": None, "found": None, "looked_up": False, **told}
    return visitor.page("trust/register.html.j2", status=status, fields=FIELDS, typed=typed, **shown)
