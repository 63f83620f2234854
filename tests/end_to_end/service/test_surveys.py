"""Surveys over REST: the answers of the command, for the roles that plan surveys, within limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from fastapi.testclient import TestClient

from kohorte.cli.main import main
from kohorte.service.context import Service
from kohorte.service.permissions import Role
from support.service import Person, new_person_with, on_sqlite

pytestmark = on_sqlite
SURVEY: dict[str, Any] = {
    "people": 40,
    "questions": {
        "sex": {"categories": {"female": 0.51, "male": 0.49}},
        "school": {"categories": ["primary", "secondary", "tertiary"], "merge": False},
        "region": {"categories": {"north": 0.5, "south": 0.5}, "ordered": False},
    },
}


@pytest.fixture
def researcher(service: Service, client: TestClient) -> Person:
    return new_person_with(service, client, Role.RESEARCHER)


def asked(client: TestClient, person: Person, what: str, **body: Any) -> Any:
    return client.post(f"/api/v1/surveys/{what}", json={"survey": SURVEY, **body}, headers=person.headers).json()


def printed(capsys: pytest.CaptureFixture[str], folder: Path, *options: str) -> Any:
    (folder / "survey.yaml").write_text(yaml.safe_dump(SURVEY, sort_keys=False), encoding="utf-8")
    main(["survey", options[0], str(folder / "survey.yaml"), *options[1:], "--json"])
    return json.loads(capsys.readouterr().out)


def test_the_answers_are_those_of_the_command(
    client: TestClient, researcher: Person, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    estimated = asked(client, researcher, "estimate")
    assert estimated == printed(capsys, tmp_path, "estimate")
    planned = asked(client, researcher, "plan", percent=2, by="worst", people=50)
    assert planned == printed(capsys, tmp_path, "plan", "--percent", "2", "--by", "worst", "--people", "50")


def test_merges_are_tried_and_forbidden_ones_refused(client: TestClient, researcher: Person) -> None:
    tried = asked(client, researcher, "estimate", merges={"region": [["north", "south"]]})
    assert tried["lost_bits"] == pytest.approx(1)
    assert list(tried["survey"]["questions"]) == ["sex", "school"]
    assert tried["cells"] == 6
    refused = asked(client, researcher, "estimate", merges={"school": [["primary", "secondary"]]})
    assert refused["code"] == "survey-merge"


def test_curves_have_a_point_for_each_number_of_people(client: TestClient, researcher: Person) -> None:
    curves = asked(client, researcher, "curves")
    assert curves["people"][-1] == 120
    assert len(curves["percents"]["expected"]) == len(curves["people"])


@pytest.mark.parametrize("given", [{"normalize": 0}, {"percent": False}, {"people": True}])
def test_a_field_of_another_type_is_refused(client: TestClient, researcher: Person, given: dict[str, Any]) -> None:
    assert asked(client, researcher, "plan", **{"percent": 2, **given})["code"] == "invalid-request"


def test_a_questionnaire_is_limited(client: TestClient, researcher: Person) -> None:
    many = {"questions": {f"q{number}": {"categories": ["a", "b"]} for number in range(41)}, "people": 5}
    assert asked(client, researcher, "curves", survey=many)["code"] == "survey-too-large"
    assert asked(client, researcher, "curves", survey={**SURVEY, "people": 10**9})["code"] == "survey-too-large"
    assert asked(client, researcher, "plan", percent=101)["status"] == 400


@pytest.mark.parametrize("role", list(Role))
def test_stewards_researchers_and_officers_plan_surveys(service: Service, client: TestClient, role: Role) -> None:
    person = new_person_with(service, client, role)
    allowed = role in (Role.STEWARD, Role.RESEARCHER, Role.DATA_PROTECTION_OFFICER)
    assert (asked(client, person, "curves").get("status", 200) == 200) is allowed
