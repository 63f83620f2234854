"""Projects over HTTP: made, shown, downloaded, deleted; a researcher sees the own ones only."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from kohorte.service.context import Service
from kohorte.service.projects import released_files
from kohorte.service.storage.schema import audit, jobs, projects
from support.projects import hopeless, interactive, patients, release, store_dataset, working
from support.service import Person, new_person, on_sqlite

PROJECTS = "/api/v1/projects"
EXAMPLE = {"name": "Heart Diseases", "description": "Heart diseases among German residents"}
OF_ONE = (
    ("GET", ""),
    ("GET", "/csv"),
    ("GET", "/preview"),
    ("GET", "/certificate"),
    ("GET", "/report"),
    ("POST", "/analyze"),
    ("POST", "/estimate"),
    ("GET", "/dummy-data"),
    ("GET", "/budget"),
    ("GET", "/questions"),
)
"""Every operation on one project that is for people who are signed in."""


@pytest.fixture
def dataset(service: Service, steward: Person) -> int:
    return store_dataset(service, patients(), steward.user_id)


@pytest.fixture
def worker(service: Service) -> Iterator[None]:
    with working(service):
        yield


def body(dataset: int, researcher: Person, config: dict[str, Any]) -> dict[str, Any]:
    return {**EXAMPLE, "dataset_id": dataset, "researcher_id": researcher.user_id, "config": config}


def created(client: TestClient, steward: Person, dataset: int, researcher: Person, config: dict[str, Any]) -> int:
    answer = client.post(PROJECTS, json=body(dataset, researcher, config), headers=steward.headers)
    assert answer.status_code == 201, answer.text
    number: int = answer.json()["project_id"]
    return number


def ask(client: TestClient, method: str, path: str, person: Person) -> Any:
    sent = {"query": "SELECT COUNT(*) FROM PRIORI"} if method == "POST" else None
    return client.request(method, path, json=sent, headers=person.headers)


def test_an_interactive_project_is_answered_as_in_appendix_g(
    client: TestClient, steward: Person, researcher: Person, dataset: int
) -> None:
    attributes = [
        {
            "attribute_name": "age",
            "attribute_type": "quasi-identifying",
            "metadata": {"datatype": "int", "min": 0, "max": 100},
        },
        {
            "attribute_name": "gender",
            "attribute_type": "quasi-identifying",
            "metadata": {"datatype": "str", "cardinality": 2},
        },
    ]
    models = [
        {"model_name": "epsilon-delta-differential_privacy", "model_params": {"epsilon": 2, "delta": 10e-16}},
    ]
    config = {"attributes": attributes, "privacy_models": models}
    answer = client.post(PROJECTS, json=body(dataset, researcher, config), headers=steward.headers)
    assert answer.status_code == 201
    found = answer.json()
    assert answer.headers["location"] == f"{PROJECTS}/{found['project_id']}"
    assert found["attributes"] == attributes
    assert {key: found[key] for key in ("name", "description", "dataset_id")} == {**EXAMPLE, "dataset_id": dataset}
    assert datetime.fromisoformat(found["created_at"]).utcoffset() is not None
    assert found["creator"]["user_id"] == steward.user_id
    assert found["creator"]["privileged_status"] is True
    assert found["researcher"]["email_address"] == researcher.email_address
    assert (found["state"], found["interactive"], found["privacy_models"]) == ("ready", True, models)
    assert found["budget"]["epsilon"] == 2


@on_sqlite
@pytest.mark.usefixtures("worker")
def test_an_anonymized_table_is_made_and_downloaded(
    client: TestClient, steward: Person, researcher: Person, dataset: int
) -> None:
    number = created(client, steward, dataset, researcher, release())
    shown = client.get(f"{PROJECTS}/{number}", headers=researcher.headers).json()
    assert (shown["state"], shown["interactive"], shown["suppression_limit"]) == ("ready", False, 0.2)
    assert "attribute_hierarchy" not in str(shown)
    answer = client.get(f"{PROJECTS}/{number}/csv", headers=researcher.headers)
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == f'attachment; filename="project-{number}.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(rows) == 300
    classes: dict[tuple[str, ...], set[str]] = {}
    sizes: dict[tuple[str, ...], int] = {}
    for row in rows:
        key = (row["zip_code"], row["age"], row["gender"])
        classes.setdefault(key, set()).add(row["disease"])
        sizes[key] = sizes.get(key, 0) + 1
    assert all(size >= 5 for key, size in sizes.items() if set(key) != {"*"})
    assert all(len(values) >= 2 for key, values in classes.items() if set(key) != {"*"})
    preview = client.get(f"{PROJECTS}/{number}/preview?rows=3", headers=researcher.headers).json()
    assert preview["columns"] == list(rows[0])
    assert preview["rows"] == [list(row.values()) for row in rows[:3]]
    certificate = client.get(f"{PROJECTS}/{number}/certificate", headers=researcher.headers)
    assert certificate.status_code == 200
    page = client.get(f"{PROJECTS}/{number}/report", headers=researcher.headers)
    assert page.headers["content-type"].startswith("text/html")
    assert "sandbox" in page.headers["content-security-policy"]


@on_sqlite
@pytest.mark.usefixtures("worker")
def test_a_plan_without_a_solution_is_answered_with_what_would_have_to_be_relaxed(
    service: Service, client: TestClient, steward: Person, researcher: Person, dataset: int
) -> None:
    wanted = body(dataset, researcher, hopeless())
    answer = client.post(PROJECTS, json=wanted, headers=steward.headers)
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert "l-diversity_recursive" in answer.json()["detail"]
    assert client.get(PROJECTS, headers=steward.headers).json()["total"] == 0
    assert len(list(service.settings.vault_folder.iterdir())) == 1  # the dataset's table


def test_a_client_that_does_not_wait_gets_the_job(
    service: Service, client: TestClient, steward: Person, researcher: Person, dataset: int
) -> None:
    headers = {**steward.headers, "Prefer": "respond-async"}
    answer = client.post(PROJECTS, json=body(dataset, researcher, release()), headers=headers)
    assert answer.status_code == 202
    found = answer.json()
    assert answer.headers["location"] == f"/api/v1/jobs/{found['job']['job_id']}"
    assert (found["state"], found["job"]["state"]) == ("preparing", "queued")
    path = f"{PROJECTS}/{found['project_id']}"
    for part in ("csv", "preview", "certificate", "report"):
        early = client.get(f"{path}/{part}", headers=researcher.headers)
        assert (early.status_code, early.json()["code"]) == (409, "project-conflict")
    assert client.delete(path, headers=steward.headers).status_code == 204
    with service.database.reading() as connection:
        assert connection.execute(select(jobs.c.cancel_requested)).scalar_one()


@pytest.mark.usefixtures("worker")
def test_a_deleted_project_is_gone_with_its_files(
    service: Service, client: TestClient, steward: Person, researcher: Person, dataset: int
) -> None:
    number = created(client, steward, dataset, researcher, release())
    assert len(list(service.settings.vault_folder.iterdir())) == 3
    assert client.delete(f"{PROJECTS}/{number}", headers=steward.headers).status_code == 204
    assert len(list(service.settings.vault_folder.iterdir())) == 1
    for method, path in OF_ONE:
        for person in (steward, researcher):
            assert ask(client, method, f"{PROJECTS}/{number}{path}", person).status_code == 404
    assert client.delete(f"{PROJECTS}/{number}", headers=steward.headers).status_code == 404


@pytest.mark.parametrize("config", [interactive(), release()], ids=["interactive", "release"])
def test_another_researcher_sees_nothing_of_a_project(
    service: Service, client: TestClient, steward: Person, researcher: Person, dataset: int, config: dict[str, Any]
) -> None:
    wanted, headers = body(dataset, researcher, config), {**steward.headers, "Prefer": "respond-async"}
    number = client.post(PROJECTS, json=wanted, headers=headers).json()["project_id"]
    other = new_person(service, client, privileged=False)
    for method, path in OF_ONE:
        hidden = ask(client, method, f"{PROJECTS}/{number}{path}", other)
        absent = ask(client, method, f"{PROJECTS}/{number + 1}{path}", other)
        assert hidden.status_code == absent.status_code == 404, path
        assert hidden.json() == absent.json()
    assert client.get(PROJECTS, headers=other.headers).json()["projects"] == []
    assert client.get(PROJECTS, headers=researcher.headers).json()["total"] == 1
    for method in ("PATCH", "DELETE"):
        assert client.request(method, f"{PROJECTS}/{number}", json={}, headers=researcher.headers).status_code == 403


@pytest.mark.parametrize("part", ["csv", "preview", "report"])
def test_what_is_deleted_while_it_is_fetched_is_not_found(
    service: Service,
    client: TestClient,
    steward: Person,
    researcher: Person,
    dataset: int,
    monkeypatch: pytest.MonkeyPatch,
    part: str,
) -> None:
    with working(service):
        number = created(client, steward, dataset, researcher, release())
    real = released_files._released

    def and_then_it_is_deleted(*arguments: Any, **options: Any) -> Any:
        found = real(*arguments, **options)
        assert client.delete(f"{PROJECTS}/{number}", headers=steward.headers).status_code == 204
        return found

    monkeypatch.setattr(released_files, "_released", and_then_it_is_deleted)
    answer = client.get(f"{PROJECTS}/{number}/{part}", headers=researcher.headers)
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


@on_sqlite
def test_a_release_whose_file_is_lost_is_no_fault_of_the_client(
    service: Service, client: TestClient, steward: Person, researcher: Person, dataset: int
) -> None:
    with working(service):
        number = created(client, steward, dataset, researcher, release())
    with service.database.reading() as connection:
        service.vault.remove(connection.execute(select(projects.c.release_file)).scalar_one())
    answer = client.get(f"{PROJECTS}/{number}/csv", headers=researcher.headers)
    assert (answer.status_code, answer.json()["code"]) == (500, "service-file")


def test_the_budget_of_a_user_that_is_not_there_is_not_found(
    client: TestClient, steward: Person, researcher: Person, dataset: int
) -> None:
    path = f"{PROJECTS}/{created(client, steward, dataset, researcher, interactive())}/budget"
    own = {"params": {"user_id": researcher.user_id}}
    for person in (steward, researcher):
        found = client.get(path, headers=person.headers, **own)
        assert (found.status_code, found.json()["user_id"]) == (200, researcher.user_id)
        answer = client.get(path, headers=person.headers, params={"user_id": 10_000})
        assert (answer.status_code, answer.json()["code"]) == (404, "not-found")
    assert client.delete(f"/api/v1/users/{researcher.user_id}", headers=steward.headers).status_code == 204
    assert client.get(path, headers=steward.headers, **own).status_code == 404


@on_sqlite
def test_a_researcher_makes_no_projects(client: TestClient, researcher: Person, dataset: int) -> None:
    answer = client.post(PROJECTS, json=body(dataset, researcher, interactive()), headers=researcher.headers)
    assert answer.status_code == 403


def test_a_project_is_renamed(client: TestClient, steward: Person, researcher: Person, dataset: int) -> None:
    number = created(client, steward, dataset, researcher, interactive())
    answer = client.patch(f"{PROJECTS}/{number}", json={"name": "Another"}, headers=steward.headers)
    assert answer.status_code == 200
    assert (answer.json()["name"], answer.json()["description"]) == ("Another", EXAMPLE["description"])


def test_projects_are_listed_in_pages(client: TestClient, steward: Person, researcher: Person, dataset: int) -> None:
    numbers = [created(client, steward, dataset, researcher, interactive()) for _ in range(3)]
    page = client.get(f"{PROJECTS}?limit=2&page=2", headers=steward.headers).json()
    assert [project["project_id"] for project in page["projects"]] == numbers[2:]
    assert (page["limit"], page["page"], page["total"]) == (2, 2, 3)


def wrong_bodies(dataset: int, researcher: Person) -> Iterator[tuple[dict[str, Any], int, str]]:
    right = body(dataset, researcher, interactive())
    yield {**right, "researcher_id": 10_000}, 400, "project-researcher"
    yield {**right, "dataset_id": 10_000}, 400, "project-dataset"
    yield {**right, "config": {}}, 400, "project-config"
    yield {**right, "config": {**interactive(), "private_id": "nobody"}}, 400, "project-config"
    yield {**right, "config": interactive(10**400)}, 400, "invalid-request"
    yield {**right, "config": {"plan": {"kohorte": 1, "suppression_limit": 10**400}}}, 400, "invalid-request"
    yield {**right, "config": {**interactive(), "more": 1}}, 400, "invalid-request"
    yield {**right, "config": release(attributes=release()["attributes"][1:])}, 400, "columns-unnamed"
    yield {**right, "name": ""}, 400, "invalid-request"


@on_sqlite
def test_wrong_bodies_store_nothing(
    service: Service, client: TestClient, steward: Person, researcher: Person, dataset: int
) -> None:
    for wanted, status, code in wrong_bodies(dataset, researcher):
        answer = client.post(PROJECTS, json=wanted, headers=steward.headers)
        assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    with service.database.reading() as connection:
        assert connection.execute(select(projects)).all() == []
        assert connection.execute(select(jobs)).all() == []


def test_a_dataset_that_is_not_ready_serves_no_project(
    service: Service, client: TestClient, steward: Person, researcher: Person
) -> None:
    unready = store_dataset(service, patients(), steward.user_id, state="preparing")
    answer = client.post(PROJECTS, json=body(unready, researcher, interactive()), headers=steward.headers)
    assert (answer.status_code, answer.json()["code"]) == (409, "dataset-conflict")


def test_every_exit_is_in_the_audit_log(
    service: Service, client: TestClient, steward: Person, researcher: Person, dataset: int
) -> None:
    with working(service):
        number = created(client, steward, dataset, researcher, release())
    for part in ("csv", "preview", "certificate", "report"):
        client.get(f"{PROJECTS}/{number}/{part}", headers=researcher.headers)
    with service.database.reading() as connection:
        done = select(audit.c.action).where(audit.c.object == f"project {number}").order_by(audit.c.number)
        found = list(connection.execute(done).scalars())
    assert found[0] == "create-project"
    assert found[-4:] == ["download-csv", "preview-release", "read-certificate", "read-report"]
