"""A service with patient list and pseudonyms on SQLite, and one signed-in person for every role."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx import Response
from nacl.pwhash import argon2id

from kohorte.service.context import Service
from kohorte.service.permissions import Role
from kohorte.service.settings import Settings
from kohorte.service.trust.folders import make_folders
from kohorte.service.web.app import create_app
from kohorte.trust import passwords
from kohorte.trust.store import ENVIRONMENT
from support.service import Person, new_person_with, new_service


@dataclass
class House:
    """An opened service over HTTP; people are created when they are first needed."""

    service: Service
    client: TestClient
    people: dict[str, Person] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """The folder of the service."""
        return self.service.settings.folder

    def person(self, name: str) -> Person:
        """A person who is signed in; the name is a role, or a role and a number such as `approver 2`."""
        if name not in self.people:
            self.people[name] = new_person_with(self.service, self.client, Role(name.split(" ")[0]))
        return self.people[name]

    def ask(self, name: str, method: str, path: str, **options: Any) -> Response:
        """Send a request as a person."""
        return self.client.request(method, f"/api/v1{path}", headers=self.person(name).headers, **options)

    def post(self, name: str, path: str, body: Any = None, *, status: int = 200) -> Any:
        """Post as a person; return the body of the answer, whose status must be the expected one."""
        answer = self.ask(name, "POST", path, json=body)
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    def get(self, name: str, path: str, *, status: int = 200) -> Any:
        """Get as a person; return the body of the answer, whose status must be the expected one."""
        answer = self.ask(name, "GET", path)
        assert answer.status_code == status, answer.text
        return answer.json()


@contextmanager
def house_in(folder: Path, **settings: Any) -> Iterator[House]:
    """Open a service whose lists are in SQLite files, and hash passwords with little work meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "PASSES", argon2id.OPSLIMIT_MIN)
        patch.setattr(passwords, "MEMORY", argon2id.MEMLIMIT_MIN)
        patch.delenv(ENVIRONMENT, raising=False)
        loaded = Settings.load(folder, {}, **{"answer_seconds": 0.001, "logins_per_minute": 10_000} | settings)
        with new_service(loaded) as service:
            make_folders(loaded)
            yield House(service, TestClient(create_app(service)))
