"""Headers of every answer, and that no other origin may read one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fastapi.testclient import TestClient

from kohorte.service.settings import Settings
from support.service import client_of, new_service

EXPECTED = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
JSON = {"Content-Type": "application/json"}
REQUESTS = {
    "ok": ("GET", "/api/v1/health", {}),
    "page": ("GET", "/docs", {}),
    "asset": ("GET", "/docs/assets/swagger-ui-bundle.js", {}),
    "description": ("GET", "/openapi.json", {}),
    "not there": ("GET", "/nothing", {}),
    "outside": ("GET", "/docs/assets/..%2f..%2fcore.py", {}),
    "not signed in": ("GET", "/api/v1/users", {}),
    "bad token": ("GET", "/api/v1/users", {"headers": {"Authorization": "Bearer x"}}),
    "wrong method": ("DELETE", "/api/v1/login", {}),
    "wrong body": ("POST", "/api/v1/login", {"json": {"a": 1}}),
    "no JSON": ("POST", "/api/v1/login", {"content": b"[" * 50_000, "headers": JSON}),
    "no number": ("POST", "/api/v1/login", {"content": b"NaN", "headers": JSON}),
    "too large": ("POST", "/api/v1/login", {"content": b" " * 100_000, "headers": JSON}),
    "compressed": ("POST", "/api/v1/login", {"content": b"", "headers": {"Content-Encoding": "gzip"}}),
    "preflight": ("OPTIONS", "/api/v1/login", {}),
}


@pytest.fixture
def one_client(tmp_path: Path) -> Iterator[TestClient]:
    """The service on SQLite: headers do not depend on the database."""
    with new_service(Settings.load(tmp_path / "service", {})) as service, client_of(service) as client:
        yield client


@pytest.mark.parametrize("name", REQUESTS)
def test_every_answer_has_the_headers(one_client: TestClient, name: str) -> None:
    method, path, options = REQUESTS[name]
    answer = one_client.request(method, path, **options)  # type: ignore[arg-type]
    assert answer.status_code < 500
    assert {key: answer.headers[key] for key in EXPECTED} == EXPECTED
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert len(answer.headers["x-request-id"]) == 32
    assert "server" not in answer.headers
    assert "strict-transport-security" not in answer.headers


def test_no_policy_allows_inline_script_or_another_origin(one_client: TestClient) -> None:
    for path in ("/docs", "/openapi.json", "/api/v1/health"):
        policy = one_client.get(path).headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "http" not in policy
        assert "*" not in policy


def test_another_origin_gets_no_permission(one_client: TestClient) -> None:
    origin = {"Origin": "https://elsewhere.example"}
    preflight = {**origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    answers: list[httpx.Response] = [
        one_client.options("/api/v1/login", headers=preflight),
        one_client.options("/api/v1/projects/1/analyze", headers=preflight),
        one_client.get("/api/v1/health", headers=origin),
        one_client.get("/nothing", headers=origin),
    ]
    assert answers[0].status_code == 405
    for answer in answers:
        assert not [name for name in answer.headers if name.lower().startswith("access-control")]


def test_behind_a_proxy_browsers_are_told_to_use_tls(tmp_path: Path) -> None:
    settings = Settings.load(tmp_path / "service", {}, behind_proxy=True)
    with new_service(settings) as service, client_of(service) as client:
        assert "max-age=" in client.get("/api/v1/health").headers["strict-transport-security"]
        assert "max-age=" in client.get("/nothing").headers["strict-transport-security"]
