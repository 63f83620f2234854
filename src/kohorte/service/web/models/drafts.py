"""Request and response bodies of drafts."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from kohorte.service.reviews.rows import DraftState, StepKind
from kohorte.service.web.models.projects import RISK_EXAMPLE, Config, Id, Name
from kohorte.service.web.models.requests import Body

Comment: TypeAlias = Annotated[str, StringConstraints(max_length=10_000)]
REVISION = Field(description="The version that you have seen; 409 `draft-changed-conflict` if there is a newer one.")
SAVED: dict[str, Any] = {"name": "Heart Diseases", "researcher_id": 3, "config": RISK_EXAMPLE, "comment": "First try"}


class DraftBody(Body):
    """A draft to save."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**SAVED, "dataset_id": 1}]})
    name: Name
    dataset_id: Id
    researcher_id: Id
    config: Config
    comment: Comment = ""


class DraftChange(Body):
    """A new version of a draft."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**SAVED, "revision": 1}]})
    revision: Annotated[Id, REVISION]
    name: Name
    researcher_id: Id
    config: Config
    comment: Comment = ""


class DraftStep(Body):
    """A step of a version of a draft."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"revision": 1, "comment": "k = 5 is enough here"}]})
    revision: Annotated[Id, REVISION]
    comment: Comment = ""


class Withdrawal(Body):
    """Why a release is withdrawn."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"comment": "The table has wrong dates of birth"}]})
    comment: Comment = ""


class PersonAnswer(BaseModel):
    """Somebody who has a part in a draft."""

    user_id: int
    name: str


class DraftInList(BaseModel):
    """A draft in a list."""

    draft_id: int
    name: str
    state: DraftState
    revision: int = Field(description="The number of the present version.")
    dataset_id: int
    dataset_name: str
    researcher: PersonAnswer = Field(description="Who gets the release.")
    author: PersonAnswer
    editor: PersonAnswer = Field(description="Who has saved the present version.")
    created_at: str
    changed_at: str
    submitted_at: str | None
    project_id: int | None = Field(description="The project with the release.")


class DraftsAnswer(BaseModel):
    """A page of drafts."""

    drafts: list[DraftInList]
    limit: int
    page: int
    total: int


class StepAnswer(BaseModel):
    """What somebody did with a version of a draft."""

    kind: StepKind
    revision: int
    user_id: int
    name: str = Field(description="The name of the person at that time.")
    at: str
    comment: str
    plan_sha256: str = Field(description="The hash of the plan without values, as the certificate shows it.")
    table_sha256: str | None = Field(description="The hash of the table, once the version was submitted.")
    certificate_sha256: str | None = Field(description="For signatures that count: the certificate of the release.")
    counts: bool | None = Field(description="For signatures: whether they count for the present version.")


class DifferenceAnswer(BaseModel):
    """One change since the last version that was reviewed; hierarchies and other values are not shown."""

    kind: str
    about: str
    before: str | None
    after: str | None


class DraftAnswer(DraftInList):
    """A draft with everything that a reviewer decides by."""

    attributes: list[dict[str, Any]]
    privacy_models: list[dict[str, Any]]
    suppression_limit: float | None
    person: str | list[str] | dict[str, Any] | None = None
    linked_by: str | None = None
    title: str | None = None
    purpose: str | None = None
    recipient: str | None = None
    person_because: str | None = None
    plan_sha256: str = Field(description="The hash of the plan without values, as the certificate shows it.")
    table_sha256: str | None
    reviewed_revision: int | None = Field(description="The last version that was signed or returned before this one.")
    difference: list[DifferenceAnswer] | None = Field(description="What has changed since then.")
    figures: dict[str, Any] | None = Field(
        description="What the version would release, computed on submission; no rows."
    )
    steps: list[StepAnswer]
    signatures_needed: int
    signatures: int = Field(description="Signatures that count for the present version.")
    project_state: str | None
    can: list[str] = Field(description="What the caller can do with the draft now.", examples=[["sign", "return"]])
    config: dict[str, Any] | None = Field(description="The whole config, only for those who may see values.")


class ReleasedDraft(BaseModel):
    """The project of a draft, and the job that makes its release."""

    draft_id: int
    project_id: int
    job_id: int
    warnings: list[str]
