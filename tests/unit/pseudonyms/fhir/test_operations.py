"""The operations of gPAS and Vfps: what clients send and get, and no way around the two approvers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kohorte import InputError
from kohorte.errors import AccessDenied, EngineError
from kohorte.pseudonyms.domains import Domains
from kohorte.pseudonyms.fhir.operations import GPAS, operation_outcome, pseudonymize
from kohorte.pseudonyms.fhir.serving import ALLOW_CREATE, OPERATIONS, WAY_BACK, FhirOperations
from kohorte.pseudonyms.resolving import Source
from kohorte.trust.way_back import WayBack


def parameters(*pairs: tuple[str, object]) -> dict[str, Any]:
    kinds = {str: "valueString", int: "valueInteger", dict: "valueIdentifier"}
    entries = [{"name": name, kinds[type(value)]: value} for name, value in pairs]
    return {"resourceType": "Parameters", "parameter": entries}


def values(answer: dict[str, Any]) -> list[tuple[str, dict[str, str]]]:
    """The answer as clients of gPAS read it: the name of each parameter, and the values of its parts."""
    found = []
    for entry in answer["parameter"]:
        parts = {part["name"]: part.get("valueIdentifier", part.get("valueCoding")) for part in entry["part"]}
        assert all(part.get("system", "").startswith(GPAS) for part in parts.values())
        found.append((entry["name"], {name: part.get("value", part.get("code")) for name, part in parts.items()}))
    return found


@pytest.fixture
def operations(domains: Domains) -> FhirOperations:
    return FhirOperations(domains, actor="user 1")


@pytest.mark.parametrize("name", ALLOW_CREATE)
@pytest.mark.parametrize("domain", ["study", "encounters", "mrn"])
def test_values_get_pseudonyms_and_the_same_ones_again(
    operations: FhirOperations, domains: Domains, name: str, domain: str
) -> None:
    asked = parameters(("target", domain.upper()), ("original", "1001"), ("original", " 1002 "), ("original", "1001"))
    found = values(operations.answered(name, asked))
    assert [(kind, parts["original"], parts["target"]) for kind, parts in found] == [
        ("pseudonym", "1001", domain.upper()),
        ("pseudonym", " 1002 ", domain.upper()),
    ]
    opened = domains.open(domain)
    made = [parts["pseudonym"] for _, parts in found]
    assert made == opened.kind.pseudonyms(["1001", "1002"], opened.keys.current).pseudonyms
    assert values(operations.answered("$pseudonymize", asked)) == found


def test_looking_up_adds_nobody_and_an_unknown_value_is_an_error_part(operations: FhirOperations) -> None:
    operations.answered("$pseudonymizeAllowCreate", parameters(("target", "encounters"), ("original", "known")))
    asked = parameters(("target", "encounters"), ("original", "known"), ("original", "new"), ("original", "  "))
    for _ in range(2):
        first, second, third = values(operations.answered("$pseudonymize", asked))
        assert first[0] == "pseudonym"
        assert second == ("error", {"target": "encounters", "original": "new", "error-code": "not-found"})
        assert third[0] == "error"


def test_vfps_creates_one_pseudonym(operations: FhirOperations, domains: Domains) -> None:
    asked = parameters(("namespace", "study"), ("originalValue", "4711"))
    study = domains.open("study")
    [expected] = study.kind.pseudonyms(["4711"], study.keys.current).pseudonyms
    assert operations.answered("$create-pseudonym", asked) == {
        "resourceType": "Parameters",
        "parameter": [
            {"name": "namespace", "valueString": "study"},
            {"name": "originalValue", "valueString": "4711"},
            {"name": "pseudonymValue", "valueString": expected},
        ],
    }


@pytest.mark.parametrize("name", WAY_BACK)
def test_the_way_back_needs_an_approved_request_and_is_shown_once(
    operations: FhirOperations, domains: Domains, name: str
) -> None:
    opened = domains.open("encounters")
    made = opened.kind.pseudonyms(["4711", "4712"], opened.keys.current).pseudonyms
    asked = [("target", "encounters"), *(("pseudonym", one) for one in made)]
    with pytest.raises(AccessDenied, match="two others") as alone:
        operations.answered(name, parameters(*asked))
    assert alone.value.code == "fhir-way-back"
    way_back = WayBack(domains.folder)
    until = datetime.now(UTC) + timedelta(days=1)
    purpose = "incidental finding, for the physician"
    request = way_back.ask(str(Source("encounters")), made, purpose=purpose, until=until, actor="user 1")
    with_number = parameters(*asked, ("request", request.number))
    way_back.approve(request.number, actor="user 2")
    with pytest.raises(AccessDenied) as missing:
        operations.answered(name, with_number)
    assert missing.value.code == "way-back-open"
    way_back.approve(request.number, actor="user 3")
    for wrong in (
        parameters(asked[0], asked[1], ("request", request.number)),
        parameters(("target", "mrn"), *asked[1:], ("request", request.number)),
    ):
        with pytest.raises(InputError) as other:
            operations.answered(name, wrong)
        assert other.value.code == "fhir-way-back"
    with pytest.raises(AccessDenied) as stranger:
        FhirOperations(domains, actor="user 4").answered(name, with_number)
    assert stranger.value.code == "way-back-other"
    found = values(operations.answered(name, parameters(*asked, ("request", str(request.number)))))
    assert [(kind, parts["original"], parts["pseudonym"]) for kind, parts in found] == [
        ("original", "4711", made[0]),
        ("original", "4712", made[1]),
    ]
    with pytest.raises(AccessDenied) as again:
        operations.answered(name, with_number)
    assert again.value.code == "way-back-shown"


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {"resourceType": "Patient", "parameter": []},
        {"resourceType": "Parameters"},
        parameters(("original", "canary")),
        parameters(("target", "study")),
        parameters(("target", "study"), ("target", "mrn"), ("original", "canary")),
        parameters(("target", "study"), ("original", 4711)),
        parameters(("target", "study"), ("original", "")),
    ],
)
def test_parameters_that_are_not_clear_are_refused(operations: FhirOperations, body: object) -> None:
    for name in [one for names in OPERATIONS.values() for one in names]:
        with pytest.raises(InputError) as refused:
            operations.answered(name, body)
        assert refused.value.code == "fhir-parameters"
        assert "canary" not in refused.value.message


def test_too_many_values_are_refused() -> None:
    many = parameters(("target", "study"), *(("original", str(number)) for number in range(10_001)))
    with pytest.raises(InputError, match="10,000 times"):
        pseudonymize(many, lambda _, texts: texts)


def test_an_identifier_is_a_value_too() -> None:
    asked = parameters(("target", "study"), ("original", {"system": "x", "value": "4711"}))
    [(_, parts)] = values(pseudonymize(asked, lambda _, texts: [f"P{one}" for one in texts]))
    assert parts["pseudonym"] == "P4711"


def test_unknown_operations_and_domains_are_refused(operations: FhirOperations) -> None:
    asked = parameters(("target", "nowhere"), ("original", "canary"))
    with pytest.raises(InputError) as domain:
        operations.answered("$pseudonymize", asked)
    with pytest.raises(InputError) as operation:
        operations.answered("$delete", asked)
    assert (domain.value.code, operation.value.code) == ("pseudonym-domain-unknown", "fhir-operation")
    [issue] = operation_outcome(domain.value)["issue"]
    assert (issue["severity"], issue["code"]) == ("error", "not-found")
    assert issue["details"] == {"coding": [{"code": "pseudonym-domain-unknown"}]}
    assert "canary" not in issue["diagnostics"]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InputError("x", code="fhir-parameters"), "invalid"),
        (AccessDenied("x", code="fhir-way-back"), "forbidden"),
        (EngineError("x", code="trust-database"), "transient"),
    ],
)
def test_errors_are_told_as_fhir_tells_them(error: Any, code: str) -> None:
    assert operation_outcome(error)["issue"][0]["code"] == code
