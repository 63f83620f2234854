"""Requests for the approval of a second person."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse

from kohorte.service.approvals import requests
from kohorte.service.approvals.actions import Outcome
from kohorte.service.approvals.requests import ApprovalState
from kohorte.service.web.dependencies import ActorDep, Limit, Number, PageNumber, ServiceDep

router = APIRouter(tags=["approvals"])
APPROVAL: dict[str, Any] = {
    "approval_id": 5,
    "operation": "delete_dataset",
    "subject_kind": "dataset",
    "subject_id": 1,
    "changes": [],
    "values": {},
    "state": "pending",
    "requester_id": 1,
    "created_at": "2020-10-01T10:18:03.374430+00:00",
    "expires_at": "2020-10-04T10:18:03.374430+00:00",
    "decider_id": None,
    "decided_at": None,
}


class ApprovalAnswer(BaseModel):
    """A request for the approval of a second person."""

    model_config = ConfigDict(json_schema_extra={"examples": [APPROVAL]})
    approval_id: int
    operation: str = Field(description="The requested operation (operationId).")
    subject_kind: str = Field(description="The kind of the object: `user`, `dataset`, `project` or `patient`.")
    subject_id: int | None = Field(description="The id of the object; null if it is to be created.")
    changes: list[str] = Field(description="The names of the fields that would change.")
    values: dict[str, Any] = Field(description="The new values of a user, never a password; the fingerprint of a PID.")
    state: ApprovalState
    requester_id: int = Field(description="The user who made the request.")
    created_at: str
    expires_at: str = Field(description="When the request expires without a decision.")
    decider_id: int | None = Field(description="The user who confirmed or declined.")
    decided_at: str | None


class ApprovalsAnswer(BaseModel):
    """A page of requests."""

    approvals: list[ApprovalAnswer]
    limit: int = Field(examples=[20])
    page: int = Field(examples=[1])
    total: int = Field(examples=[1])


MAY_WAIT: dict[int | str, dict[str, Any]] = {
    202: {
        "model": ApprovalAnswer,
        "description": "The settings require two people: a second person must confirm the request",
        "headers": {"Location": {"description": "The URL of the request.", "schema": {"type": "string"}}},
    }
}


def waiting(outcome: Outcome) -> JSONResponse | None:
    """Return the response to a call that needs a second person; None if it does not."""
    if outcome.approval is None:
        return None
    location = {"Location": f"/api/v1/approvals/{outcome.approval['approval_id']}"}
    return JSONResponse(outcome.approval, 202, location)


@router.get("/approvals", summary="List the requests for approval")
def list_approvals(
    service: ServiceDep,
    actor: ActorDep,
    state: Annotated[ApprovalState | None, Query(description="Only requests in this state.")] = None,
    limit: Limit = 20,
    page: PageNumber = 1,
) -> ApprovalsAnswer:
    """Return a page of the requests, the newest first: stewards and approvers see all, others only their own."""
    found, total = requests.listed(service, actor, state=state, limit=limit, page=page)
    return ApprovalsAnswer(approvals=[ApprovalAnswer(**entry) for entry in found], limit=limit, page=page, total=total)


@router.get("/approvals/{approval_id}", summary="Show a request for approval")
def show_approval(approval_id: Number, service: ServiceDep, actor: ActorDep) -> ApprovalAnswer:
    """Return a request."""
    return ApprovalAnswer(**requests.shown(service, actor, approval_id))


@router.post("/approvals/{approval_id}/confirm", summary="Confirm a request")
def confirm_approval(approval_id: Number, service: ServiceDep, actor: ActorDep) -> ApprovalAnswer:
    """Carry out the request of another person, once; both people must have their permissions at this moment."""
    return ApprovalAnswer(**requests.confirm(service, actor, approval_id))


@router.post("/approvals/{approval_id}/decline", summary="Decline a request")
def decline_approval(approval_id: Number, service: ServiceDep, actor: ActorDep) -> ApprovalAnswer:
    """Decline a request, or withdraw your own; it is not carried out."""
    return ApprovalAnswer(**requests.decline(service, actor, approval_id))
