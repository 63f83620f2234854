"""A service with a disclosure ledger: what leaves is recorded for each recipient, and comparing tells nothing."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from kohorte.disclosures.ledger import Ledger
from kohorte.patients.consents.register import Consents
from kohorte.service.context import Service
from kohorte.service.disclosures.given import ledger_order
from kohorte.service.jobs.child import perform
from kohorte.service.jobs.queue import Kind
from kohorte.service.settings import Settings
from kohorte.service.storage.schema import audit
from kohorte.service.trust.folders import make_folders
from support.projects import _Channel, interactive, patients, release, store_dataset, working
from support.service import RESEARCHER, Person, new_person, new_service

PROJECTS = "/api/v1/projects"
K = 5
NAMED = {"attribute_name": "patient", "attribute_type": "identifying"}


def table(rows: int = 300) -> pl.DataFrame:
    return patients(rows).with_columns(patient=pl.Series([f"p{row:04}" for row in range(rows)]))


def person(config: dict[str, Any]) -> dict[str, Any]:
    return {**config, "attributes": [*config["attributes"], NAMED], "person": "patient"}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service whose house has a ledger."""
    with new_service(Settings.load(tmp_path / "service", {}, disclosure_ledger=True)) as opened:
        yield opened


@pytest.fixture
def worker(service: Service) -> Iterator[None]:
    with working(service):
        yield


@pytest.fixture
def remembered(service: Service) -> Iterator[Ledger]:
    ledger = Ledger.open(service.settings.ledger_folder, create=True)
    yield ledger
    ledger.close()


def made(
    client: TestClient, steward: Person, researcher: Person, dataset: int, config: dict[str, Any]
) -> dict[str, Any]:
    body = {"name": "n", "description": "", "dataset_id": dataset, "researcher_id": researcher.user_id}
    answer = client.post(PROJECTS, json={**body, "config": person(config)}, headers=steward.headers)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def rows_of(client: TestClient, number: int, who: Person) -> list[dict[str, str]]:
    answer = client.get(f"{PROJECTS}/{number}/csv", headers=who.headers)
    assert answer.status_code == 200, answer.text
    return list(csv.DictReader(io.StringIO(answer.text)))


def reasons(service: Service) -> str:
    with service.database.reading() as connection:
        return str([row.details for row in connection.execute(select(audit.c.details)).all()])


@pytest.mark.usefixtures("worker")
def test_each_recipient_of_a_release_is_recorded_once(
    client: TestClient, service: Service, steward: Person, researcher: Person, remembered: Ledger
) -> None:
    number = made(client, steward, researcher, store_dataset(service, table(), steward.user_id), release())[
        "project_id"
    ]
    assert remembered.releases() == []  # nothing has left yet
    assert len(rows_of(client, number, researcher)) == 300
    rows_of(client, number, researcher)
    client.get(f"{PROJECTS}/{number}/preview?rows=3", headers=researcher.headers)
    rows_of(client, number, steward)
    given = [(facts["recipient"], facts["people"]) for facts in remembered.releases()]
    assert given == [(f"user {researcher.user_id}", 300), (f"user {steward.user_id}", 300)]


@pytest.mark.usefixtures("worker")
def test_a_second_project_of_all_but_one_leaves_company_out_and_only_the_house_learns_why(
    client: TestClient, service: Service, steward: Person, researcher: Person, remembered: Ledger
) -> None:
    first = made(client, steward, researcher, store_dataset(service, table(), steward.user_id), release())
    rows_of(client, first["project_id"], researcher)
    other = new_person(service, client, privileged=False)
    without = table().filter(pl.col("patient") != "p0007")
    second = made(client, steward, other, store_dataset(service, without, steward.user_id), release())
    assert len(rows_of(client, second["project_id"], other)) <= 300 - K
    assert "left out" not in str(second)
    assert len(remembered.releases()) == 2


@pytest.mark.usefixtures("worker")
def test_who_withdraws_is_in_no_later_download_or_release_and_the_researcher_learns_nothing(
    client: TestClient, service: Service, steward: Person, researcher: Person, remembered: Ledger
) -> None:
    dataset = store_dataset(service, table(), steward.user_id)
    number = made(client, steward, researcher, dataset, release())["project_id"]
    rows_of(client, number, researcher)
    remembered.withdraw(["p0007"])
    again = client.get(f"{PROJECTS}/{number}/csv", headers=researcher.headers)
    assert (again.status_code, again.json()["code"]) == (409, "disclosure-withheld")
    assert "withdrawn" not in again.text
    assert client.get(f"{PROJECTS}/{number}/preview", headers=researcher.headers).status_code == 409
    assert "people have withdrawn" in reasons(service)
    later = made(client, steward, researcher, dataset, release())["project_id"]
    assert len(rows_of(client, later, researcher)) <= 300 - K


def test_answers_with_noise_are_recorded_without_who_has_withdrawn(
    client: TestClient, service: Service, steward: Person, researcher: Person, remembered: Ledger
) -> None:
    dataset = store_dataset(service, table(), steward.user_id)
    number = made(client, steward, researcher, dataset, interactive(epsilon=10))["project_id"]

    def counted(sql: str) -> int:
        asked = {"query": sql, "epsilon": 4}
        answer = client.post(f"{PROJECTS}/{number}/analyze", json=asked, headers=researcher.headers)
        assert answer.status_code == 200, answer.text
        return round(next(iter(next(iter(answer.json()["query_result"].values())).values())))

    assert abs(counted("SELECT COUNT(*) FROM PRIORI") - 300) < 20
    remembered.withdraw([f"p{row:04}" for row in range(100)])
    assert abs(counted("SELECT COUNT(age) FROM PRIORI") - 200) < 20
    assert [(one["kind"], one["epsilon"], one["recipient"]) for one in remembered.releases()] == [
        ("query", 4.0, f"user {researcher.user_id}")
    ] * 2


def test_a_job_that_the_ledger_refuses_tells_only_the_house_why(service: Service, remembered: Ledger) -> None:
    remembered.withdraw([f"p{row:04}" for row in range(300)])
    from kohorte.data import write_parquet

    content = io.BytesIO()
    write_parquet(table(), content)
    plan = {
        "kohorte": 1,
        "person": "patient",
        "attributes": {
            "patient": {"role": "identifying"},
            "age": {"role": "quasi-identifying"},
            **{name: {"role": "identifying"} for name in ("zip_code", "married", "gender", "disease")},
        },
        "models": [{"model": "k-anonymity", "k": 5}],
    }
    order = {"kind": Kind.ANONYMIZE, "request": {"plan": plan}, "table_file": service.vault.write(content.getvalue())}
    told = perform(_Channel(service), order | {"most_cells": 10**9, "ledger": ledger_order(service.settings)})  # type: ignore[arg-type]
    assert told["problem"]["code"] == "disclosure-withheld"
    assert "withdrawn" not in str(told["problem"])
    assert "nobody of the table is left who has not withdrawn" in told["noted"]


def test_withdrawals_of_the_patient_list_of_the_service_reach_the_ledger(
    client: TestClient, service: Service, steward: Person, remembered: Ledger
) -> None:
    from kohorte.patients.patient_list import PatientList
    from kohorte.service.access import Actor
    from kohorte.service.disclosures.given import remembered_answers
    from kohorte.service.parts import Part
    from kohorte.trust.folder import TrustFolder

    make_folders(service.settings)
    listed = PatientList(TrustFolder.opened(service.settings.trust_folder(Part.PATIENTS)))
    people = pl.DataFrame({"first_name": ["Anna"], "last_name": ["Bauer"], "birth_date": ["1960-01-02"]})
    pid = listed.register(people, {name: name for name in people.columns}).rows[0].pid
    Consents(listed).give([str(pid)], ["research"])
    Consents(listed).withdraw(str(pid))
    listed.close()
    with remembered_answers(service, Actor(steward.user_id, RESEARCHER, "s"), 1):
        pass
    assert remembered.have_withdrawn([str(pid), "somebody"]).tolist() == [True, False]
