"""Ask other institutions in one's own name, and read their answers."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path
from starlette.responses import Response

from kohorte.errors import InputError, KohorteError
from kohorte.exchange.request.conditions import COMPARISONS
from kohorte.service.exchange import asking
from kohorte.service.web.models.exchange import QuestionToOthers
from kohorte.service.web.screens.plan_form import plan_from_text
from kohorte.service.web.screens.refusing import body_of, told_in_place
from kohorte.service.web.screens.routes.exchange.requests import attached
from kohorte.service.web.screens.visitors import Allowed, Visitor

router = APIRouter(include_in_schema=False)
LIST, NEW = "/app/exchange/sent", "/app/exchange/sent/new"
ROWS = 4
FIELDS = ("to", "purpose", "attributes", "until", "join", "condition")
Asker = Annotated[Visitor, Allowed("send_request")]
ParcelNumber = Annotated[str, Path(max_length=32)]


@router.get(LIST, name="screen_sent_requests")
def sent_page(visitor: Annotated[Visitor, Allowed("list_sent_requests")]) -> Response:
    """List what the visitor has asked, and the answers."""
    sent = asking.sent(visitor.service, visitor.actor)
    answers = {one["number"]: one for one in asking.answers(visitor.service, visitor.actor)}
    return visitor.page("exchange/sent.html.j2", sent=sent[::-1], answers=answers)


@router.get(NEW, name="screen_new_question")
def new_question_page(visitor: Asker) -> Response:
    """Show the form for a question to another institution."""
    return _form(visitor)


@router.post(NEW, name="screen_send_request")
def send(visitor: Asker) -> Response:
    """Sign the question in the name of the visitor and send it."""
    try:
        question = body_of(
            QuestionToOthers,
            to=visitor.text("to"),
            purpose=visitor.text("purpose"),
            attributes=_parts(visitor.text("attributes")),
            condition=_condition(visitor),
            until=visitor.text("until"),
        )
        asking.send(visitor.service, visitor.actor, question.to, question.asked())
    except KohorteError as error:
        return _form(visitor, error)
    return visitor.to(LIST, said="request-sent")


@router.get("/app/exchange/answers/{number}/{name}", name="screen_read_answer")
def read(number: ParcelNumber, name: str, visitor: Annotated[Visitor, Allowed("read_answer")]) -> Response:
    """Send a file of an answer, after its signature and hashes were compared again."""
    return attached(asking.answer_file(visitor.service, visitor.actor, number, name))


def _form(visitor: Visitor, problem: KohorteError | None = None) -> Response:
    status = 200 if problem is None else told_in_place(visitor, problem)
    peers = [one["institution"] for one in asking.peers(visitor.service)] if visitor.may("list_peers") else None
    names = ("attribute", "comparison", "value")
    rows = [{name: visitor.text(f"{name}-{row}") for name in names} for row in range(ROWS)]
    return visitor.page(
        "exchange/ask.html.j2",
        status=status,
        typed={name: visitor.text(name) for name in FIELDS},
        rows=rows,
        comparisons=COMPARISONS,
        peers=peers,
        problem=problem,
    )


def _condition(visitor: Visitor) -> dict[str, Any]:
    """The condition of the rows of the form, or that of its text; a value is compared as its column has it."""
    if text := visitor.text("condition"):
        return plan_from_text(text)
    found = []
    for row in range(ROWS):
        attribute, comparison = visitor.text(f"attribute-{row}"), visitor.text(f"comparison-{row}")
        if attribute and comparison in COMPARISONS:
            value = visitor.text(f"value-{row}")
            found.append({"attribute": attribute, comparison: _parts(value) if comparison == "in" else value})
    if not found:
        raise InputError("say which people you ask about: at least one comparison", code="form-field")
    return found[0] if len(found) == 1 else {"any" if visitor.text("join") == "any" else "all": found}


def _parts(text: str) -> list[str]:
    """The parts of a field that are separated by commas or lines."""
    return [part.strip() for line in text.splitlines() for part in line.split(",") if part.strip()]
