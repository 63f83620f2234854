from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient

from kohorte.service.permissions import RULES, Permission
from kohorte.service.settings import Settings
from kohorte.service.web.app import create_app
from support.service import new_service

from .conftest import Open

FHIR = "application/fhir+json"
OPEN = {name for name, permission in RULES.items() if permission is Permission.ANYONE}


@pytest.fixture(scope="module")
def description(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The description of the service alone, without the routes of these tests; no test changes it."""
    with new_service(Settings.load(tmp_path_factory.mktemp("described") / "service", {})) as service:
        answer = TestClient(create_app(service)).get("/openapi.json")
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def operations(description: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in description["paths"].items():
        for operation in methods.values():
            yield path, operation


def test_the_description_is_openapi_3_1(description: dict[str, Any]) -> None:
    definitions = pytest.importorskip("schemathesis.specs.openapi.definitions")
    assert description["openapi"].startswith("3.1")
    assert [str(error) for error in jsonschema_rs.validator_for(definitions.OPENAPI_31).iter_errors(description)] == []


def test_every_reference_leads_somewhere(description: dict[str, Any]) -> None:
    known = {f"#/components/schemas/{name}" for name in description["components"]["schemas"]}
    assert set(references(description)) <= known


def references(part: object) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for inner in part.values():
            yield from references(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from references(inner)


def test_every_operation_is_named_as_its_rule_and_no_rule_is_without_a_route(open_client: Open) -> None:
    app = create_app(open_client().app.state.service)  # type: ignore[attr-defined]
    names = {str(route.name) for route in iter_route_contexts(app.routes)}
    assert {name for name in names if not name.startswith("screen_")} == set(RULES)


def test_every_operation_says_what_it_does_and_how_it_fails(description: dict[str, Any]) -> None:
    tags = {tag["name"] for tag in description["tags"]}
    for path, operation in operations(description):
        assert operation["operationId"] in RULES
        assert operation["summary"], path
        assert operation["description"], path
        assert set(operation["tags"]) <= tags
        assert {"400", "401", "403", "404", "429"} <= set(operation["responses"]), path


def test_every_error_is_described_as_a_problem(description: dict[str, Any]) -> None:
    for path, operation in operations(description):
        for status, response in operation["responses"].items():
            if status[0] == "4":
                kinds = {"application/problem+json"} | ({FHIR} if FHIR in response["content"] else set())
                assert set(response["content"]) == kinds, (path, status)
                assert FHIR not in kinds or not path.startswith("/api/v1"), path
    assert "HTTPValidationError" not in description["components"]["schemas"]


def test_the_examples_of_problems_are_problems(description: dict[str, Any]) -> None:
    validator = jsonschema_rs.validator_for(description["components"]["schemas"]["Problem"])
    for _, operation in operations(description):
        for status, response in operation["responses"].items():
            if status[0] == "4":
                example = response["content"]["application/problem+json"]["example"]
                assert validator.is_valid(example)
                assert example["status"] == int(status)


def test_all_but_the_open_operations_ask_for_a_token(description: dict[str, Any]) -> None:
    schemes = description["components"]["securitySchemes"]
    assert [(scheme["type"], scheme["scheme"]) for scheme in schemes.values()] == [("http", "bearer")]
    for _, operation in operations(description):
        assert bool(operation["security"]) == (operation["operationId"] not in OPEN)


def test_the_description_names_no_outside_address(description: dict[str, Any]) -> None:
    assert description["servers"] == [{"url": "/"}]
    assert "http" not in str(description["info"])


def test_schemas_have_names_that_people_read(description: dict[str, Any]) -> None:
    names = set(description["components"]["schemas"])
    assert [name for name in names if "__" in name] == []
    assert {"JobAnswer", "UserAnswer"} <= names
