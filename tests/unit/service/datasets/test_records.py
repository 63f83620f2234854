"""Datasets as resources: listed, shown, changed, deleted."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import insert, select, update

from kohorte.errors import EngineError, InputError
from kohorte.service.audit import verify_log
from kohorte.service.context import Service
from kohorte.service.datasets import tables
from kohorte.service.datasets.proposal import proposal
from kohorte.service.storage.schema import audit, datasets, hierarchies, now, projects
from support.marked_rows import mark_rows
from support.service import Person, new_user, on_sqlite

from .conftest import Steward, UploadService


def row_of(service: Service, number: int):
    with service.database.reading() as connection:
        return connection.execute(select(datasets).where(datasets.c.id == number)).one()


def locked_files(service: Service) -> list[Path]:
    return list(service.settings.vault_folder.iterdir())


def new_project(service: Service, dataset_id: int, user_id: int) -> int:
    values = {"name": "p", "description": "", "dataset_id": dataset_id, "creator_id": user_id, "researcher_id": user_id}
    values |= {"created_at": now(), "interactive": False, "state": "ready", "sealed_config": b"", "sealed_summary": b""}
    with service.database.writing() as connection:
        number = int(connection.execute(insert(projects).values(**values).returning(projects.c.id)).scalar_one())
        mark_rows(service, connection)
        return number


def test_datasets_are_listed_page_by_page_the_newest_last(mary: Steward) -> None:
    numbers = [mary.uploaded(name=f"dataset {count}") for count in range(3)]
    first, second = mary.get("/datasets?limit=2").json(), mary.get("/datasets?limit=2&page=2").json()
    assert [shown["dataset_id"] for shown in first["datasets"] + second["datasets"]] == numbers
    assert {key: second[key] for key in ("limit", "page", "total")} == {"limit": 2, "page": 2, "total": 3}
    assert mary.get("/datasets?page=3").json()["datasets"] == []
    assert mary.get("/datasets?limit=0").status_code == 400


def test_a_dataset_can_be_renamed_and_described(mary: Steward, service: Service) -> None:
    number = mary.uploaded()
    changed = mary.patch(f"/datasets/{number}", json={"name": " New "})
    assert (changed.status_code, changed.json()["name"]) == (200, "New")
    assert changed.json()["description"] == mary.get(f"/datasets/{number}").json()["description"] != ""
    assert mary.patch(f"/datasets/{number}", json={"description": ""}).json()["description"] == ""
    assert mary.patch(f"/datasets/{number}", json={}).json()["name"] == "New"


@pytest.mark.parametrize("body", [{"name": ""}, {"name": "x" * 201}, {"name": 5}, {"owner": "me"}, []])
def test_a_change_that_is_wrong_is_refused(uploads: UploadService, body: object) -> None:
    assert uploads.steward.patch("/datasets/1", json=body).status_code == 400


def test_a_deleted_dataset_is_gone_with_its_files_and_hierarchies(mary: Steward, service: Service) -> None:
    number = mary.uploaded()
    rows = [["flu", "*"], ["gout", "*"]]
    assert mary.put(f"/datasets/{number}/hierarchies/disease", json={"hierarchy": rows}).status_code == 201
    assert mary.delete(f"/datasets/{number}").status_code == 204
    assert locked_files(service) == []
    assert mary.get(f"/datasets/{number}").status_code == 404
    assert mary.delete(f"/datasets/{number}").status_code == 404
    assert mary.get("/datasets").json()["total"] == 0
    assert mary.get(f"/datasets/{number}/hierarchies/disease").status_code == 404
    with service.database.reading() as connection:
        assert connection.execute(select(hierarchies)).all() == []
        actions = connection.execute(select(audit.c.action).order_by(audit.c.number)).scalars().all()
    assert [action for action in actions if "dataset" in action or "hierarchy" in action] == [
        "upload-dataset",
        "store-hierarchy",
        "delete-dataset",
    ]
    assert verify_log(service.database, service.log).whole


def test_a_dataset_that_a_project_uses_stays(mary: Steward, service: Service) -> None:
    number = mary.uploaded()
    project = new_project(service, number, new_user(service, privileged=True).id)
    answer = mary.delete(f"/datasets/{number}")
    assert (answer.status_code, answer.json()["code"]) == (409, "dataset-conflict")
    assert tables.load(service, row_of(service, number)).height == 4
    with service.database.writing() as connection:
        connection.execute(update(projects).where(projects.c.id == project).values(deleted_at=now()))
        mark_rows(service, connection)
    assert mary.delete(f"/datasets/{number}").status_code == 204


def test_a_dataset_with_work_to_do_stays(john: Steward) -> None:
    number = john.post(
        "/datasets", files={"file": ("a.csv", b"a\n1\n")}, data={"name": "a"}, headers={"Prefer": "respond-async"}
    ).json()["dataset_id"]
    answer = john.delete(f"/datasets/{number}")
    assert (answer.status_code, answer.json()["code"]) == (409, "dataset-conflict")
    assert john.get(f"/datasets/{number}").json()["state"] == "preparing"
    assert john.get(f"/datasets/{number}/proposal").status_code == 409


def test_researchers_see_no_dataset(mary: Steward, client: TestClient, researcher: Person) -> None:
    number = mary.uploaded()
    for path in ("/datasets", f"/datasets/{number}", f"/datasets/{number}/proposal"):
        assert client.get(f"/api/v1{path}", headers=researcher.headers).status_code == 403


def test_a_table_is_loaded_as_it_was_uploaded(mary: Steward, service: Service) -> None:
    frame = tables.load(service, row_of(service, mary.uploaded()))
    assert frame.columns == ["zip_code", "age", "disease"]
    assert frame["age"].to_list() == ["13", "28", "71", None]


def test_a_table_that_is_not_the_one_that_was_stored_is_refused(mary: Steward, service: Service) -> None:
    number, other = mary.uploaded(), mary.uploaded(b"a\n1\n")
    with service.database.writing() as connection:
        another = connection.execute(select(datasets.c.table_file).where(datasets.c.id == other)).scalar_one()
        connection.execute(update(datasets).where(datasets.c.id == number).values(table_file=another))
    with pytest.raises(EngineError) as caught:
        tables.load(service, row_of(service, number))
    assert caught.value.code == "service-damaged"
    assert mary.get(f"/datasets/{number}/proposal").status_code == 503  # the row is not as the service wrote it


def test_a_dataset_that_is_not_ready_has_no_table(john: Steward, service: Service) -> None:
    john.client.post(
        "/api/v1/datasets",
        files={"file": ("a.csv", b"a\n1\n")},
        data={"name": "a"},
        headers=john.headers | {"Prefer": "respond-async"},
    )
    with pytest.raises(InputError) as caught:
        tables.load(service, row_of(service, 1))
    assert caught.value.code == "dataset-conflict"


def test_a_column_is_read_without_the_others(mary: Steward, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    number, read = mary.uploaded(), []
    whole = pl.read_parquet

    def noting(*given: Any, **options: Any) -> pl.DataFrame:
        frame = whole(*given, **options)
        read.append(frame.columns)
        return frame

    monkeypatch.setattr(pl, "read_parquet", noting)
    body = {"transformation_type": "redaction", "attribute_name": "zip_code"}
    assert mary.post(f"/datasets/{number}/create-generalization-hierarchy", json=body).status_code == 200
    rows = [["flu", "*"], ["gout", "*"]]
    assert mary.put(f"/datasets/{number}/hierarchies/disease", json={"hierarchy": rows}).status_code == 201
    assert read == [["zip_code"], ["disease"]]


def test_whoever_reads_values_is_in_the_audit_log(mary: Steward, service: Service) -> None:
    number = mary.uploaded()
    path, rows = f"/datasets/{number}", [["flu", "*"], ["gout", "*"]]
    body = {"transformation_type": "redaction", "attribute_name": "zip_code"}
    answers = [
        mary.post(f"{path}/create-generalization-hierarchy", json=body),
        mary.put(f"{path}/hierarchies/disease", json={"hierarchy": rows}),
        mary.get(f"{path}/hierarchies/disease"),
        mary.get(f"{path}/proposal"),
    ]
    assert [answer.status_code for answer in answers] == [200, 201, 200, 200]
    with service.database.reading() as connection:
        about = select(audit.c.action, audit.c.details).where(audit.c.object == f"dataset {number}")
        found = connection.execute(about.order_by(audit.c.number)).all()
    assert [tuple(entry) for entry in found[-4:]] == [
        ("read-values", {"values": 2}),
        ("store-hierarchy", {"values": 2}),
        ("read-hierarchy", {"values": 2}),
        ("read-proposal", {"columns": 3}),
    ]


def test_a_dataset_that_could_not_be_read_is_listed_and_can_be_deleted(mary: Steward, service: Service) -> None:
    number = mary.post(
        "/datasets", files={"file": ("a.csv", b"a,b\n1\n")}, data={"name": "a"}, headers={"Prefer": "respond-async"}
    ).json()["dataset_id"]
    give_up = time.monotonic() + 60
    while mary.get(f"/datasets/{number}").json()["state"] == "preparing" and time.monotonic() < give_up:
        time.sleep(0.02)
    listed = mary.get("/datasets").json()
    assert [(shown["dataset_id"], shown["state"]) for shown in listed["datasets"]] == [(number, "failed")]
    assert listed["total"] == 1
    assert mary.delete(f"/datasets/{number}").status_code == 204
    assert mary.get("/datasets").json()["total"] == 0


# Help with choosing parameters


@on_sqlite
def test_a_proposal_names_roles_hierarchies_and_models_and_no_value(mary: Steward) -> None:
    header = "patient_name,zip_code,age,admitted,diagnosis\n"
    lines = [
        f"Zoe Zebra{row},8166{row % 3},{row % 20},2024-0{row % 9 + 1}-11,{'flu' if row % 2 else 'gout'}\n"
        for row in range(60)
    ]
    number = mary.uploaded((header + "".join(lines)).encode())
    answer = mary.get(f"/datasets/{number}/proposal")
    assert answer.status_code == 200
    found = answer.json()
    by_name = {entry["attribute_name"]: entry for entry in found["config"]["attributes"]}
    assert {name: entry["attribute_type"] for name, entry in by_name.items()} == {
        "patient_name": "identifying",
        "zip_code": "quasi-identifying",
        "age": "quasi-identifying",
        "admitted": "quasi-identifying",
        "diagnosis": "sensitive",
    }
    assert by_name["zip_code"]["hierarchy"] == {"redaction": {"length": 5}}
    assert by_name["admitted"]["hierarchy"] == {"dates": {}}
    assert set(by_name["age"]["hierarchy"]) == {"intervals"}
    assert found["config"]["privacy_models"] == [
        {"model_name": "k-anonymity", "model_params": {"k": 5}},
        {"model_name": "l-diversity_distinct", "attribute_name": "diagnosis", "model_params": {"l": 2}},
    ]
    assert [column["suspected_identifier"] for column in found["columns"]] == [True, False, False, False, False]
    assert not [value for value in ("Zoe", "81661", "flu", "2024-01-11") if value in answer.text]


def test_a_small_table_gets_a_smaller_k_but_never_one() -> None:
    found = proposal(pl.DataFrame({"a": ["1"], "b": ["x"]}), set())
    assert found["config"]["privacy_models"] == [{"model_name": "k-anonymity", "model_params": {"k": 2}}]


@on_sqlite
def test_a_proposal_can_be_asked_for_as_it_is(mary: Steward, service: Service) -> None:
    from kohorte.plans import Plan
    from kohorte.service.projects.configuration import Dataset, read_plan

    content = pl.DataFrame({"zip": ["81667", "81668"] * 20, "age": list(range(40)), "hiv": ["+", "-"] * 20})
    number = mary.uploaded(content.write_csv().encode())
    config = mary.get(f"/datasets/{number}/proposal").json()["config"]
    assert isinstance(read_plan(config, Dataset(content.columns, {})), Plan)
