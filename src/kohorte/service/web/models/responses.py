"""Response bodies that several routes share: users and jobs."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from kohorte.service.jobs.queue import Kind, State
from kohorte.service.permissions import Role

JANE: dict[str, Any] = {
    "email_address": "jane@example.com",
    "institution": "Fraunhofer IOSB",
    "name": "Jane Doe",
    "privileged_status": False,
}
ROLES: dict[str, Any] = {"roles": ["researcher"]}
USER: dict[str, Any] = {
    **JANE,
    **ROLES,
    "created_at": "2020-09-30T19:06:00.909045+00:00",
    "disabled": False,
    "user_id": 3,
    "certificate": None,
}
JOB: dict[str, Any] = {
    "job_id": 7,
    "kind": "anonymize",
    "state": "running",
    "progress": 0.42,
    "message": "searching: 1,204 of 3,600 settled",
    "attempt": 1,
    "subject_kind": "project",
    "subject_id": 4,
    "dataset_id": 1,
    "project_id": 4,
    "created_at": "2020-10-01T10:18:03.374430+00:00",
    "started_at": "2020-10-01T10:18:03.401377+00:00",
    "ended_at": None,
    "result": None,
    "problem": None,
}


class UserAnswer(BaseModel):
    """A user."""

    model_config = ConfigDict(json_schema_extra={"examples": [USER]})
    created_at: str
    disabled: bool
    email_address: str
    institution: str
    name: str
    privileged_status: bool = Field(description="Whether the user is a steward.")
    roles: list[Role] = Field(description="What the user may do; see the table of roles in docs/rest.md.")
    user_id: int
    certificate: str | None = Field(
        default=None, description="The fingerprint of the certificate of an account that is another service."
    )


class JobAnswer(BaseModel):
    """A job: work in the background."""

    model_config = ConfigDict(json_schema_extra={"examples": [JOB]})
    job_id: int
    kind: Kind
    state: State
    progress: float = Field(description="The share that is done, from 0 to 1.")
    message: str = Field(description="The current step.")
    attempt: int = Field(description="The number of attempts; a job whose worker died is tried again.")
    subject_kind: str = Field(description="The kind of object of the job: `dataset`, `project` or another.")
    subject_id: int | None = Field(description="The id of that object, if there can be several.")
    dataset_id: int | None
    project_id: int | None
    created_at: str
    started_at: str | None
    ended_at: str | None
    result: dict[str, Any] | None
    problem: dict[str, Any] | None = Field(
        description="Why the job failed; its `detail` only for those who may see datasets."
    )
