"""The examples of the source's appendix (A to H), as written there, against a real server with a real worker."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from typing import Any

import httpx
import pytest

from support.postgres import cluster
from testbed.running import Running, running

JOHN = {"email_address": "john@example.com", "institution": "Fraunhofer IOSB", "name": "John Doe"}
JANE = {
    "email_address": "jane@example.com",
    "institution": "Fraunhofer IOSB",
    "name": "Jane Doe",
    "password": "123456",
    "privileged_status": False,
}
USER = {"email_address", "institution", "name", "privileged_status", "user_id"}
DATASET = {"name": "Heart Diseases", "description": "Heart diseases among German residents"}
HEART = b"zip_code,age,disease,gender,married\n" + b"".join(
    f"{476 + row % 2},{row % 90 + 5},{('flu', 'angina', 'stroke')[row % 3]},{'fm'[row % 2]},"
    f"{('true', 'false')[row // 3 % 2]}\n".encode()
    for row in range(900)
)


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with ExitStack() as stack:
        address = None
        if request.param == "postgresql":
            address = stack.enter_context(cluster(request.config).database())
        folder = tmp_path_factory.mktemp("appendix") / "service"
        service = stack.enter_context(running(folder, database=address))
        service.set_up()
        yield service


@pytest.fixture(scope="module")
def steward(server: Running) -> Iterator[httpx.Client]:
    with server.signed_in(JOHN["email_address"]) as client:
        yield client


@pytest.fixture(scope="module")
def jane(steward: httpx.Client) -> dict[str, Any]:
    answer = steward.post("/users", json=JANE)
    assert answer.status_code == 201
    created: dict[str, Any] = answer.json()
    assert answer.headers["location"].endswith(f"/api/v1/users/{created['user_id']}")
    return created


@pytest.fixture(scope="module")
def researcher(server: Running, jane: dict[str, Any]) -> Iterator[httpx.Client]:
    with server.signed_in(jane["email_address"], "123456") as client:
        yield client


@pytest.fixture(scope="module")
def dataset(steward: httpx.Client) -> dict[str, Any]:
    files = {"file": ("heart.csv", HEART, "text/csv")}
    answer = steward.post("/datasets", files={**files, "json": (None, json.dumps(DATASET), "application/json")})
    assert answer.status_code == 201, answer.text
    created: dict[str, Any] = answer.json()
    assert answer.headers["location"].endswith(f"/api/v1/datasets/{created['dataset_id']}")
    return created


@pytest.fixture(scope="module")
def risk_request(steward: httpx.Client, dataset: dict[str, Any]) -> dict[str, Any]:
    path = f"/datasets/{dataset['dataset_id']}/create-generalization-hierarchy"
    zips = {"transformation_type": "redaction", "attribute_name": "zip_code", "redaction_order": "right_to_left"}
    ages = {"transformation_type": "interval", "attribute_name": "age", "intervals": INTERVALS}
    return {
        "attributes": [
            {
                "attribute_name": "zip_code",
                "attribute_type": "quasi-identifying",
                "attribute_hierarchy": steward.post(path, json=zips).json()["hierarchy"],
            },
            {
                "attribute_name": "age",
                "attribute_type": "quasi-identifying",
                "attribute_hierarchy": steward.post(path, json=ages).json()["hierarchy"],
            },
            {"attribute_name": "disease", "attribute_type": "sensitive"},
            {"attribute_name": "gender", "attribute_type": "insensitive"},
            {"attribute_name": "married", "attribute_type": "insensitive"},
        ],
        "privacy_models": [
            {"model_name": "k-anonymity", "model_params": {"k": 5}},
            {"model_name": "l-diversity_distinct", "attribute_name": "disease", "model_params": {"l": 2}},
        ],
        "suppression_limit": 0.2,
    }


INTERVALS = [
    {"label": "young", "min": 0, "max": 18},
    {"label": "adult", "min": 18, "max": 70},
    {"label": "elderly", "min": 70, "max": 100},
]


def test_a_login_answers_with_two_tokens(server: Running, jane: dict[str, Any]) -> None:
    with server.client() as client:
        answer = client.post("/login", json={"email_address": "jane@example.com", "password": "123456"})
        wrong = client.post("/login", json={"email_address": "jane@example.com", "password": "654321"})
    assert answer.status_code == 200
    assert {"access_token", "refresh_token"} <= set(answer.json())
    assert all(answer.json()[name].count(".") == 2 for name in ("access_token", "refresh_token"))
    assert wrong.status_code == 401


def test_b_a_created_user_is_answered_as_in_the_appendix(jane: dict[str, Any]) -> None:
    assert set(jane) >= USER
    assert {name: jane[name] for name in JANE if name != "password"} == {
        k: v for k, v in JANE.items() if k != "password"
    }
    assert isinstance(jane["user_id"], int)
    assert "password" not in jane


def test_c_an_uploaded_dataset_is_answered_as_in_the_appendix(dataset: dict[str, Any]) -> None:
    assert set(dataset) >= {"created_at", "creator", "dataset_id", "description", "name"}
    assert {name: dataset[name] for name in DATASET} == DATASET
    assert {name: dataset["creator"][name] for name in JOHN} == JOHN
    assert set(dataset["creator"]) >= USER
    datetime.fromisoformat(dataset["created_at"])


def test_d_redaction_shows_one_star_more_at_each_level(steward: httpx.Client) -> None:
    zips = b"zip_code,age\n81667,13\n81668,28\n81667,71\n"
    files = {"file": ("zip.csv", zips, "text/csv")}
    number = steward.post("/datasets", files=files, data=DATASET).json()["dataset_id"]
    path = f"/datasets/{number}/create-generalization-hierarchy"
    redaction = {"transformation_type": "redaction", "attribute_name": "zip_code", "redaction_order": "right_to_left"}
    interval = {"attribute_name": "age", "transformation_type": "interval", "intervals": INTERVALS}
    first, second = steward.post(path, json=redaction), steward.post(path, json=interval)
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.json() == {
        "hierarchy": [
            ["81667", "8166*", "816**", "81***", "8****", "*****"],
            ["81668", "8166*", "816**", "81***", "8****", "*****"],
        ]
    }
    assert second.json() == {"hierarchy": [["13", "young", "*"], ["28", "adult", "*"], ["71", "elderly", "*"]]}


def test_e_the_risk_is_answered_as_in_the_appendix(
    steward: httpx.Client, dataset: dict[str, Any], risk_request: dict[str, Any]
) -> None:
    answer = steward.post(f"/datasets/{dataset['dataset_id']}/analyze-risk", json=risk_request)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert set(found) >= {"attribute_generalization", "risk_profile"}
    assert [entry["attribute_name"] for entry in found["attribute_generalization"]] == ["zip_code", "age"]
    assert all(isinstance(entry["generalization_level"], int) for entry in found["attribute_generalization"])
    profile = found["risk_profile"]
    assert set(profile) == {"attacker_success_rate", "distribution_of_risk", "re_identification_risk"}
    assert set(profile["attacker_success_rate"]) == {
        "journalist_attacker_success_rate",
        "marketer_attacker_success_rate",
        "prosecutor_attacker_success_rate",
    }
    assert set(profile["distribution_of_risk"][0]) >= {
        "interval",
        "records_with_maximal_risk_within_interval",
        "records_with_risk_within_interval",
    }
    assert re.fullmatch(r"\[50,100\]", profile["distribution_of_risk"][0]["interval"])
    assert set(profile["re_identification_risk"]) >= {
        "average_prosecutor_risk",
        "estimated_journalist_risk",
        "estimated_marketer_risk",
        "estimated_prosecutor_risk",
        "highest_journalist_risk",
        "highest_prosecutor_risk",
        "lowest_risk",
        "population_uniques",
        "records_affected_by_highest_journalist_risk",
        "records_affected_by_highest_prosecutor_risk",
        "records_affected_by_lowest_risk",
        "sample_uniques",
    }
    assert profile["re_identification_risk"]["highest_prosecutor_risk"] <= 1 / 5


def test_f_the_weighted_risk_is_one_number(
    steward: httpx.Client, dataset: dict[str, Any], risk_request: dict[str, Any]
) -> None:
    answer = steward.post(f"/datasets/{dataset['dataset_id']}/calculate-weighted-risk", json=risk_request)
    assert answer.status_code == 200
    assert 0 < answer.json()["risk"] < 1


def project(dataset: dict[str, Any], jane: dict[str, Any]) -> dict[str, Any]:
    """The request of appendix G, and the column that appendix H asks about."""
    bounds = {"datatype": "int", "min": 0, "max": 100}
    private = {"model_name": "epsilon-delta-differential_privacy", "model_params": {"epsilon": 2, "delta": 10e-16}}
    quasi = "quasi-identifying"
    return {
        **DATASET,
        "dataset_id": dataset["dataset_id"],
        "researcher_id": jane["user_id"],
        "config": {
            "attributes": [
                {"attribute_name": "age", "attribute_type": quasi, "metadata": bounds},
                {
                    "attribute_name": "gender",
                    "attribute_type": quasi,
                    "metadata": {"datatype": "str", "cardinality": 2},
                },
                {"attribute_name": "married", "attribute_type": quasi, "metadata": {"datatype": "bool"}},
            ],
            "privacy_models": [private],
        },
    }


def test_g_and_h_a_project_is_made_and_asked_as_in_the_appendix(
    steward: httpx.Client, researcher: httpx.Client, dataset: dict[str, Any], jane: dict[str, Any]
) -> None:
    answer = steward.post("/projects", json=project(dataset, jane))
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert answer.headers["location"].endswith(f"/api/v1/projects/{made['project_id']}")
    assert set(made) >= {
        "attributes", "created_at", "creator", "dataset_id", "description", "name", "project_id", "researcher",
    }  # fmt: skip
    shown = [{key: entry[key] for key in ("attribute_name", "metadata")} for entry in made["attributes"]]
    assert shown[0] == {"attribute_name": "age", "metadata": {"datatype": "int", "min": 0, "max": 100}}
    assert shown[1] == {"attribute_name": "gender", "metadata": {"cardinality": 2, "datatype": "str"}}
    assert set(made["creator"]) >= USER
    assert made["researcher"]["user_id"] == jane["user_id"]

    asked = researcher.post(
        f"/projects/{made['project_id']}/analyze",
        json={"query": "SELECT married, AVG(age) FROM PRIORI GROUP BY married"},
    )
    assert asked.status_code == 200, asked.text
    result = asked.json()["query_result"]
    assert result["married"] == {"0": False, "1": True}
    assert set(result["Col1"]) == {"0", "1"}
    assert all(20 < mean < 80 for mean in result["Col1"].values())


def test_a_researcher_downloads_the_anonymous_table(
    steward: httpx.Client,
    researcher: httpx.Client,
    dataset: dict[str, Any],
    jane: dict[str, Any],
    risk_request: dict[str, Any],
) -> None:
    body = {**project(dataset, jane), "config": risk_request}
    answer = steward.post("/projects", json=body)
    assert answer.status_code == 201, answer.text
    table = researcher.get(f"/projects/{answer.json()['project_id']}/csv")
    assert table.status_code == 200
    assert table.headers["content-type"].startswith("text/csv")
    header, *rows = table.text.splitlines()
    assert header == "zip_code,age,disease,gender,married"
    assert len(rows) == 900


def test_every_other_route_needs_a_token(server: Running) -> None:
    with server.client() as client:
        for path in ("/users", "/datasets", "/projects", "/jobs", "/projects/1/csv"):
            assert client.get(path).status_code == 401
        assert client.post("/projects/1/analyze", json={"query": "SELECT COUNT(*) FROM PRIORI"}).status_code == 401
