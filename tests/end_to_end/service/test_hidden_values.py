"""No way out of the service shows a value that the protection hides: not the table, nor anything told about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from testbed import story
from testbed.running import RESEARCHER, Running, running

CANARY_ZIP, CANARY_SSN, CANARY_AGE = "90817", "canary-4711", "97"
ROWS = [f"ssn-{row},{10000 + row % 40},{20 + row % 50},{('flu', 'angina', 'stroke')[row % 3]}" for row in range(400)]
TABLE = "\n".join(["ssn,zip,age,disease", *ROWS, f"{CANARY_SSN},{CANARY_ZIP},{CANARY_AGE},canary-disease"]).encode()
CANARIES = re.compile(rf"{CANARY_ZIP}|{CANARY_SSN}|\b{CANARY_AGE}\b|canary-label")
ZIPS = [f"{10000 + number}" for number in range(40)]
TREE = {"tree": {"north": ZIPS[:20], "south": [*ZIPS[20:], CANARY_ZIP]}}
ORDERING = {"ordering": {"values": [*map(str, range(20, 70)), CANARY_AGE], "fanouts": [10]}}
LABELS = {"levels": [{"bounds": [0, 50, 97, 120], "labels": ["younger", "older", "canary-label"]}]}
PLAN = {
    "attributes": {
        "ssn": {"role": "identifying"},
        "zip": {"role": "quasi-identifying", "hierarchy": TREE},
        "age": {"role": "quasi-identifying", "hierarchy": {"intervals": LABELS}},
        "disease": {"role": "sensitive"},
    },
    "models": [{"model": "k-anonymity", "k": 5}],
    "suppression_limit": 0.05,
}
RELEASES = ("rows", "builders", "plan")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("answers") / "service") as service:
        service.set_up()
        yield service


@pytest.fixture(scope="module")
def steward(server: Running) -> Iterator[httpx.Client]:
    with server.signed_in() as client:
        yield client


@pytest.fixture(scope="module")
def made(steward: httpx.Client) -> dict[str, int]:
    """A dataset with one remarkable person, releases of it with all ways to list values, and an open project."""
    dataset_id, researcher_id = story.dataset(steward, TABLE), story.researcher(steward)
    path = f"/datasets/{dataset_id}/create-generalization-hierarchy"
    intervals = [{"label": "younger", "min": 0, "max": 50}, {"label": "older", "min": 50, "max": 120}]
    zips = {"transformation_type": "redaction", "attribute_name": "zip", "redaction_order": "right_to_left"}
    ages = {"transformation_type": "interval", "attribute_name": "age", "intervals": intervals}
    zip_rows, age_rows = (steward.post(path, json=body).json()["hierarchy"] for body in (zips, ages))
    quasi = "quasi-identifying"
    configs = {
        "rows": release({"attribute_hierarchy": zip_rows}, {"attribute_hierarchy": age_rows}),
        "builders": release({"hierarchy": TREE}, {"hierarchy": ORDERING}),
        "plan": {"plan": PLAN},
    }
    questions = {
        "attributes": [
            {"attribute_name": "ssn", "attribute_type": "identifying"},
            {"attribute_name": "age", "attribute_type": quasi, "metadata": {"datatype": "int", "min": 0, "max": 90}},
            {"attribute_name": "zip", "attribute_type": quasi, "metadata": {"datatype": "str", "cardinality": 50}},
        ],
        "privacy_models": [
            {"model_name": "epsilon-delta-differential_privacy", "model_params": {"epsilon": 5, "delta": 1e-6}}
        ],
    }
    return {
        "dataset": dataset_id,
        "questions": story.project(steward, dataset_id, researcher_id, questions),
        **{name: story.project(steward, dataset_id, researcher_id, config) for name, config in configs.items()},
    }


def release(zips: dict[str, Any], ages: dict[str, Any]) -> dict[str, Any]:
    """A config with these hierarchies."""
    return {
        "attributes": [
            {"attribute_name": "ssn", "attribute_type": "identifying"},
            {"attribute_name": "zip", "attribute_type": "quasi-identifying", **zips},
            {"attribute_name": "age", "attribute_type": "quasi-identifying", **ages},
            {"attribute_name": "disease", "attribute_type": "sensitive"},
        ],
        "privacy_models": [{"model_name": "k-anonymity", "model_params": {"k": 5}}],
        "suppression_limit": 0.05,
    }


def all_answers(client: httpx.Client, made: dict[str, int]) -> dict[str, httpx.Response]:
    """Everything that a researcher can get."""
    questions = made["questions"]
    parts = ("", "/csv", "/preview", "/certificate", "/report")
    found = {f"{name}{part}": client.get(f"/projects/{made[name]}{part}") for name in RELEASES for part in parts}
    found["projects"] = client.get("/projects")
    found["jobs"] = client.get("/jobs")
    for part in ("", "/budget", "/questions", "/dummy-data"):
        found[f"questions{part}"] = client.get(f"/projects/{questions}{part}")
    body = {"query": "SELECT zip, COUNT(*) FROM PRIORI GROUP BY zip", "epsilon": 1, "delta": 1e-7}
    found["analyze"] = client.post(f"/projects/{questions}/analyze", json=body)
    found["estimate"] = client.post(f"/projects/{questions}/estimate", json=body)
    found["refused"] = client.post(f"/projects/{questions}/analyze", json={"query": "SELECT zip FROM PRIORI"})
    return found


@pytest.mark.slow
def test_no_exit_shows_the_one_remarkable_person(server: Running, made: dict[str, int]) -> None:
    with server.signed_in(RESEARCHER["email_address"]) as client:
        found = all_answers(client, made)
    shown = {
        name for name, answer in found.items() if name != "questions/dummy-data" and CANARIES.search(_shown(answer))
    }
    assert {name: answer.status_code for name, answer in found.items() if answer.status_code != 200} == {"refused": 400}
    assert shown == set()
    assert {len(found[f"{name}/csv"].text.splitlines()) for name in RELEASES} == {402}


def _shown(answer: httpx.Response) -> str:
    """The text of an answer without its moments and noise, in which any digits may stand."""
    return re.sub(
        r"\d\d:\d\d:\d\d[.\d]*|\d+\.\d+|#[0-9a-f]{6}|[0-9a-f]{64}|[mML]-?[\d. ]+|[\w-]+=\"[\d. ]+\"", "", answer.text
    )


def test_nobody_else_gets_anything(server: Running, steward: httpx.Client, made: dict[str, int]) -> None:
    other: dict[str, Any] = {**RESEARCHER, "email_address": "else@example.com", "password": "something quite long"}
    steward.post("/users", json={**other, "privileged_status": False}).raise_for_status()
    with server.signed_in("else@example.com", "something quite long") as client:
        found = all_answers(client, made)
    lists = {name: answer.json()["total"] for name, answer in found.items() if name in ("projects", "jobs")}
    rest = {answer.status_code for name, answer in found.items() if name not in lists}
    assert (lists, rest) == ({"projects": 0, "jobs": 0}, {404})


def test_nothing_lies_open_on_the_disk(server: Running, made: dict[str, int], tmp_path_factory: Any) -> None:
    folder = next(tmp_path_factory.getbasetemp().glob("answers*"))
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 4
    for path in files:
        content = path.read_bytes()
        assert not re.search(rb"canary|(?<![0-9a-f])90817(?![0-9a-f])|ssn-39", content), path.name
