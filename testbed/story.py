"""What a steward does before anything can be measured: a dataset, a researcher, projects."""

from __future__ import annotations

from typing import Any

import httpx

from testbed.running import PASSWORD, RESEARCHER


def researcher(steward: httpx.Client) -> int:
    """Make the researcher, and return the number."""
    body = {**RESEARCHER, "password": PASSWORD, "privileged_status": False}
    return int(_created(steward.post("/users", json=body))["user_id"])


def dataset(steward: httpx.Client, content: bytes, *, name: str = "Patients") -> int:
    """Upload a table, and return the number of the dataset."""
    files = {"file": ("patients.csv", content, "text/csv")}
    answer = steward.post("/datasets", files=files, data={"name": name, "description": "Made-up patients"})
    return int(_created(answer)["dataset_id"])


def project(steward: httpx.Client, dataset_id: int, researcher_id: int, config: dict[str, Any]) -> int:
    """Make a project, and return its number."""
    return int(_created(asked_for(steward, dataset_id, researcher_id, config))["project_id"])


def asked_for(steward: httpx.Client, dataset_id: int, researcher_id: int, config: dict[str, Any]) -> httpx.Response:
    """Ask for a project."""
    body = {
        "name": "Patients",
        "description": "Made-up patients",
        "dataset_id": dataset_id,
        "researcher_id": researcher_id,
        "config": config,
    }
    return steward.post("/projects", json=body)


def _created(answer: httpx.Response) -> dict[str, Any]:
    if answer.status_code != httpx.codes.CREATED:
        raise RuntimeError(f"expected 201, got {answer.status_code}: {answer.text}")
    created: dict[str, Any] = answer.json()
    return created
