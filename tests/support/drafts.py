"""Drafts in tests: people who save, review and release them over REST."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi.testclient import TestClient
from httpx import Response

from kohorte.service.context import Service
from kohorte.service.permissions import Role
from support.projects import patients, release, store_dataset
from support.service import Person, new_person_with

DRAFTS = "/api/v1/drafts"


@dataclass(frozen=True)
class Desk:
    """A service with a table, and one person for each part in a review."""

    service: Service
    client: TestClient
    steward: Person
    approver: Person
    officer: Person
    researcher: Person
    dataset_id: int

    @classmethod
    def of(cls, service: Service, client: TestClient) -> Desk:
        """Create the people and the table."""
        roles = (Role.STEWARD, Role.APPROVER, Role.DATA_PROTECTION_OFFICER, Role.RESEARCHER)
        people = [new_person_with(service, client, role) for role in roles]
        return cls(service, client, *people, store_dataset(service, patients(), people[0].user_id))

    def content(self, k: int = 5, **more: Any) -> dict[str, Any]:
        """What a steward saves."""
        config = release(k, person="none")
        return {"name": "Heart", "researcher_id": self.researcher.user_id, "config": config, "comment": "", **more}

    def save(self, k: int = 5, *, by: Person | None = None, **more: Any) -> int:
        """Save a new draft, and return its number."""
        body = {**self.content(k, **more), "dataset_id": self.dataset_id}
        answer = self.client.post(DRAFTS, json=body, headers=(by or self.steward).headers)
        assert answer.status_code == 201, answer.text
        return int(answer.json()["draft_id"])

    def change(self, draft: int, revision: int, k: int = 5, *, by: Person | None = None, **more: Any) -> Response:
        """Save a new version."""
        body = {**self.content(k, **more), "revision": revision}
        return self.client.put(f"{DRAFTS}/{draft}", json=body, headers=(by or self.steward).headers)

    def step(self, draft: int, step: str, by: Person, revision: int = 1, comment: str = "") -> Response:
        """Submit, sign, return or release a draft."""
        body = {"revision": revision, "comment": comment}
        return self.client.post(f"{DRAFTS}/{draft}/{step}", json=body, headers=by.headers)

    def submitted(self, k: int = 5, **more: Any) -> int:
        """Save a draft and submit it."""
        draft = self.save(k, **more)
        answer = self.step(draft, "submit", self.steward)
        assert answer.status_code == 200, answer.text
        return draft

    def shown(self, draft: int, by: Person | None = None) -> dict[str, Any]:
        """The draft as somebody sees it."""
        answer = self.client.get(f"{DRAFTS}/{draft}", headers=(by or self.steward).headers)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


def code(answer: Response) -> tuple[int, str]:
    """Status and code of a refusal."""
    return answer.status_code, answer.json().get("code", "")
