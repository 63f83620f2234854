from __future__ import annotations

import json
import logging

import pytest
from fastapi.testclient import TestClient

from .conftest import SECRET


def test_a_request_is_one_line_without_what_was_said(plain: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="kohorte.requests"):
        answer = plain.post(
            f"/body?name={SECRET}",
            json={"number": 1, "anything": SECRET},
            headers={"X-Request-ID": SECRET, "User-Agent": SECRET, "Authorization": f"Bearer {SECRET}"},
        )
    (record,) = [one for one in caplog.records if one.name == "kohorte.requests"]
    line = json.loads(record.message)
    assert set(line) == {"time", "method", "route", "status", "milliseconds", "user_id", "request_id"}
    assert (line["method"], line["route"], line["status"], line["user_id"]) == ("POST", "/body", 200, None)
    assert line["request_id"] == answer.headers["x-request-id"] != SECRET
    assert SECRET not in record.message


@pytest.mark.parametrize(
    ("path", "route"),
    [
        (f"/raise/{SECRET}", "/raise/{name}"),
        (f"/api/v1/datasets/{SECRET}", "/api/v1/datasets/{dataset_id}"),
        (f"/{SECRET}", "-"),
        ("/api/v1/health", "/api/v1/health"),
    ],
)
def test_the_route_is_logged_as_it_is_written(
    plain: TestClient, caplog: pytest.LogCaptureFixture, path: str, route: str
) -> None:
    with caplog.at_level(logging.INFO, logger="kohorte.requests"):
        plain.get(path)
    (record,) = [one for one in caplog.records if one.name == "kohorte.requests"]
    assert json.loads(record.message)["route"] == route


def test_a_made_up_method_is_not_repeated(plain: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="kohorte.requests"):
        plain.request(SECRET, "/body")
    (record,) = [one for one in caplog.records if one.name == "kohorte.requests"]
    assert json.loads(record.message)["method"] == "other"


def test_every_request_has_an_id_of_its_own(plain: TestClient) -> None:
    assert len({plain.get("/api/v1/health").headers["x-request-id"] for _ in range(5)}) == 5
