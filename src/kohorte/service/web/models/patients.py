"""Request and response bodies of the patient list."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StringConstraints

from kohorte.service.web.models.requests import Body

MOST_PEOPLE = 2_000
MOST_RECORDS = 1_000
ANNA: dict[str, Any] = {
    "first_names": "Anna",
    "last_name": "Eichhorst",
    "birth_date": "1960-12-30",
    "sex": "f",
    "postcode": "01067",
    "place": "Dresden",
    "insurance_number": "A123456789",
}
CASE: dict[str, Any] = {
    "case": 17,
    "pid": "A1C2D3E4",
    "other_pid": "F5G6H7J8",
    "weight": 9.31,
    "levels": {"last name": "different", "first name": "equal", "birth date": "equal"},
    "opened": "2026-12-01T09:30:00",
}
Value = Annotated[str, StringConstraints(max_length=200)]
Pid = Annotated[str, StringConstraints(min_length=1, max_length=40)]
PIDS: dict[str, Any] = {"pid": "A1C2D3E4", "other_pid": "F5G6H7J8"}


class Person(Body):
    """A description of a person; a field that is not known is left out."""

    model_config = ConfigDict(json_schema_extra={"examples": [ANNA]})
    first_names: Value = Field(default="", repr=False)
    last_name: Value = Field(default="", repr=False)
    birth_name: Value = Field(default="", repr=False)
    birth_date: Value = Field(default="", repr=False)
    sex: Value = Field(default="", repr=False)
    postcode: Value = Field(default="", repr=False)
    place: Value = Field(default="", repr=False)
    insurance_number: Value = Field(default="", repr=False)


class People(Body):
    """People to register."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"people": [ANNA]}]})
    people: Annotated[list[Person], Field(fail_fast=True, min_length=1, max_length=MOST_PEOPLE)] = Field(repr=False)
    temp_ids_for: Annotated[int, Field(strict=True, ge=1, le=2**31 - 1)] | None = Field(
        default=None, description="The number of an account: it can resolve the TempIDs that are given instead of PIDs."
    )
    dry_run: StrictBool = Field(
        default=False, description="Compare and store nothing; only for those who may see the list."
    )


class Registration(BaseModel):
    """The PID of a person, or a TempID if these were asked for; both null if the description says too little."""

    pid: str | None
    temp_id: str | None = None
    outcome: Literal["new", "known", "grey", "insufficient", "registered"] = Field(
        description="For trustees new, known, grey or insufficient; for sources registered or insufficient."
    )


class RegistrationsAnswer(BaseModel):
    """What became of the people, in their order."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"registrations": [{"pid": "A1C2D3E4", "temp_id": None, "outcome": "registered"}]}]
        }
    )
    registrations: list[Registration]


class CaseAnswer(BaseModel):
    """Two people who may be one, without their data."""

    model_config = ConfigDict(json_schema_extra={"examples": [CASE]})
    case: int
    pid: str
    other_pid: str
    weight: float = Field(description="How much the descriptions agree, in bits.")
    levels: dict[str, str] = Field(description="How each field agrees.")
    opened: str


class CasesAnswer(BaseModel):
    """A page of the open cases, those that agree most first."""

    cases: list[CaseAnswer]
    limit: int
    page: int
    total: int


class CaseSideBySide(CaseAnswer):
    """A case with the identity data of both people."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [CASE | {"this_record": ANNA, "other_records": [ANNA | {"last_name": "Bauer"}]}]}
    )
    this_record: dict[str, str] = Field(repr=False, description="The record that raised the question.")
    other_records: list[dict[str, str]] = Field(repr=False, description="All records of the other person.")


class Decision(Body):
    """The decision of a person about a case."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"verdict": "same"}]})
    verdict: Literal["same", "different"]


class TwoPids(BaseModel):
    """The PID that stays, and the other one."""

    model_config = ConfigDict(json_schema_extra={"examples": [PIDS]})
    pid: str
    other_pid: str


class Merge(Body):
    """Two PIDs that stand for one person; the first stays."""

    model_config = ConfigDict(json_schema_extra={"examples": [PIDS]})
    pid: Pid
    other_pid: Pid


class Split(Body):
    """Records of a person, by their numbers in the history, that are about somebody else."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"pid": "A1C2D3E4", "records": [2]}]})
    pid: Pid
    records: Annotated[
        list[Annotated[int, Field(strict=True, ge=1, le=2**31 - 1)]],
        Field(fail_fast=True, min_length=1, max_length=MOST_RECORDS),
    ]


class OnePid(Body):
    """A PID; it is in the body, because URLs are logged."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"pid": "A1C2D3E4"}]})
    pid: Pid


class HistoryAnswer(BaseModel):
    """What happened to a PID, without identity data."""

    pid: str
    joined: list[str]
    records: list[dict[str, Any]]
    events: list[dict[str, Any]]


class VersionAnswer(BaseModel):
    """The current version of a key."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"key_version": 2}]})
    key_version: int
