"""Hierarchies over REST: every builder, examined rows, and plans that use what is stored."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from fastapi.testclient import TestClient

from kohorte.hierarchies import BUILDERS
from kohorte.service.context import Service
from kohorte.service.permissions import Role
from support.projects import patients, store_dataset
from support.service import Person, new_person_with, on_sqlite

pytestmark = on_sqlite
DATASET = "/api/v1/datasets/1"
ZIPS = [["476", "47*", "*"], ["477", "47*", "*"]]
STATED: dict[str, tuple[str, Any]] = {
    "redaction": ("zip_code", {"mask": "#"}),
    "intervals": ("age", {"lower": 0, "upper": 100, "widths": [20]}),
    "ordering": ("age", {"by": "number", "fanouts": [10]}),
    "dates": ("age", {"format": "%Y", "levels": ["decade"]}),
    "csv": ("gender", "gender.csv"),
    "rows": ("gender", [["f", "*"], ["m", "*"]]),
    "tree": ("gender", {"all": ["f", "m"]}),
    "safe_harbor": ("age", {"kind": "age"}),
}
REFUSED = {"dates": "value-not-in-hierarchy", "csv": "hierarchy-option-invalid"}


@pytest.fixture
def steward(service: Service, client: TestClient) -> Person:
    person = new_person_with(service, client, Role.STEWARD)
    store_dataset(service, patients(), person.user_id)
    return person


def built(client: TestClient, steward: Person, attribute: str, hierarchy: Any, **more: str) -> Any:
    body = {"attribute_name": attribute, "transformation_type": "builder", "hierarchy": hierarchy, **more}
    return client.post(f"{DATASET}/create-generalization-hierarchy", json=body, headers=steward.headers)


@pytest.mark.parametrize("name", [builder.name for builder in BUILDERS])
def test_every_builder_of_a_plan_builds_or_says_why_not(client: TestClient, steward: Person, name: str) -> None:
    attribute, options = STATED[name]
    answer = built(client, steward, attribute, {name: options})
    if name == "safe_harbor":
        assert answer.json()["hierarchy"][0] == ["10", "10", "*"]
    elif name in REFUSED:
        assert answer.json()["code"] == REFUSED[name]
    else:
        assert answer.status_code == 200, answer.text
        assert all(len(row) > 1 for row in answer.json()["hierarchy"])


def test_populations_are_sent_with_the_request(client: TestClient, steward: Person, service: Service) -> None:
    zips = patients(2).with_columns(zip_code=pl.lit("94501"))
    store_dataset(service, zips, steward.user_id)
    body: dict[str, Any] = {"attribute_name": "zip_code", "transformation_type": "builder"}
    body |= {"hierarchy": {"safe_harbor": {"kind": "zip"}}, "populations": "945,30000\n"}
    address = "/api/v1/datasets/2/create-generalization-hierarchy"
    assert client.post(address, json=body, headers=steward.headers).json()["hierarchy"] == [["94501", "945", "*"]]
    body["hierarchy"] = {"redaction": {}}
    assert client.post(address, json=body, headers=steward.headers).json()["code"] == "hierarchy-option-invalid"


def test_a_broken_hierarchy_is_examined_in_place_and_not_stored(client: TestClient, steward: Person) -> None:
    body: dict[str, Any] = {"attribute_name": "zip_code", "hierarchy": [["476", "47*"]], "person": "age"}
    answer = client.post(f"{DATASET}/examine-hierarchy", json=body, headers=steward.headers).json()
    assert answer["ok"] is False
    assert answer["faults"] == {"value-missing": 1}
    assert answer["places"] == [{"fault": "value-missing", "row": 1, "level": 0}]
    assert answer["hierarchy"] == [["476", "47*"], ["477", ""]]
    assert answer["levels"][0] == {
        "level": 0,
        "labels": 2,
        "fewest_rows": 150,
        "most_rows": 150,
        "fewest_people": 45,
        "most_people": 45,
    }
    refused = client.put(
        f"{DATASET}/hierarchies/zip_code", json={"hierarchy": [["476", "47*"]]}, headers=steward.headers
    )
    assert refused.json()["code"] == "value-not-in-hierarchy"
    listed = client.get(f"{DATASET}/hierarchies", headers=steward.headers).json()["hierarchies"]
    assert [one["stored_at"] for one in listed] == [None] * 5


def test_only_stewards_examine_and_list(service: Service, client: TestClient, steward: Person) -> None:
    for role in (Role.RESEARCHER, Role.DATA_PROTECTION_OFFICER, Role.APPROVER):
        other = new_person_with(service, client, role)
        body = {"attribute_name": "zip_code", "hierarchy": ZIPS}
        assert client.post(f"{DATASET}/examine-hierarchy", json=body, headers=other.headers).status_code == 403
        assert client.get(f"{DATASET}/hierarchies", headers=other.headers).status_code == 403


def plan_with(hierarchy: Any) -> dict[str, Any]:
    roles = {"married": "insensitive", "gender": "insensitive", "age": "insensitive", "disease": "insensitive"}
    attributes: dict[str, Any] = {name: {"role": role} for name, role in roles.items()}
    attributes["zip_code"] = {"role": "quasi-identifying", "hierarchy": hierarchy}
    return {"plan": {"attributes": attributes, "models": [{"model": "k-anonymity", "k": 200}], "person": "none"}}


def test_a_plan_uses_the_stored_hierarchy(client: TestClient, steward: Person) -> None:
    evaluate, stored = f"{DATASET}/evaluate", plan_with({"stored": True})
    nothing = client.post(evaluate, json=stored, headers=steward.headers)
    assert nothing.json()["code"] == "hierarchy-not-stored"
    client.put(f"{DATASET}/hierarchies/zip_code", json={"hierarchy": ZIPS}, headers=steward.headers)
    found = client.post(evaluate, json=stored, headers=steward.headers).json()
    written = client.post(evaluate, json=plan_with({"rows": ZIPS}), headers=steward.headers).json()
    assert found["levels"] == {"zip_code": 1}
    assert found["plan_sha256"] == written["plan_sha256"]


def test_an_officer_may_use_the_stored_hierarchy_and_no_listed_values(
    service: Service, client: TestClient, steward: Person
) -> None:
    client.put(f"{DATASET}/hierarchies/zip_code", json={"hierarchy": ZIPS}, headers=steward.headers)
    officer = new_person_with(service, client, Role.DATA_PROTECTION_OFFICER)
    later = {**officer.headers, "Prefer": "respond-async"}
    analyze = f"{DATASET}/analyze-risk"
    assert client.post(analyze, json=plan_with({"rows": ZIPS}), headers=later).json()["code"] == "not-allowed"
    assert client.post(analyze, json=plan_with({"stored": True}), headers=later).status_code == 202
