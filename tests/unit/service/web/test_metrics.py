from __future__ import annotations

from datetime import timedelta
from unittest.mock import ANY

import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import insert

from kohorte.service.context import Service
from kohorte.service.storage.schema import now, workers
from support.service import Person

from .conftest import Open

TOKEN = "a token for Prometheus"


def figures(client: TestClient, headers: dict[str, str]) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    answer = client.get("/metrics", headers=headers)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_requests_and_refusals_are_counted(open_client: Open) -> None:
    client = open_client(metrics_token=TOKEN)
    client.get("/api/v1/health")
    client.get("/raise/budget")
    found = figures(client, {"Authorization": f"Bearer {TOKEN}"})
    labels = (("method", "GET"), ("route", "/api/v1/health"), ("status", "200"))
    assert found["kohorte_requests_total", labels] == 1
    assert found["kohorte_questions_refused_total", ()] == 1
    assert found["kohorte_jobs", (("state", "queued"),)] == 0
    assert found["kohorte_questions_answered", ()] == 0


@pytest.mark.parametrize("token", ["wrong", TOKEN[:-1], TOKEN.upper(), "é"])
def test_another_token_does_not_open_the_figures(open_client: Open, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}".encode()}
    assert open_client(metrics_token=TOKEN).get("/metrics", headers=headers).status_code == 401


def test_without_a_metrics_token_in_the_settings_none_opens_the_figures(plain: TestClient) -> None:
    for headers in ({}, {"Authorization": "Bearer"}, {"Authorization": "Bearer  "}):
        assert plain.get("/metrics", headers=headers).status_code == 401


def test_the_metrics_token_opens_nothing_else(open_client: Open) -> None:
    client = open_client(metrics_token=TOKEN)
    for path in ("/api/v1/users", "/api/v1/audit", "/api/v1/projects"):
        assert client.get(path, headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 401


def test_figures_are_for_stewards_only(client: TestClient, steward: Person, researcher: Person) -> None:
    assert figures(client, steward.headers)["kohorte_workers", ()] == 0
    assert client.get("/metrics", headers=researcher.headers).status_code == 403


def test_workers_count_while_they_give_signs_of_life(service: Service, client: TestClient, steward: Person) -> None:
    ages = {"young": 3, "old": 300}
    with service.database.writing() as connection:
        for name, age in ages.items():
            connection.execute(insert(workers).values(name=name, seen_at=now() - timedelta(seconds=age)))
    assert figures(client, steward.headers)["kohorte_workers", ()] == 1
    assert client.get("/api/v1/health").json() == {"status": "ok", "version": ANY, "database": True, "worker": True}


def test_without_a_worker_the_service_is_degraded(client: TestClient) -> None:
    answer = client.get("/api/v1/health")
    assert answer.status_code == 200
    assert answer.json() == {"status": "degraded", "version": ANY, "database": True, "worker": False}


def test_without_a_database_the_service_says_so_and_no_more(client: TestClient, service: Service) -> None:
    with service.database.writing() as connection:
        workers.drop(connection)
    answer = client.get("/api/v1/health")
    assert answer.status_code == 503
    assert answer.json() == {"status": "degraded", "version": ANY, "database": False, "worker": False}
