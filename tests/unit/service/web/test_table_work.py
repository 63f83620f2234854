"""Work on whole tables: a few at a time, and everybody else goes on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fastapi.testclient import TestClient

from kohorte.errors import InputError
from kohorte.service.datasets import hierarchies, proposal, transformations
from kohorte.service.projects import store
from kohorte.service.web.app import THREADS
from kohorte.service.web.execution.table_work import AT_ONCE
from support.projects import release
from support.service import Person, on_sqlite

REDACTION = {"transformation_type": "redaction", "attribute_name": "zip"}
PROJECT = {"name": "p", "description": "", "dataset_id": 1, "researcher_id": 1, "config": release()}
HEAVY = {
    "proposal": (proposal, "propose", "GET", "/datasets/1/proposal", None),
    "making": (transformations, "transformed", "POST", "/datasets/1/create-generalization-hierarchy", REDACTION),
    "storing": (hierarchies, "store", "PUT", "/datasets/1/hierarchies/zip", {"hierarchy": [["1", "*"]]}),
    "project": (store, "create", "POST", "/projects", PROJECT),
}


class Slow:
    """Work that ends when it may."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.may_end = threading.Event()
        self.running = self.most = 0
        self._lock = threading.Lock()

    def __call__(self, *_: Any, **__: Any) -> None:
        with self._lock:
            self.running += 1
            self.most = max(self.most, self.running)
        self.begun.release()
        self.may_end.wait(20)
        with self._lock:
            self.running -= 1
        raise InputError("it was slow, and then refused", code="dataset-conflict")


@pytest.fixture
def slow() -> Iterator[Slow]:
    work = Slow()
    yield work
    work.may_end.set()


@pytest.mark.slow
@on_sqlite
@pytest.mark.parametrize("name", HEAVY)
def test_others_are_answered_while_many_ask_for_heavy_work(
    client: TestClient, steward: Person, slow: Slow, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    module, function, method, path, body = HEAVY[name]
    monkeypatch.setattr(module, function, slow)
    with ThreadPoolExecutor(THREADS + 3) as pool:
        asked = [
            pool.submit(client.request, method, f"/api/v1{path}", json=body, headers=steward.headers)
            for _ in range(THREADS + 2)
        ]
        try:
            assert all(slow.begun.acquire(timeout=60) for _ in range(AT_ONCE))
            other = pool.submit(client.get, "/api/v1/users/me", headers=steward.headers)
            assert other.result(timeout=60).status_code == 200
        finally:
            slow.may_end.set()
        answers = [one.result(timeout=60).status_code for one in asked]
    assert (slow.most, set(answers)) == (AT_ONCE, {409})
