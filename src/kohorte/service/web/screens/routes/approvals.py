"""Requests that wait for a second person: look at them, confirm or decline."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from starlette.responses import Response

from kohorte.service.accounts import users
from kohorte.service.approvals import requests
from kohorte.service.web.dependencies import Number
from kohorte.service.web.screens.visitors import Allowed, Visitor

router = APIRouter(include_in_schema=False)


@router.get("/app/approvals/{approval_id}", name="screen_approval")
def approval_page(approval_id: Number, visitor: Annotated[Visitor, Allowed("show_approval")]) -> Response:
    """Show a request with all that would change."""
    found = requests.shown(visitor.service, visitor.actor, approval_id)
    own = found["requester_id"] == visitor.actor.user_id
    names = _names(visitor, found["requester_id"])
    return visitor.page("approval.html.j2", approval=found, own=own, requester=names)


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
