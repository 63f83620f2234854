"""Projects as rows: what a list reads, and what is written down when somebody looks."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.projects import store
from kohorte.service.projects.store import NewProject
from kohorte.service.storage.schema import audit, projects
from kohorte.service.vault import Vault
from support.projects import interactive, patients, release, store_dataset
from support.service import RESEARCHER, STEWARD, Person


@pytest.fixture
def numbers(service: Service, steward: Person, researcher: Person) -> tuple[int, int]:
    """A project that releases a table, and one that answers questions."""
    dataset = store_dataset(service, patients(), steward.user_id)
    actor = Actor(steward.user_id, STEWARD, "")
    first, second = (
        store.create(service, actor, NewProject("p", "", dataset, researcher.user_id, config)).project_id
        for config in (release(), interactive())
    )
    return first, second


def test_a_list_reads_no_whole_config(
    service: Service,
    client: TestClient,
    researcher: Person,
    numbers: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    labels: list[str] = []
    unseal = Vault.unseal

    def noting(vault: Vault, sealed: bytes, *, label: str) -> bytes:
        labels.append(label)
        assert len(sealed) < 2000
        return unseal(vault, sealed, label=label)

    monkeypatch.setattr(Vault, "unseal", noting)
    shown = client.get("/api/v1/projects", headers=researcher.headers).json()["projects"]
    assert [project["project_id"] for project in shown] == list(numbers)
    assert shown[0]["attributes"][1] == {"attribute_name": "age", "attribute_type": "quasi-identifying"}
    assert shown[1]["attributes"][0]["metadata"] == {"datatype": "int", "min": 0, "max": 100}
    assert labels == [f"summary of project {number}" for number in numbers]
    actor = Actor(researcher.user_id, RESEARCHER, "")
    rows, _ = store.page(service, actor, limit=20, number=1)
    assert "sealed_config" not in rows[0]._fields  # the certificate is read, because the mark covers it


def test_what_is_shown_of_a_config_is_sealed_too(service: Service, numbers: tuple[int, int]) -> None:
    with service.database.reading() as connection:
        sealed = connection.execute(select(projects.c.sealed_summary)).scalars().all()
    assert len(sealed) == 2
    assert not any(b"age" in bytes(text) for text in sealed)


def test_reading_the_questions_is_in_the_audit_log(
    service: Service, client: TestClient, steward: Person, numbers: tuple[int, int]
) -> None:
    path = f"/api/v1/projects/{numbers[1]}/questions"
    assert client.get(path, headers=steward.headers).status_code == 200
    assert client.get(f"/api/v1/projects/{numbers[0]}/questions", headers=steward.headers).status_code == 400
    with service.database.reading() as connection:
        last = connection.execute(select(audit).order_by(audit.c.number.desc()).limit(1)).one()
    assert (last.action, last.object, last.actor_id) == ("read-questions", f"project {numbers[1]}", steward.user_id)
    assert last.details == {"questions": 0}
