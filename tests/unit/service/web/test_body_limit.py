from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from .conftest import Open

SIGNED = {"Authorization": "Bearer x", "Content-Type": "application/json"}
LIMIT = 200_000


def in_parts(size: int) -> Iterator[bytes]:
    for _ in range(0, size, 10_000):
        yield b" " * 10_000


def test_a_body_that_says_that_it_is_too_large_is_refused(open_client: Open) -> None:
    client = open_client(body_limit=LIMIT)
    assert client.post("/body", content=b" " * (LIMIT + 1), headers=SIGNED).status_code == 413
    assert client.post("/body", content=b" " * LIMIT, headers=SIGNED).status_code == 400


def test_a_body_that_does_not_say_its_size_is_counted(open_client: Open) -> None:
    client = open_client(body_limit=LIMIT)
    refused = client.post("/body", content=in_parts(LIMIT + 10_000), headers=SIGNED)
    assert (refused.status_code, refused.json()["code"]) == (413, "body-too-large")
    assert client.post("/body", content=in_parts(LIMIT), headers=SIGNED).status_code == 400


@pytest.mark.parametrize("in_one", [True, False])
def test_a_stranger_cannot_make_the_server_read_much(plain: TestClient, in_one: bool) -> None:
    content = b" " * 100_000 if in_one else in_parts(100_000)
    refused = plain.post(
        "/api/v1/datasets/1/analyze-risk", content=content, headers={"Content-Type": "application/json"}
    )
    assert (refused.status_code, refused.json()["code"]) == (401, "not-signed-in")


def test_signing_in_with_a_large_body_is_refused_for_its_size(plain: TestClient) -> None:
    refused = plain.post("/api/v1/login", content=b" " * 100_000, headers={"Content-Type": "application/json"})
    assert refused.status_code == 413


def test_only_an_upload_may_be_larger(open_client: Open) -> None:
    client = open_client(body_limit=LIMIT, upload_limit=10 * LIMIT)
    large = b" " * (2 * LIMIT)
    assert client.post("/api/v1/datasets", content=large, headers=SIGNED).status_code == 401  # x is no token
    assert client.post("/api/v1/projects", content=large, headers=SIGNED).status_code == 413


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate, gzip", "zstd"])
def test_a_compressed_body_is_not_read(plain: TestClient, encoding: str) -> None:
    answer = plain.post("/body", json={"number": 1}, headers={"Content-Encoding": encoding})
    assert (answer.status_code, answer.json()["code"]) == (415, "body-content-encoding")
    assert plain.post("/body", json={"number": 1}, headers={"Content-Encoding": "identity"}).status_code == 200


def test_a_size_that_is_no_number_does_not_help(plain: TestClient) -> None:
    answer = plain.post("/body", content=b"{}", headers={"Content-Length": "many", "Content-Type": "application/json"})
    assert answer.status_code == 400
