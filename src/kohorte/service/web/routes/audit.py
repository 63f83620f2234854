"""The audit log."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from kohorte.service.audit import verify_log
from kohorte.service.audit_reading import listed
from kohorte.service.web.dependencies import LARGEST_NUMBER, Limit, PageNumber, ServiceDep

router = APIRouter(tags=["audit"])
HEAD = "2:8f2f0f0d0b7c8a4d7f6f5c6ee9a07c9f3a7b1c2d4e5f60718293a4b5c6d7e8f9"
ENTRY: dict[str, Any] = {
    "number": 2,
    "at": "2020-10-01T10:18:03.374430+00:00",
    "actor_id": 1,
    "action": "create-user",
    "object": "user 2",
    "details": {"privileged": False},
}

Action = Annotated[str | None, Query(pattern="^[a-z-]+$", max_length=64, description="Only entries with this action.")]
ActorId = Annotated[int | None, Query(ge=1, le=LARGEST_NUMBER, description="Only what this user did.")]


class EntryAnswer(BaseModel):
    """Who did what to which object."""

    model_config = ConfigDict(json_schema_extra={"examples": [ENTRY]})
    number: int
    at: str
    actor_id: int | None = Field(description="The user who did it; null: somebody at the machine, or nobody signed in.")
    action: str
    object: str
    details: dict[str, Any]


class EntriesAnswer(BaseModel):
    """A page of entries."""

    entries: list[EntryAnswer]
    limit: int = Field(examples=[20])
    page: int = Field(examples=[1])
    total: int = Field(examples=[2])


class CheckAnswer(BaseModel):
    """Whether the log is whole."""

    whole: bool
    entries: int = Field(examples=[2], description="How many entries there are up to the first wrong one.")
    head: str = Field(examples=[HEAD], description="Number and code of the last of them; note it elsewhere.")
    first_wrong: int | None = Field(examples=[None])


@router.get("/audit", summary="List the audit log")
def list_audit(
    service: ServiceDep, limit: Limit = 20, page: PageNumber = 1, action: Action = None, actor_id: ActorId = None
) -> EntriesAnswer:
    """Return a page of the audit log, the newest entries first."""
    found, total = listed(service.database, limit=limit, page=page, action=action, actor_id=actor_id)
    return EntriesAnswer(entries=[EntryAnswer(**entry) for entry in found], limit=limit, page=page, total=total)


@router.get("/audit/verify", summary="Verify the audit log")
def verify_audit(service: ServiceDep) -> CheckAnswer:
    """Walk the whole log and say whether an entry was changed, added or taken out, and what its head is."""
    return CheckAnswer(**verify_log(service.database, service.log).to_dict())
