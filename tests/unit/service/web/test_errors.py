from __future__ import annotations

import logging

import pytest
from fastapi.testclient import TestClient

from .conftest import RAISED, SECRET

STATUS = {
    "input": 400,
    "large": 413,
    "conflict": 409,
    "type": 415,
    "unknown": 401,
    "forbidden": 403,
    "missing": 404,
    "locked": 429,
    "budget": 403,
    "unsolvable": 422,
    "violation": 409,
    "engine": 500,
    "bug": 500,
    "surprise": 500,
    "deep": 400,
}
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("name", RAISED)
def test_every_error_becomes_a_problem_with_its_status(plain: TestClient, name: str) -> None:
    answer = plain.get(f"/raise/{name}")
    told = answer.json()
    assert answer.status_code == told["status"] == STATUS[name]
    assert answer.headers["content-type"] == "application/problem+json"
    assert {"type", "title", "detail", "code"} <= set(told)


def test_who_is_not_signed_in_learns_how(plain: TestClient) -> None:
    assert plain.get("/raise/unknown").headers["www-authenticate"] == "Bearer"


def test_who_has_to_wait_learns_how_long(plain: TestClient) -> None:
    assert plain.get("/raise/locked").headers["retry-after"] == "42"


@pytest.mark.parametrize("name", ["engine", "bug", "surprise"])
def test_what_failed_underneath_is_logged_without_its_words_and_not_told(
    plain: TestClient, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        answer = plain.get(f"/raise/{name}")
    assert SECRET not in answer.text + caplog.text
    (record,) = [one for one in caplog.records if one.name == "kohorte.service"]
    assert answer.headers["x-request-id"] in record.message
    assert answer.json()["code"] in ("service-database", "unexpected", "internal")


def test_a_wrong_body_is_refused_with_all_places_and_without_its_values(plain: TestClient) -> None:
    body = {"number": SECRET, "choice": {"kind": SECRET}, "strange": SECRET, SECRET * 20: 1}
    answer = plain.post("/body", json=body)
    told = answer.json()
    assert answer.status_code == 400
    assert told["code"] == "invalid-request"
    assert [one["place"] for one in told["errors"]] == ["body.number", "body.choice", "body.strange", "body...."]
    assert all(one["reason"] for one in told["errors"])
    assert SECRET not in answer.text


def test_of_very_many_wrong_places_some_are_named(plain: TestClient) -> None:
    answer = plain.post("/body", json={"number": 1, **{f"x{number}": 1 for number in range(1000)}})
    assert answer.status_code == 400
    assert len(answer.json()["errors"]) == 20


def test_json_that_ends_early_is_refused_with_its_place(plain: TestClient) -> None:
    answer = plain.post("/body", content=b'{"number": 1,', headers=JSON)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["place"] == "body"
    assert "character" in answer.json()["errors"][0]["reason"]


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 30_000,
        b'{"number":' * 6_000,
        b'{"number": 1, "anything": ' + b"[" * 20_000 + b"]" * 20_000 + b"}",
        b"\xff\xfe",
        b'{"number": "\xff"}',
        b"",
        b"null",
        b"9" * 5_000,
        b'{"number": ' + b"9" * 5_000 + b"}",
    ],
    ids=["brackets", "objects", "deep but whole", "no UTF-8", "bad text", "empty", "null", "huge", "huge number"],
)
def test_strange_json_is_refused(plain: TestClient, content: bytes) -> None:
    answer = plain.post("/body", content=content, headers=JSON)
    assert answer.status_code == 400, answer.text
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "multipart/form-data", "text/yaml", "/", ""])
def test_a_wrong_content_type_is_refused(plain: TestClient, kind: str) -> None:
    answer = plain.post("/body", content=b'{"number": 1}', headers={"Content-Type": kind})
    assert answer.status_code in (400, 415)


def test_what_is_not_there_and_methods_that_are_not_there_are_problems(plain: TestClient) -> None:
    missing, method = plain.get("/api/v1/nothing"), plain.delete("/api/v1/health")
    assert (missing.status_code, missing.json()["code"]) == (404, "not-found")
    assert (method.status_code, method.json()["code"]) == (405, "method-not-allowed")
    assert method.headers["allow"] == "GET, HEAD"


def test_a_refused_method_names_all_methods_of_the_address(plain: TestClient) -> None:
    assert plain.put("/api/v1/users").headers["allow"] == "GET, POST"
    assert plain.post("/api/v1/users/1").headers["allow"] == "DELETE, GET, PATCH"
    assert plain.post("/api/v1/users/me").headers["allow"] == "GET"
