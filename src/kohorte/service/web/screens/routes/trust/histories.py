"""What happened to a PID, and how a decision is corrected: split records off a person, or make two people one.

PIDs come in forms and never in addresses, because addresses are logged.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from starlette.responses import Response

from kohorte.errors import KohorteError
from kohorte.service.trust import patients
from kohorte.service.web.models.patients import Merge, OnePid, Split
from kohorte.service.web.screens.people import namer
from kohorte.service.web.screens.refusing import body_of, told_in_place
from kohorte.service.web.screens.visitors import Allowed, Visitor

router = APIRouter(include_in_schema=False)
PAGE = "/app/patients/history"
Reader = Annotated[Visitor, Allowed("show_patient_history")]


@router.get(PAGE, name="screen_history")
def history_form(visitor: Reader) -> Response:
    """Show the form for a PID."""
    return _page(visitor)


@router.post(PAGE, name="screen_show_history")
def history(visitor: Reader) -> Response:
    """Show what happened to a PID, without identity data."""
    return _page(visitor, visitor.text("pid"))


@router.post("/app/patients/split", name="screen_split")
def split(visitor: Annotated[Visitor, Allowed("split_patient")]) -> Response:
    """Give records of a person to a person of their own."""
    pid = visitor.text("pid")
    records = [int(text) for text in visitor.texts("records") if text.isdecimal() and len(text) < 10]
    try:
        given = body_of(Split, pid=pid, records=records)
        stays, new = patients.split(visitor.service, visitor.actor, given.pid, given.records)
    except KohorteError as error:
        return _page(visitor, pid, error)
    return _page(visitor, stays, done={"what": "split", "pid": stays, "other_pid": new})


@router.post("/app/patients/merge", name="screen_merge")
def merge(visitor: Annotated[Visitor, Allowed("merge_patients")]) -> Response:
    """Make two people one."""
    pid, other = visitor.text("pid"), visitor.text("other_pid")
    try:
        given = body_of(Merge, pid=pid, other_pid=other)
        kept, gone = patients.merge(visitor.service, visitor.actor, given.pid, given.other_pid)
    except KohorteError as error:
        return _page(visitor, pid, error)
    return _page(visitor, kept, done={"what": "merge", "pid": kept, "other_pid": gone})


def _page(
    visitor: Visitor, pid: str = "", problem: KohorteError | None = None, done: dict[str, str] | None = None
) -> Response:
    """The history of a PID that the visitor named; why not, if there is none."""
    status = 200 if problem is None else told_in_place(visitor, problem)
    found: dict[str, Any] | None = None
    if visitor.request.method == "POST":
        try:
            found = patients.history(visitor.service, visitor.actor, body_of(OnePid, pid=pid).pid)
        except KohorteError as error:
            if problem is None:
                status, problem = told_in_place(visitor, error), error
    told: dict[str, Any] = {"history": found, "problem": problem, "done": done, "named": namer(visitor)}
    return visitor.page("trust/history.html.j2", status=status, here=PAGE, pid=pid, **told)
