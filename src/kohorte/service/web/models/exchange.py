"""Bodies and answers of the release check."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from kohorte.service.web.models.requests import Body

Line = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Certificate = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
Fingerprint = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
Contacts = Annotated[list[Line], Field(fail_fast=True, max_length=20)]
Attributes = Annotated[list[Line], Field(fail_fast=True, min_length=1, max_length=100)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
ASKED: dict[str, Any] = {
    "purpose": "Effect of drug X by age",
    "attributes": ["age", "sex", "drug"],
    "condition": {"attribute": "drug", "is": "X"},
    "until": "2026-12-31",
}


class GivenStatistics(Body):
    """A table of frequencies as CSV text, and where it comes from."""

    name: Line = Field(examples=["diseases-at"])
    kind: Line | None = Field(default=None, examples=["disease"])
    source: Line
    licence: Line
    date: Line = Field(examples=["2024-12-31"])
    reference: Line = Field(examples=["inhabitants of Austria"])
    population: int | None = Field(default=None, ge=1, le=2**53)
    precision: Line | None = Field(default=None, description="How the figures are rounded, and what is an estimate.")
    layout: Line | None = Field(default=None, description="The layout of an official table, such as `icd10`.")
    table: str = Field(max_length=1 << 24, examples=["value,share\nE11,0.07\n"], description="The table as CSV.")

    def origin(self) -> dict[str, Any]:
        """Where the table comes from."""
        return self.model_dump(exclude={"layout", "table"})


class StatisticsAnswer(BaseModel):
    """Versions of tables."""

    versions: list[dict[str, Any]]


class ProblemsAnswer(BaseModel):
    """What is old or missing; empty if nothing is."""

    problems: list[str]


class IdentityAnswer(BaseModel):
    """By what other institutions know this house."""

    institution: str
    fingerprint: str
    certificate: str = Field(description="PEM.")


class GivenPeer(Body):
    """An institution for the address book; the fingerprint comes by another way than the certificate."""

    institution: Line
    address: Line = Field(examples=["https://exchange.hospital-b.example:8470"])
    certificate: Certificate
    fingerprint: Fingerprint
    contacts: Contacts = Field(default_factory=list)


class PeerName(Body):
    """The name of an institution."""

    institution: Line


class PeerAnswer(BaseModel):
    """An entry of the address book."""

    institution: str
    address: str
    fingerprint: str
    contacts: list[str]


class PeersAnswer(BaseModel):
    """The address book."""

    peers: list[PeerAnswer]


class GivenRequest(Body):
    """A request that came as a file."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "request": {
                        "kohorte": 1,
                        "requester": {"name": "Dr. Xaver Neumann", "institution": "Institute A"},
                        **ASKED,
                    }
                }
            ]
        }
    )
    request: dict[str, Any]


class QuestionToOthers(Body):
    """What this house asks another institution; the requester is the person who is signed in."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"to": "Hospital B", **ASKED}]})
    to: Line
    purpose: Line
    attributes: Attributes
    condition: dict[str, Any]
    until: Line

    def asked(self) -> dict[str, Any]:
        """The request without its requester."""
        return self.model_dump(exclude={"to"})


class SentAnswer(BaseModel):
    """A request that was sent: `state` is `waiting`, `delivered` or `refused`, and `code` says why."""

    number: str
    to: str
    state: str
    code: str


class SentRequests(BaseModel):
    """Requests that were sent."""

    sent: list[SentAnswer]


class RequestAnswer(BaseModel):
    """A request and how far it is; `check` is the hash of its latest check."""

    number: int = Field(examples=[1])
    institution: str
    requester: str
    proven: bool = Field(description="Whether the certificate of the institution proves who asks.")
    purpose: str
    until: str
    state: str = Field(examples=["received"])
    sha256: str
    check: str | None


class DecisionAnswer(BaseModel):
    """What a person decided about the latest check, when and why."""

    person: str = Field(examples=["user 7"])
    decision: str = Field(examples=["release"])
    reason: str
    at: str


class DecidedAnswer(RequestAnswer):
    """A request, who decided what about its latest check, and how many must agree to a release."""

    decisions: list[DecisionAnswer]
    deciders: int | None = Field(description="Null before the first check.")


class RequestsAnswer(BaseModel):
    """All requests, the newest first."""

    requests: list[DecidedAnswer]


class WholeRequest(DecidedAnswer):
    """A request with its content."""

    request: dict[str, Any]


class CheckWish(Body):
    """The table to check against, and its description as in `holding.yaml`, with the plan in it."""

    dataset_id: int = Field(ge=1, le=2**31 - 1)
    holding: dict[str, Any] = Field(
        examples=[{"kohorte": 1, "institution": "Hospital B", "plan": {}, "policy": "default", "population": 500000}]
    )


class RequestDecision(Body):
    """A decision about the check with this hash."""

    decision: Literal["release", "refuse"]
    check: Sha256
    reason: str = Field(default="", max_length=1000)


class AnsweredRequest(BaseModel):
    """Where the answer went: to an institution, or into files."""

    number: int
    to: str | None
    state: str = Field(examples=["delivered"])
    files: list[str]


class ReceivedAnswerModel(BaseModel):
    """An answer of another institution, verified."""

    number: str
    institution: str
    at: str
    released: bool
    files: list[str]


class ReceivedAnswersModel(BaseModel):
    """Answers of other institutions."""

    answers: list[ReceivedAnswerModel]
