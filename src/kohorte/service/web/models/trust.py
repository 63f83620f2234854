"""Request and response bodies of domains, pseudonyms and the way back."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StrictBool, StringConstraints

from kohorte.pseudonyms.dates import MOST_DAYS
from kohorte.pseudonyms.definition import KeyState
from kohorte.pseudonyms.shape import LONGEST
from kohorte.service.trust.way_back import Wish
from kohorte.service.web.models.handing_over import PublicKeyText, recipient_of
from kohorte.service.web.models.requests import Body
from kohorte.trust.way_back import MOST_ITEMS

MOST_TEXTS = 10_000
ENVELOPE = "The result, sealed for the recipient: in Base64 what `kohorte envelope open` takes."
DOMAIN: dict[str, Any] = {
    "name": "study",
    "kind": "reversible",
    "alphabet": "0123456789ACDEFGHJKLMNPQRTUVWXYZ",
    "length": 1,
    "prefix": "",
    "check": "two",
    "parent": None,
    "exact": False,
    "numbered": False,
    "keep_format": False,
    "key_version": 1,
    "key_state": "usable",
}
REQUEST: dict[str, Any] = {
    "request": 1,
    "state": "open",
    "source": "domain study",
    "pseudonyms": 2,
    "purpose": "incidental finding, tell the treating physician",
    "until": "2026-12-24T23:59:59+00:00",
    "asked_by": "user 4",
    "asked_at": "2026-12-01T09:30:00+00:00",
    "approved_by": ["user 7"],
    "approvals_missing": 1,
    "declined_by": None,
    "shown_at": None,
}
Text = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
Pseudonym = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Days = Annotated[list[Annotated[str, StringConstraints(max_length=40)]], Field(fail_fast=True, max_length=1_000)]
Version = Annotated[int, Field(strict=True, ge=1, le=10**9)]


class NewDomain(Body):
    """A domain to make; what is left out is as usual for its kind."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "study", "kind": "reversible"}]})
    name: Word = Field(description="Small letters, digits, and _ . - after the first.")
    kind: Word = Field(description="`one-way`, `reversible` or `list`.")
    alphabet: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = Field(
        default=None, description="`unambiguous`, `digits`, `hexadecimal`, ..., or the characters themselves."
    )
    length: Annotated[int, Field(strict=True, ge=1, le=LONGEST)] | None = Field(
        default=None, description="Characters without prefix and check characters."
    )
    prefix: Annotated[str, StringConstraints(max_length=100)] = ""
    check: Word | None = Field(default=None, description="`two`, `none` or `pid`.")
    parent: Word | None = Field(default=None, description="The texts are pseudonyms of this domain, and are checked.")
    exact: StrictBool = Field(default=False, description="Whether blanks around a text count.")
    numbered: StrictBool = Field(default=False, description="Whether a list counts 1, 2, 3 instead of drawing.")
    keep_format: StrictBool = Field(default=False, description="Reversible: as long as the text, same alphabet.")


class DomainAnswer(BaseModel):
    """A domain: everything but its key."""

    model_config = ConfigDict(json_schema_extra={"examples": [DOMAIN]})
    name: str
    kind: str
    alphabet: str
    length: int
    prefix: str
    check: str
    parent: str | None
    exact: bool
    numbered: bool
    keep_format: bool
    key_version: int | None = Field(description="The current version of the key; null if the key was destroyed.")
    key_state: KeyState = Field(
        default=KeyState.USABLE,
        description="`lost`: the key file or a version in it is missing; `refused`: it is another key or was put back.",
    )


class OneDomainAnswer(DomainAnswer):
    """One domain."""

    model_config = ConfigDict(json_schema_extra={"examples": [DOMAIN | {"filled": None}]})
    filled: float | None = Field(description="For trustees how much of a list is taken, from 0 to 1; null for others.")


class DomainsAnswer(BaseModel):
    """All domains."""

    domains: list[DomainAnswer]


class Originals(Body):
    """Texts that get pseudonyms, such as PIDs."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"originals": ["A1C2D3E4", "F5G6H7J8"]}]})
    originals: Annotated[list[Text], Field(fail_fast=True, min_length=1, max_length=MOST_TEXTS)] = Field(repr=False)
    key_version: Version | None = Field(default=None, description="An old version of the key; default: the current.")
    dates: Annotated[list[Days], Field(fail_fast=True, max_length=MOST_TEXTS)] | None = Field(
        default=None, repr=False, description="The dates of each text, in the order of the texts."
    )
    within: Annotated[int, Field(strict=True, ge=1, le=MOST_DAYS)] = Field(
        default=365, description="Dates move by at most so many days."
    )
    date_format: Word | None = Field(
        default=None, description="How dates are written, such as `%d.%m.%Y`, if it is not certain."
    )


class ForgottenPseudonyms(Body):
    """Pseudonyms of a list whose link to people ends for good."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"pseudonyms": ["7K3MX9RT"]}]})
    pseudonyms: Annotated[list[Pseudonym], Field(fail_fast=True, min_length=1, max_length=MOST_TEXTS)] = Field(
        repr=False
    )


class DestroyedKey(Body):
    """The key that is destroyed for good; the name of the domain is repeated, so that it is not done by mistake."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"domain": "study"}]})
    domain: Word = Field(description="The name of the domain, once more.")
    key_version: Version | None = Field(default=None, description="Only this old version; default: the whole key.")


class PseudonymsAnswer(BaseModel):
    """Pseudonyms in the order of the texts; null for a text of blanks."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"domain": "study", "key_version": 1, "pseudonyms": ["7K3MX9RT", "Q4W8ZC2H"]}]}
    )
    domain: str
    key_version: int
    pseudonyms: list[str | None] = Field(repr=False)
    dates: list[list[str | None]] | None = Field(
        default=None, repr=False, description="The dates of each text, moved; null without dates in the request."
    )


class _Question(Body):
    """What every request for the way back says: for what purpose, until when, and perhaps for whom alone."""

    purpose: Annotated[str, StringConstraints(max_length=2_000)]
    until: AwareDatetime | date = Field(description="When the request expires; a date counts to its end in UTC.")
    recipient: PublicKeyText | None = Field(
        default=None, description="The content of a .pub file: the result is only for this key, and approvers see that."
    )

    @property
    def wish(self) -> Wish:
        """What is asked for."""
        until = self.until
        end = until if isinstance(until, datetime) else datetime.combine(until, time.max, tzinfo=UTC)
        return Wish(self.purpose, end, recipient_of(self.recipient))


class WayBackQuestion(_Question):
    """A request for the way back of some pseudonyms."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "domain": "study",
                    "pseudonyms": ["7K3MX9RT"],
                    "purpose": "incidental finding, tell the treating physician",
                    "until": "2026-12-24",
                }
            ]
        }
    )
    domain: Word
    pseudonyms: Annotated[list[Pseudonym], Field(fail_fast=True, min_length=1, max_length=MOST_ITEMS)] = Field(
        repr=False
    )
    key_version: Version | None = Field(
        default=None, description="The version of the key that made the pseudonyms, if it must be said."
    )


class PeopleQuestion(_Question):
    """A request to learn who some PIDs are."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"pids": ["A1C2D3E4"], "purpose": "incidental finding, call the patient", "until": "2026-12-24"}
            ]
        }
    )
    pids: Annotated[list[Word], Field(fail_fast=True, min_length=1, max_length=MOST_ITEMS)] = Field(repr=False)


class WayBackAnswer(BaseModel):
    """A request for the way back, without the pseudonyms."""

    model_config = ConfigDict(json_schema_extra={"examples": [REQUEST]})
    request: int
    state: str = Field(description="`open`, `approved`, `declined`, `shown` or `expired`.")
    source: str
    pseudonyms: int = Field(description="How many pseudonyms or PIDs the request is about.")
    purpose: str
    until: str
    asked_by: str
    asked_at: str
    approved_by: list[str]
    approvals_missing: int
    declined_by: str | None
    shown_at: str | None


class WayBackRequests(BaseModel):
    """A page of requests, the newest first."""

    requests: list[WayBackAnswer]
    limit: int
    page: int
    total: int


class Revealed(BaseModel):
    """A pseudonym and what it stands for; null if it is unknown in its domain."""

    pseudonym: str = Field(repr=False)
    original: str | None = Field(repr=False)


class WayBackResult(BaseModel):
    """The result of a request; it is shown once."""

    request: int
    found: list[Revealed] | None = Field(description="Null if the result is in the envelope.")
    unknown: int = Field(description="How many pseudonyms are unknown in their domain.")
    envelope: str | None = Field(default=None, description=ENVELOPE, repr=False)


class RevealedPerson(BaseModel):
    """A PID and the latest description of the person; null if no person of the list has it."""

    pid: str = Field(repr=False)
    person: dict[str, str] | None = Field(repr=False)


class PeopleResult(BaseModel):
    """The people of a request; they are shown once."""

    request: int
    found: list[RevealedPerson] | None = Field(description="Null if the people are in the envelope.")
    unknown: int = Field(description="How many PIDs nobody of the list has, or nobody who agreed.")
    envelope: str | None = Field(default=None, description=ENVELOPE, repr=False)


class Notices(BaseModel):
    """What happened since the officer last looked."""

    notices: list[dict[str, Any]]
