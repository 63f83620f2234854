"""Jobs over HTTP: looked at by whom they concern, cancelled by stewards."""

from __future__ import annotations

import signal

import pytest
from fastapi.testclient import TestClient

from kohorte.service.context import Service
from support.jobs import ended, new_dataset, new_project, worker_process, working
from support.service import Person


def test_jobs_are_listed_the_newest_first_and_in_pages(service: Service, client: TestClient, steward: Person) -> None:
    numbers = [new_dataset(service)[1] for _ in range(3)]
    answer = client.get("/api/v1/jobs", headers=steward.headers, params={"limit": 2})
    found = answer.json()
    assert (answer.status_code, found["limit"], found["page"], found["total"]) == (200, 2, 1, 3)
    assert [job["job_id"] for job in found["jobs"]] == [numbers[2], numbers[1]]
    second = client.get("/api/v1/jobs", headers=steward.headers, params={"limit": 2, "page": 2}).json()
    assert [job["job_id"] for job in second["jobs"]] == [numbers[0]]


def test_a_researcher_sees_the_jobs_of_own_projects_only(
    service: Service, client: TestClient, steward: Person, researcher: Person
) -> None:
    dataset_id, ingest = new_dataset(service, b"a\n1\n2\n")
    _, own = new_project(service, dataset_id, researcher_id=researcher.user_id)
    _, other = new_project(service, dataset_id)
    with working(service):
        ended(service, other)
        ended(service, own)
    listed = client.get("/api/v1/jobs", headers=researcher.headers).json()
    assert [job["job_id"] for job in listed["jobs"]] == [own]
    for hidden in (ingest, other, 999):
        answer = client.get(f"/api/v1/jobs/{hidden}", headers=researcher.headers)
        assert (answer.status_code, answer.json()["code"]) == (404, "not-found")
    mine = client.get(f"/api/v1/jobs/{own}", headers=researcher.headers).json()
    whole = client.get(f"/api/v1/jobs/{own}", headers=steward.headers).json()
    assert (mine["state"], mine["problem"]["code"]) == ("failed", whole["problem"]["code"])
    assert "detail" not in mine["problem"]
    assert whole["problem"]["detail"]


def test_only_a_steward_cancels_and_only_once(
    service: Service, client: TestClient, steward: Person, researcher: Person
) -> None:
    dataset_id, job_id = new_dataset(service)
    _, own = new_project(service, dataset_id, researcher_id=researcher.user_id)
    path = f"/api/v1/jobs/{own}/cancel"
    assert client.post(path, headers=researcher.headers).status_code == 403
    assert client.post(path).status_code == 401
    answer = client.post(path, headers=steward.headers)
    assert (answer.status_code, answer.json()["state"]) == (202, "cancelled")
    again = client.post(path, headers=steward.headers)
    assert (again.status_code, again.json()["code"]) == (409, "job-conflict")
    assert client.post("/api/v1/jobs/999/cancel", headers=steward.headers).status_code == 404
    assert client.get(f"/api/v1/jobs/{job_id}", headers=steward.headers).json()["state"] == "queued"


@pytest.mark.slow
def test_the_command_works_until_it_is_told_to_stop(service: Service) -> None:
    _, job_id = new_dataset(service)
    with worker_process(service) as process:
        assert ended(service, job_id).state == "done"
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
        assert process.stderr is not None
        said = process.stderr.read().decode()
    assert said.startswith("kohorte worker: ")
    assert said.count("\n") == 1
