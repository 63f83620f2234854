"""What several routes answer with: users and jobs."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from kohorte.service.jobs.queue import Kind, State

JANE: dict[str, Any] = {
    "email_address": "jane@example.com",
    "institution": "Fraunhofer IOSB",
    "name": "Jane Doe",
    "privileged_status": False,
}
USER: dict[str, Any] = {**JANE, "created_at": "2020-09-30T19:06:00.909045+00:00", "disabled": False, "user_id": 3}
JOB: dict[str, Any] = {
    "job_id": 7,
    "kind": "anonymize",
    "state": "running",
    "progress": 0.42,
    "message": "searching: 1,204 of 3,600 settled",
    "attempt": 1,
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
    privileged_status: bool
    user_id: int


class JobAnswer(BaseModel):
    """A job: work that takes longer than a request should."""

    model_config = ConfigDict(json_schema_extra={"examples": [JOB]})
    job_id: int
    kind: Kind
    state: State
    progress: float = Field(description="How much is done, from 0 to 1.")
    message: str = Field(description="What is being done.")
    attempt: int = Field(description="How many workers have tried; one that died is followed by another.")
    dataset_id: int
    project_id: int | None
    created_at: str
    started_at: str | None
    ended_at: str | None
    result: dict[str, Any] | None
    problem: dict[str, Any] | None = Field(description="Why the job failed; its `detail` is for data stewards.")
