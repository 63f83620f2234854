"""Uploads that are read: the tasks of the real worker, in a thread instead of a process."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx import Response

from kohorte.errors import KohorteError
from kohorte.service.context import Service
from kohorte.service.jobs.queue import State, claim
from kohorte.service.jobs.settlement import Outcome, settle
from kohorte.service.jobs.tasks import TASKS, Work
from kohorte.service.settings import Settings
from support.service import Person, client_of, new_person, new_service

TEXTS = {"name": "Heart Diseases", "description": "Heart diseases among German residents"}
PATIENTS = b"zip_code,age,disease\n81667,13,flu\n81668,28,gout\n81667,71,flu\n81668,,flu\n"


class Silent:
    def progress(self, share: float, message: str) -> None:
        pass

    def file(self, name: str) -> None:
        pass


@dataclass
class Steward:
    """A data steward at the interface of datasets."""

    client: TestClient
    headers: dict[str, str]

    def upload(self, content: bytes = PATIENTS, file_name: str = "patients.csv", **texts: str) -> Response:
        files = {"file": (file_name, content), "json": (None, json.dumps(TEXTS | texts), "application/json")}
        return self.client.post("/api/v1/datasets", files=files, headers=self.headers)

    def uploaded(self, content: bytes = PATIENTS, **texts: str) -> int:
        answer = self.upload(content, **texts)
        assert answer.status_code == 201, answer.text
        return int(answer.json()["dataset_id"])

    def post(self, path: str, **request: Any) -> Response:
        return self.client.post(f"/api/v1{path}", headers=self.headers | request.pop("headers", {}), **request)

    def get(self, path: str) -> Response:
        return self.client.get(f"/api/v1{path}", headers=self.headers)

    def put(self, path: str, **request: Any) -> Response:
        return self.client.put(f"/api/v1{path}", headers=self.headers | request.pop("headers", {}), **request)

    def patch(self, path: str, **request: Any) -> Response:
        return self.client.patch(f"/api/v1{path}", headers=self.headers, **request)

    def delete(self, path: str) -> Response:
        return self.client.delete(f"/api/v1{path}", headers=self.headers)


@pytest.fixture
def john(steward: Person, client: TestClient) -> Steward:
    """A steward whose uploads nobody reads."""
    return Steward(client, steward.headers)


@pytest.fixture
def reading(service: Service) -> Iterator[None]:
    """Somebody who reads what is uploaded."""
    with reading_of(service):
        yield


@dataclass(frozen=True)
class UploadService:
    """A service of its own, and a steward whose uploads are read."""

    service: Service
    steward: Steward


@pytest.fixture(scope="module")
def uploads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UploadService]:
    """One service on SQLite for a whole module, for what does not depend on the database."""
    settings = Settings.load(tmp_path_factory.mktemp("uploads") / "service", {})
    with new_service(settings) as service, client_of(service) as client, reading_of(service):
        yield UploadService(service, Steward(client, new_person(service, client, privileged=True).headers))


@contextmanager
def reading_of(service: Service) -> Iterator[None]:
    """Read what is uploaded to a service."""
    stop = threading.Event()
    thread = threading.Thread(target=_work, args=(service, stop))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@pytest.fixture
def mary(john: Steward, reading: None) -> Steward:
    """A steward whose uploads are read."""
    return john


def _work(service: Service, stop: threading.Event) -> None:
    while not stop.is_set():
        found = claim(service, "test")
        if found is None:
            stop.wait(0.01)
            continue
        work = Work(found.request, None, service.settings.most_cells, service.vault, Silent())
        try:
            done = TASKS[found.kind].run(work)
            outcome = Outcome(State.DONE, done.result, None, done.values)
        except KohorteError as error:
            outcome = Outcome.failed(error)
        settle(service, found, outcome)
