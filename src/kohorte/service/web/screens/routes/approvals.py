"""Requests that wait for a second person: look at them, confirm or decline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from fastapi import APIRouter
from starlette.responses import Response

from kohorte.errors import KohorteError
from kohorte.service.accounts import users
from kohorte.service.approvals import requests
from kohorte.service.datasets import records
from kohorte.service.projects import store
from kohorte.service.web.dependencies import Number
from kohorte.service.web.screens.visitors import Allowed, Visitor

router = APIRouter(include_in_schema=False)


@router.get("/app/approvals/{approval_id}", name="screen_approval")
def approval_page(approval_id: Number, visitor: Annotated[Visitor, Allowed("show_approval")]) -> Response:
    """Show a request with all that would change."""
    found = requests.shown(visitor.service, visitor.actor, approval_id)
    own = found["requester_id"] == visitor.actor.user_id
    names = _names(visitor, found["requester_id"])
    return visitor.page("approval.html.j2", approval=found, own=own, requester=names, about=_about(visitor, found))


@router.post("/app/approvals/{approval_id}/confirm", name="screen_confirm")
def confirm(approval_id: Number, visitor: Annotated[Visitor, Allowed("confirm_approval")]) -> Response:
    """Carry out the request of another person."""
    requests.confirm(visitor.service, visitor.actor, approval_id)
    return visitor.to(f"/app/approvals/{approval_id}", said="confirmed")


@router.post("/app/approvals/{approval_id}/decline", name="screen_decline")
def decline(approval_id: Number, visitor: Annotated[Visitor, Allowed("decline_approval")]) -> Response:
    """Decline the request of another person, or withdraw one's own."""
    requests.decline(visitor.service, visitor.actor, approval_id)
    return visitor.to(f"/app/approvals/{approval_id}", said="declined")


def _names(visitor: Visitor, user_id: int) -> str:
    """The name of a user if the visitor may see users, otherwise the number."""
    if visitor.may("list_users") or user_id == visitor.actor.user_id:
        return str(users.shown(visitor.service, visitor.actor, user_id).name)
    return str(user_id)


def _about(visitor: Visitor, approval: dict[str, Any]) -> dict[str, str] | None:
    """Name and address of the account, data set or project of a request, if the visitor may see it."""
    kind, number = approval["subject_kind"], approval["subject_id"]
    if number is None or kind not in PLACES:
        return None
    operation, place, name_of = PLACES[kind]
    if not visitor.may(operation):
        return None
    try:
        return {"name": name_of(visitor, number), "address": f"{place}/{number}"}
    except KohorteError:  # it has been deleted, as was asked for
        return None


PLACES: Mapping[str, tuple[str, str, Callable[[Visitor, int], str]]] = {
    "user": ("list_users", "/app/accounts", lambda visitor, number: _names(visitor, number)),
    "dataset": (
        "show_dataset",
        "/app/datasets",
        lambda visitor, number: str(records.show(visitor.service, visitor.actor, number)["name"]),
    ),
    "project": (
        "show_project",
        "/app/projects",
        lambda visitor, number: str(store.show(visitor.service, visitor.actor, number).name),
    ),
}
