"""The operations of gPAS and Vfps over HTTP, as their clients call them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from httpx import Response
from sqlalchemy import text

from support.service import PASSWORD
from support.trusting import House, house_in

GPAS, VFPS = "/ttp-fhir/fhir/gpas/", "/v1/fhir/"
FHIR = "application/fhir+json"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house_in(tmp_path_factory.mktemp("fhir") / "service") as opened:
        opened.post("trustee", "/domains", {"name": "study", "kind": "list"}, status=201)
        yield opened


def call(house: House, name: str, path: str, *pairs: tuple[str, str | int]) -> Response:
    entries = [{"name": key, "valueInteger" if isinstance(one, int) else "valueString": one} for key, one in pairs]
    body = {"resourceType": "Parameters", "parameter": entries}
    headers = {**house.person(name).headers, "Content-Type": FHIR}
    return house.client.post(path, json=body, headers=headers)


def parts(answer: Response) -> list[dict[str, str]]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith(FHIR)
    return [
        {part["name"]: part["valueIdentifier"]["value"] for part in entry["part"] if "valueIdentifier" in part}
        for entry in answer.json()["parameter"]
    ]


def made(house: House, *originals: str) -> list[str]:
    pairs = [("original", one) for one in originals]
    found = parts(call(house, "source", f"{GPAS}$pseudonymizeAllowCreate", ("target", "study"), *pairs))
    return [one["pseudonym"] for one in found]


def test_clients_of_gpas_and_vfps_get_the_pseudonyms_of_the_domain(house: House) -> None:
    first, second = made(house, "4711", "4712")
    assert house.post("source", "/domains/study/pseudonyms", {"originals": ["4711", "4712"]})["pseudonyms"] == [
        first,
        second,
    ]
    old = call(house, "source", f"{GPAS}$pseudonymize-allow-create", ("target", "STUDY"), ("original", "4711"))
    assert parts(old) == [{"target": "STUDY", "original": "4711", "pseudonym": first}]
    vfps = call(house, "trustee", f"{VFPS}$create-pseudonym", ("namespace", "study"), ("originalValue", "4712"))
    assert vfps.json()["parameter"][-1] == {"name": "pseudonymValue", "valueString": second}


def with_password(house: House, path: str, password: str = PASSWORD, *, address: str = "") -> Response:
    """Send a request as clients of gPAS do, which have an address and a password and know no tokens."""
    entries = [{"name": "target", "valueString": "study"}, {"name": "original", "valueString": "4711"}]
    body = {"resourceType": "Parameters", "parameter": entries}
    return house.client.post(
        path,
        json=body,
        headers={"Content-Type": FHIR},
        auth=(address or house.person("source").email_address, password),
    )


def test_clients_sign_in_with_address_and_password_once_for_many_requests(house: House) -> None:
    first = [parts(with_password(house, f"{GPAS}$pseudonymizeAllowCreate")) for _ in range(3)]
    assert first == [[{"target": "study", "original": "4711", "pseudonym": made(house, "4711")[0]}]] * 3
    with house.service.database.reading() as connection:
        of = {"of": house.person("source").user_id}
        begun = connection.execute(text("SELECT count(*) FROM sessions WHERE user_id = :of"), of).scalar_one()
    assert begun == 2  # that of the person, and one for all three requests


def test_passwords_are_accepted_by_the_operations_of_fhir_only_and_roles_count(house: House) -> None:
    assert with_password(house, f"{GPAS}$pseudonymizeAllowCreate", "wrong").status_code == 401
    assert with_password(house, "/api/v1/domains/study/pseudonyms").json()["code"] == "not-signed-in"
    assert with_password(house, f"{GPAS}$pseudonymize").json()["code"] == "not-allowed"
    for header in ("Basic", "Basic !", "Basic Og==", f"Basic {'QQ==' * 2000}"):
        answer = house.client.post(f"{GPAS}$pseudonymize", json={}, headers={"Authorization": header})
        assert (answer.status_code, answer.json()["code"]) == (401, "not-signed-in")


def test_an_account_that_is_disabled_is_refused_at_once(house: House) -> None:
    path, address = f"{GPAS}$pseudonymizeAllowCreate", house.person("source 2").email_address
    assert with_password(house, path, address=address).status_code == 200
    disabled = house.ask("steward", "PATCH", f"/users/{house.person('source 2').user_id}", json={"disabled": True})
    assert disabled.status_code == 200, disabled.text
    assert with_password(house, path, address=address).status_code == 401


def test_only_a_trustee_learns_who_is_in_a_list(house: House) -> None:
    made(house, "known")
    asked = [("target", "study"), ("original", "known"), ("original", "nobody")]
    found = call(house, "trustee", f"{GPAS}$pseudonymize", *asked)
    assert [entry["name"] for entry in found.json()["parameter"]] == ["pseudonym", "error"]
    assert call(house, "source", f"{GPAS}$pseudonymize", *asked).status_code == 403


def test_the_way_back_needs_two_approvers_here_too(house: House) -> None:
    [pseudonym] = made(house, "canary-1")
    path, asked = f"{GPAS}$dePseudonymize", [("target", "study"), ("pseudonym", pseudonym)]
    for name in ("source", "approver"):
        assert call(house, name, path, *asked).status_code == 403
    alone = call(house, "researcher", path, *asked)
    assert alone.status_code == 403
    assert alone.headers["content-type"].startswith(FHIR)
    [issue] = alone.json()["issue"]
    assert (issue["code"], issue["details"]["coding"][0]["code"]) == ("forbidden", "fhir-way-back")
    until = (datetime.now(UTC) + timedelta(days=3)).date().isoformat()
    question = {"domain": "study", "pseudonyms": [pseudonym], "purpose": "incidental finding", "until": until}
    number = house.post("researcher", "/way-back", question, status=201)["request"]
    with_number = (*asked, ("request", number))
    assert outcome(call(house, "researcher", path, *with_number)) == (403, "way-back-open")
    for name in ("approver", "approver 2"):
        house.post(name, f"/way-back/{number}/approve")
    assert outcome(call(house, "researcher 2", path, *with_number)) == (404, "not-found")
    [other] = made(house, "canary-2")
    wrong = (asked[0], ("pseudonym", other), ("request", number))
    assert outcome(call(house, "researcher", path, *wrong)) == (400, "fhir-way-back")
    assert outcome(call(house, "researcher 2", path, *asked, ("request", 999))) == (404, "not-found")
    [shown] = parts(call(house, "researcher", f"{GPAS}$de-pseudonymize", *with_number))
    assert shown["original"] == "canary-1"
    assert outcome(call(house, "researcher", path, *with_number)) == (403, "way-back-shown")


def outcome(answer: Response) -> tuple[int, str]:
    resource = answer.json()
    assert resource["resourceType"] == "OperationOutcome"
    assert "canary" not in answer.text
    return answer.status_code, resource["issue"][0]["details"]["coding"][0]["code"]


def test_what_is_wrong_is_an_operation_outcome_and_who_is_unknown_gets_a_problem(house: House) -> None:
    path = f"{GPAS}$pseudonymizeAllowCreate"
    assert outcome(call(house, "source", path, ("target", "canary"), ("original", "x"))) == (404, "not-found")
    assert outcome(call(house, "source", path, ("target", "study"))) == (400, "fhir-parameters")
    assert house.client.post(path, json={"resourceType": "Parameters"}).json()["code"] == "not-signed-in"
    headers = {**house.person("source").headers, "Content-Type": "application/fhir+xml"}
    assert house.client.post(path, content="<Parameters/>", headers=headers).status_code == 415
    assert house.client.get(path, headers=headers).status_code == 405
    assert house.client.post(f"{GPAS}$delete", headers=headers).status_code == 404


def test_the_audit_log_has_counts_and_no_values(house: House) -> None:
    made(house, "canary-3", "canary-4")
    steward: Any = house.get("steward", "/audit?limit=100")
    assert "canary" not in str(steward)
    found = [entry for entry in steward["entries"] if entry["action"] == "pseudonymize"]
    assert found
    assert "canary" not in (house.folder / "pseudonyms" / "log.jsonl").read_text()
