"""The audit log."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

from kohorte.service.audit_reading import Wanted, listed
from kohorte.service.integrity.verification import verify
from kohorte.service.key_rotation import SEALED
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
ActorId = Annotated[int | None, Query(ge=1, le=LARGEST_NUMBER, description="Only actions of this user.")]


def _written_out(given: Any) -> Any:
    """Refuse a bare number, which would be interpreted as seconds since 1970."""
    if isinstance(given, str) and not re.match(r"\d{4}-\d\d-\d\d[Tt ]", given):
        raise ValueError("must be a moment such as 2026-05-01T00:00:00Z")
    return given


Moment = Annotated[AwareDatetime, BeforeValidator(_written_out)]
About = Annotated[
    str | None,
    Query(pattern="^[a-z]+ [0-9]+$", max_length=100, description="The object: `project 4`."),
]
Since = Annotated[Moment | None, Query(description="Only from this moment on, such as 2026-05-01T00:00:00Z.")]
Until = Annotated[Moment | None, Query(description="Only before this moment.")]


async def _filters(
    action: Action = None, actor_id: ActorId = None, about: About = None, since: Since = None, until: Until = None
) -> Wanted:
    return Wanted(action, actor_id, about, since, until)


class EntryAnswer(BaseModel):
    """An entry: who did what to which object."""

    model_config = ConfigDict(json_schema_extra={"examples": [ENTRY]})
    number: int
    at: str
    actor_id: int | None = Field(description="The user who did it; null without sign-in, or for the command line.")
    action: str
    object: str
    details: dict[str, Any]


class EntriesAnswer(BaseModel):
    """A page of entries."""

    entries: list[EntryAnswer]
    limit: int = Field(examples=[20])
    page: int = Field(examples=[1])
    total: int = Field(examples=[2])


class RowAnswer(BaseModel):
    """A row that was changed, put back to an older state, or removed outside the service."""

    table: str
    id: str
    problem: str


class CheckAnswer(BaseModel):
    """The result of a verification of the log and of all marked rows."""

    whole: bool
    entries: int = Field(examples=[2], description="The number of entries before the first wrong one.")
    head: str = Field(examples=[HEAD], description="Number and code of the last of these; store it elsewhere.")
    first_wrong: int | None = Field(examples=[None])
    accounts_fit: bool = Field(description="Whether every account agrees with the spendings in the log.")
    wrong_rows: list[RowAnswer] = Field(examples=[[]], description="Rows that are not as the service wrote them last.")
    state_log: str | None = Field(examples=[None], description="Why state.log and the database do not fit, if so.")


@router.get("/audit", summary="List the audit log")
def list_audit(
    service: ServiceDep, filters: Annotated[Wanted, Depends(_filters)], limit: Limit = 20, page: PageNumber = 1
) -> EntriesAnswer:
    """Return a page of the audit log, the newest entries first."""
    found, total = listed(service.database, limit=limit, page=page, filters=filters)
    return EntriesAnswer(entries=[EntryAnswer(**entry) for entry in found], limit=limit, page=page, total=total)


@router.get("/audit/verify", summary="Verify the audit log and all marked rows")
def verify_audit(service: ServiceDep) -> CheckAnswer:
    """Verify the whole log and every marked row: name what was changed, added or removed, and return the head."""
    return CheckAnswer(**verify(service.database, service.log, service.guard, SEALED).to_dict())
