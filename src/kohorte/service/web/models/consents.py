"""Request and response bodies of consents, exports and TempIDs."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from kohorte.service.web.models.patients import Pid
from kohorte.service.web.models.requests import Body

MOST_PIDS = 10_000
MOST_WORDS = 100
LARGEST_ACCOUNT = 2**31 - 1
Word = Annotated[str, StringConstraints(min_length=1, max_length=63)]
Words = Annotated[list[Word], Field(fail_fast=True, max_length=MOST_WORDS)]
Day = Annotated[str, StringConstraints(max_length=10)]
Pids = Annotated[list[Pid], Field(fail_fast=True, min_length=1, max_length=MOST_PIDS)]
TempId = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Account = Annotated[int, Field(strict=True, ge=1, le=LARGEST_ACCOUNT)]
EXPORT: dict[str, Any] = {
    "export": 3,
    "project": "p7",
    "purpose": "diabetes-research",
    "at": "2026-12-01T09:30:00+00:00",
    "actor": "user 4",
    "rows": 120,
    "people": 80,
    "columns": ["pid"],
    "sha256": "ab" * 32,
}


class GivenConsent(Body):
    """What people agreed to; without categories it is for all kinds of data, without `until` for good."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"pids": ["A1C2D3E4"], "purposes": ["diabetes-research"], "until": "2031-12-31"}]
        }
    )
    pids: Pids = Field(repr=False)
    purposes: Words
    categories: Words = Field(default_factory=list)
    start: Day | None = None
    until: Day | None = None


class WithdrawnConsent(Body):
    """What a person takes back; without purposes everything."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"pid": "A1C2D3E4"}]})
    pid: Pid
    purposes: Words = Field(default_factory=list)


class PeopleCount(BaseModel):
    """How many people it was about."""

    people: int


class ConsentsAnswer(BaseModel):
    """The consents of a person, with their history, also as FHIR resources (R4, Consent)."""

    pid: str
    consents: list[dict[str, Any]]
    history: list[dict[str, Any]]
    lost: int = Field(description="Events that the log has and the database lacks; then nothing is covered.")
    fhir: list[dict[str, Any]]


class ReleasedAnswer(BaseModel):
    """The exports that a person was in."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"exports": [EXPORT], "uncertain": []}]})
    exports: list[dict[str, Any]]
    uncertain: list[dict[str, Any]] = Field(description="Exports of which the database does not have all people.")


class ExportWish(Body):
    """For what and for whom an export is; without PIDs it is about everybody who agreed."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"purpose": "diabetes-research", "project": "p7", "pids": ["A1C2D3E4"]}]}
    )
    purpose: Word
    project: Word
    pids: Pids | None = Field(default=None, repr=False)
    categories: Words = Field(default_factory=list, description="Only people who agreed to all these kinds of data.")


class CoveredPerson(BaseModel):
    """A person who agreed; the kinds of data are null for all kinds."""

    pid: str
    categories: list[str] | None


class ExportAnswer(BaseModel):
    """An export that was noted, and the people who agreed."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"export": 3, "people": [{"pid": "A1C2D3E4", "categories": None}]}]}
    )
    export: int
    people: list[CoveredPerson] = Field(repr=False)


class TempIdWish(Body):
    """PIDs that get TempIDs for the account of one recipient."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"pids": ["A1C2D3E4"], "recipient": 7}]})
    pids: Pids = Field(repr=False)
    recipient: Account = Field(description="The number of the account that may resolve them.")
    minutes: Annotated[int, Field(strict=True, ge=1, le=24 * 60)] = 15


class TempIds(Body):
    """TempIDs, in the order of the PIDs."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"temp_ids": ["MFRGGZDFMZTWQ2LKNNWG23TPOB"]}]})
    temp_ids: Annotated[list[TempId], Field(fail_fast=True, min_length=1, max_length=MOST_PIDS)] = Field(repr=False)


class PidsAnswer(BaseModel):
    """PIDs, in the order of the TempIDs."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"pids": ["A1C2D3E4"]}]})
    pids: list[str] = Field(repr=False)
