"""The inbox of requests: what came, how far it is, the check, the decisions of two people, and the answer."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter
from starlette.responses import FileResponse, HTMLResponse, Response

from kohorte.data import strict_yaml
from kohorte.errors import InputError, KohorteError
from kohorte.exchange.checking.steps import CheckRecord
from kohorte.exchange.deciding.decisions import State
from kohorte.exchange.picture.page import standing_of, told_comparisons
from kohorte.languages import Language
from kohorte.service.exchange import requests
from kohorte.service.trust.folders import name_of
from kohorte.service.web.dependencies import Number
from kohorte.service.web.middleware.security_headers import ONE_PAGE
from kohorte.service.web.models.exchange import GivenRequest, RequestDecision
from kohorte.service.web.screens.people import namer
from kohorte.service.web.screens.refusing import body_of, told_in_place
from kohorte.service.web.screens.visitors import Allowed, Visitor

router = APIRouter(include_in_schema=False)
LIST = "/app/exchange/requests"
REQUEST = f"{LIST}/{{number}}"
LONGEST = 1 << 20
DECIDED = (State.RELEASED, State.REFUSED)
Reader = Annotated[Visitor, Allowed("show_request")]
Receiver = Annotated[Visitor, Allowed("receive_request")]


@router.get(LIST, name="screen_requests")
def requests_page(visitor: Annotated[Visitor, Allowed("list_requests")]) -> Response:
    """List the requests of other institutions, with what waits for whom."""
    found = [with_task(visitor, one) for one in requests.listed(visitor.service)]
    return visitor.page("exchange/requests.html.j2", requests=found)


@router.get(f"{LIST}/new", name="screen_new_request")
def new_request_page(visitor: Receiver) -> Response:
    """Show the form for a request that came as a file."""
    return visitor.page("exchange/new_request.html.j2", text="", problem=None)


@router.post(f"{LIST}/new", name="screen_receive_request")
def receive(visitor: Receiver) -> Response:
    """Keep a request that came as a file; its requester is named, not proven."""
    text = visitor.text("text")
    try:
        given = strict_yaml.load(text[:LONGEST], source="the request", code="exchange-request-yaml")
        if not isinstance(given, dict):
            raise InputError("a request begins with 'kohorte: 1'", code="exchange-request-yaml")
        made = requests.receive(visitor.service, visitor.actor, body_of(GivenRequest, request=given).request)
    except KohorteError as error:
        status = told_in_place(visitor, error)
        return visitor.page("exchange/new_request.html.j2", status=status, text=text, problem=error)
    return visitor.to(f"{LIST}/{made['number']}", said="request-received")


@router.get(REQUEST, name="screen_request")
def request_page(number: Number, visitor: Reader) -> Response:
    """Show a request with its latest check, the decisions, and what the visitor can do now."""
    return _page(visitor, number)


@router.get(f"{REQUEST}/page", name="screen_check_page")
def check_page(number: Number, visitor: Annotated[Visitor, Allowed("show_check_page")]) -> Response:
    """Show the latest check on a page of its own, to be printed and signed."""
    page = requests.page(visitor.service, visitor.actor, number, visitor.language)
    return HTMLResponse(page, headers={"Content-Security-Policy": ONE_PAGE})


@router.post(f"{REQUEST}/decide", name="screen_decide_request")
def decide(number: Number, visitor: Annotated[Visitor, Allowed("decide_request")]) -> Response:
    """Note the decision of the visitor about the check that the page has shown."""
    fields = {name: visitor.text(name) for name in ("decision", "check", "reason")}
    try:
        given = body_of(RequestDecision, **fields)
        requests.decide_request(
            visitor.service, visitor.actor, number, given.decision, check=given.check, reason=given.reason
        )
    except KohorteError as error:
        return _page(visitor, number, problem=error)
    return visitor.to(f"{LIST}/{number}", said="request-decided")


@router.post(f"{REQUEST}/answer", name="screen_answer_request")
def answer(number: Number, visitor: Annotated[Visitor, Allowed("answer_request")]) -> Response:
    """Answer as the people decided."""
    try:
        made = requests.answer_request(visitor.service, visitor.actor, number)
    except KohorteError as error:
        return _page(visitor, number, problem=error)
    return visitor.to(f"{LIST}/{number}", said="request-answered" if made["to"] is None else "answer-sent")


@router.get(f"{REQUEST}/answer/{{name}}", name="screen_download_answer")
def download(number: Number, name: str, visitor: Annotated[Visitor, Allowed("download_answer")]) -> Response:
    """Send a file of the answer to a request that came as a file."""
    return attached(requests.answer_file(visitor.service, visitor.actor, number, name))


def attached(path: Path) -> FileResponse:
    """Return a file as a download; the browser never shows it as a page."""
    return FileResponse(path, media_type="application/octet-stream", filename=path.name)


def with_task(visitor: Visitor, one: dict[str, Any]) -> dict[str, Any]:
    """Return a request with what it waits for, and whether that is for the visitor to do."""
    state, own = one["state"], name_of(visitor.actor)
    mine = any(decision["person"] == own for decision in one["decisions"])
    task, operation = {
        State.RECEIVED: ("check", "check_request"),
        State.CHECKED: ("decide", "decide_request"),
        State.ANSWERED: ("", ""),
    }.get(state, ("answer", "answer_request"))
    expired = bool(task) and date.fromisoformat(one["until"]) < datetime.now(UTC).date()
    can = bool(operation) and visitor.may(operation) and not (task == "decide" and mine)
    can = can and not (expired and task == "check")
    return {**one, "task": task, "mine": can, "decided_by_me": mine, "expired": expired}


def _page(visitor: Visitor, number: int, problem: KohorteError | None = None) -> Response:
    status = 200 if problem is None else told_in_place(visitor, problem)
    service = visitor.service
    found = with_task(visitor, requests.shown(service, number))
    record = requests.record(service, number) if found["check"] else None
    earlier = [] if record is None else requests.earlier(service, visitor.actor)
    files = requests.answer_names(service, number) if visitor.may("download_answer") else []
    return visitor.page(
        "exchange/request.html.j2",
        status=status,
        inquiry=found,
        check=record,
        standing="" if record is None else standing_of(record),
        comparisons={} if record is None else _told(record, visitor.language),
        earlier=earlier,
        files=files,
        named=namer(visitor),
        problem=problem,
        reason=visitor.text("reason"),
    )


def _told(record: CheckRecord, language: Language) -> dict[str, str]:
    return told_comparisons(record["request"]["request"]["condition"], language)
