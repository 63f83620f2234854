"""Health for monitors: GET and HEAD answer with the same status, to anybody."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from kohorte.errors import EngineError
from kohorte.service.web.routes import health


@pytest.mark.parametrize("path", ["/health", "/api/v1/health"])
def test_head_answers_like_get_without_a_body(plain: TestClient, path: str) -> None:
    told, short = plain.get(path), plain.head(path)
    assert (told.status_code, told.json()["database"]) == (200, True)
    assert (short.status_code, short.content) == (200, b"")
    assert short.headers["content-type"] == told.headers["content-type"]


@pytest.mark.parametrize("path", ["/health", "/api/v1/health"])
def test_head_tells_that_the_database_does_not_answer(
    plain: TestClient, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(service: object) -> int:
        raise EngineError("no", code="service-database")

    monkeypatch.setattr(health, "workers_seen", fail)
    assert plain.get(path).status_code == 503
    assert (plain.head(path).status_code, plain.head(path).content) == (503, b"")
    assert plain.head("/api/v1/metrics").status_code == 404
