"""The risk of a dataset over HTTP, as in appendix E and F."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from kohorte.service.context import Service
from kohorte.service.permissions import Role
from support.projects import hopeless, interactive, patients, release, store_dataset, working
from support.service import Person, new_person_with, on_sqlite


@pytest.fixture
def path(service: Service, steward: Person) -> str:
    return f"/api/v1/datasets/{store_dataset(service, patients(), steward.user_id)}"


def test_the_risk_is_answered_as_in_appendix_e(
    service: Service, client: TestClient, steward: Person, path: str
) -> None:
    with working(service):
        answer = client.post(f"{path}/analyze-risk", json=release(), headers=steward.headers)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert set(found) == {"attribute_generalization", "risk_profile", "unit", "people"}
    assert (found["unit"], found["people"]) == ("rows", None)
    assert [entry["attribute_name"] for entry in found["attribute_generalization"]] == ["zip_code", "age", "gender"]
    assert all(type(entry["generalization_level"]) is int for entry in found["attribute_generalization"])
    profile = found["risk_profile"]
    assert set(profile["attacker_success_rate"]) == {
        "journalist_attacker_success_rate",
        "marketer_attacker_success_rate",
        "prosecutor_attacker_success_rate",
    }
    assert {
        "interval",
        "records_with_maximal_risk_within_interval",
        "records_with_risk_within_interval",
    } <= set(profile["distribution_of_risk"][0])
    assert profile["distribution_of_risk"][0]["interval"] == "[50,100]"
    assert {"average_prosecutor_risk", "lowest_risk", "sample_uniques", "population_uniques"} <= set(
        profile["re_identification_risk"]
    )
    assert 0 < profile["re_identification_risk"]["highest_prosecutor_risk"] <= 0.2


@on_sqlite
def test_the_weighted_risk_is_answered_as_in_appendix_f(
    service: Service, client: TestClient, steward: Person, path: str
) -> None:
    with working(service):
        answer = client.post(f"{path}/calculate-weighted-risk", json=release(), headers=steward.headers)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert 0 < found["risk"] < 1
    assert found["unit"] == "rows"
    weights = [part["weight"] * part["figure"] for part in found["parts"]]
    assert found["risk"] == pytest.approx(sum(weights) / len(weights))


def test_a_client_that_does_not_wait_finds_the_result_in_the_job(
    service: Service, client: TestClient, steward: Person, path: str
) -> None:
    headers = {**steward.headers, "Prefer": "respond-async"}
    answer = client.post(f"{path}/analyze-risk", json=release(), headers=headers)
    assert answer.status_code == 202
    assert answer.headers["location"] == f"/api/v1/jobs/{answer.json()['job']['job_id']}"


@on_sqlite
def test_a_plan_without_a_solution_has_no_risk(
    service: Service, client: TestClient, steward: Person, path: str
) -> None:
    with working(service):
        wanted = hopeless()
        answer = client.post(f"{path}/analyze-risk", json=wanted, headers=steward.headers)
    assert answer.status_code == 422


@on_sqlite
def test_what_is_wrong_is_refused_with_its_place(client: TestClient, steward: Person, path: str) -> None:
    answer = client.post(f"{path}/analyze-risk", json=release(k=0), headers=steward.headers)
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith("privacy_models[0].model_params: ")
    answer = client.post(f"{path}/calculate-weighted-risk", json=interactive(), headers=steward.headers)
    assert answer.status_code == 400


@on_sqlite
def test_a_researcher_does_not_see_the_risk(client: TestClient, researcher: Person, path: str) -> None:
    for route in ("analyze-risk", "calculate-weighted-risk"):
        assert client.post(f"{path}/{route}", json=release(), headers=researcher.headers).status_code == 403


def test_a_dataset_that_is_not_there_has_no_risk(client: TestClient, steward: Person) -> None:
    answer = client.post("/api/v1/datasets/77/analyze-risk", json=release(), headers=steward.headers)
    assert answer.status_code == 404


@pytest.fixture
def officer(service: Service, client: TestClient) -> Person:
    return new_person_with(service, client, Role.DATA_PROTECTION_OFFICER)


@on_sqlite
def test_an_officer_measures_risk_and_learns_no_rows_from_a_failure(
    service: Service, client: TestClient, steward: Person, officer: Person, path: str
) -> None:
    rules = {
        "zip_code": {"redaction": {"length": 3}},
        "age": {"intervals": {"lower": 0, "upper": 120, "widths": [20], "integer": True}},
    }
    attributes = [
        {key: value for key, value in entry.items() if key != "attribute_hierarchy"}
        | ({"hierarchy": rules[entry["attribute_name"]]} if entry["attribute_name"] in rules else {})
        for entry in release()["attributes"]
    ]
    with working(service):
        fine = client.post(f"{path}/analyze-risk", json=release(attributes=attributes), headers=officer.headers)
        no_way = hopeless() | {"attributes": attributes}
        failed = client.post(f"{path}/analyze-risk", json=no_way, headers=officer.headers)
        told = client.post(f"{path}/analyze-risk", json=no_way, headers=steward.headers)
    assert fine.status_code == 200, fine.text
    assert (failed.status_code, failed.json()["code"]) == (told.status_code, told.json()["code"])
    assert "detail" not in failed.json()
    assert told.json()["detail"]
    jobs = client.get("/api/v1/jobs", headers=officer.headers).json()["jobs"]
    assert [set(job["problem"] or ()) for job in jobs] == [{"type", "title", "status", "code"}, set()]


@on_sqlite
@pytest.mark.parametrize(
    "hierarchy",
    [
        {"attribute_hierarchy": [["f", "this"], ["m", "other"]]},
        {"hierarchy": {"rows": [["f", "this"], ["m", "other"]]}},
    ],
)
def test_an_officer_cannot_ask_for_the_rows_of_a_value(
    service: Service, client: TestClient, officer: Person, path: str, hierarchy: dict[str, object]
) -> None:
    names = ("zip_code", "age", "married", "disease")
    attributes = [{"attribute_name": name, "attribute_type": "insensitive"} for name in names]
    gender = {"attribute_name": "gender", "attribute_type": "quasi-identifying"}
    model = {"model_name": "k-anonymity", "model_params": {"k": 2}}
    config = {"attributes": [*attributes, {**gender, **hierarchy}], "privacy_models": [model]}
    answer = client.post(f"{path}/analyze-risk", json=config, headers=officer.headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "not-allowed"), answer.text
