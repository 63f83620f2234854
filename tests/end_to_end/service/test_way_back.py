"""The way back over HTTP: one person asks, two others approve, and it is shown once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kohorte.errors import EngineError
from kohorte.service.permissions import Role
from kohorte.service.trust import way_back
from support.service import new_person_with
from support.trusting import House, house_in

PURPOSE = "incidental finding, tell the treating physician"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house_in(tmp_path_factory.mktemp("way-back") / "service") as opened:
        opened.post("trustee", "/domains", {"name": "study", "kind": "reversible"}, status=201)
        opened.post("trustee", "/domains", {"name": "hashed", "kind": "one-way"}, status=201)
        yield opened


def question(house: House, original: str = "A1C2D3E4", **changes: Any) -> dict[str, Any]:
    made = house.post("source", "/domains/study/pseudonyms", {"originals": [original]})["pseudonyms"]
    until = (datetime.now(UTC) + timedelta(days=3)).date().isoformat()
    return {"domain": "study", "pseudonyms": made, "purpose": PURPOSE, "until": until, **changes}


def asked(house: House, name: str = "researcher", **changes: Any) -> str:
    found = house.post(name, "/way-back", question(house, **changes), status=201)
    assert (found["state"], found["approvals_missing"]) == ("open", 2)
    return f"/way-back/{found['request']}"


def test_two_others_approve_and_the_person_who_asked_sees_it_once(house: House) -> None:
    request = asked(house, original="F5G6H7J8")
    assert house.post("researcher", f"{request}/show", status=403)["code"] == "way-back-open"
    assert house.post("approver", f"{request}/approve")["approvals_missing"] == 1
    assert house.post("approver", f"{request}/approve", status=403)["code"] == "way-back-twice"
    assert house.post("approver 2", f"{request}/approve")["state"] == "approved"
    shown = house.post("researcher", f"{request}/show")
    assert [one["original"] for one in shown["found"]] == ["F5G6H7J8"]
    assert house.post("researcher", f"{request}/show", status=403)["code"] == "way-back-shown"
    assert house.get("researcher", request)["state"] == "shown"


def test_what_people_approved_who_may_no_longer_approve_is_not_shown(house: House) -> None:
    request, former = asked(house), house.person("approver 9").user_id
    for name in ("approver", "approver 9"):
        house.post(name, f"{request}/approve")
    answer = house.ask("steward", "PATCH", f"/users/{former}", json={"disabled": True})
    assert answer.status_code == 200, answer.text
    assert house.post("researcher", f"{request}/show", status=403)["code"] == "way-back-approver"
    assert house.get("researcher", request)["state"] == "approved"


def test_a_failure_of_the_audit_log_does_not_use_up_the_one_time(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    request = asked(house)
    for name in ("approver", "approver 2"):
        house.post(name, f"{request}/approve")

    def fail(*_: object, **__: object) -> None:
        raise EngineError("no", code="service-database")

    with monkeypatch.context() as patch:
        patch.setattr(way_back, "note", fail)
        house.post("researcher", f"{request}/show", status=500)
    assert len(house.post("researcher", f"{request}/show")["found"]) == 1


def test_nobody_approves_their_own_request(house: House) -> None:
    name = "both"
    house.people[name] = new_person_with(house.service, house.client, Role.RESEARCHER, Role.APPROVER)
    request = asked(house, name)
    assert house.post(name, f"{request}/approve", status=403)["code"] == "way-back-own"
    assert house.get(name, request)["approvals_missing"] == 2


def test_a_request_of_somebody_else_does_not_exist_for_others(house: House) -> None:
    request = asked(house)
    unknown = house.ask("researcher 2", "POST", "/way-back/999999/show")
    for method, path in (("GET", request), ("POST", f"{request}/show"), ("POST", f"{request}/decline")):
        answer = house.ask("researcher 2", method, path)
        assert (answer.status_code, answer.json()) == (404, unknown.json())
    assert house.get("researcher 2", "/way-back")["total"] == 0
    assert house.get("approver", request)["purpose"] == PURPOSE
    log = (house.folder / "pseudonyms" / "log.jsonl").read_text().splitlines()
    refused = [json.loads(line) for line in log if "refuse way back" in line]
    actor = f"user {house.person('researcher 2').user_id}"
    assert (actor, "way-back-other") in {(one["actor"], one["details"]["reason"]) for one in refused}


def test_unknown_pseudonyms_are_asked_for_like_known_ones(house: House) -> None:
    known = question(house)
    assert house.post("researcher", "/way-back", known, status=201)["pseudonyms"] == 1
    house.post("trustee", "/domains", {"name": "list", "kind": "list"}, status=201)
    house.post("source", "/domains/list/pseudonyms", {"originals": ["x"]})
    house.post("trustee", "/domains", {"name": "twin", "kind": "list"}, status=201)
    strange = house.post("source", "/domains/twin/pseudonyms", {"originals": ["x"]})["pseudonyms"]
    request = house.post("researcher", "/way-back", known | {"domain": "list", "pseudonyms": strange}, status=201)
    for name in ("approver", "approver 2"):
        house.post(name, f"/way-back/{request['request']}/approve")
    shown = house.post("researcher", f"/way-back/{request['request']}/show")
    assert [one["original"] for one in shown["found"]] == [None]


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"domain": "unknown"}, 404, "not-found"),
        ({"key_version": 2}, 400, "pseudonym-version-unknown"),
        ({"domain": "hashed"}, 400, "pseudonym-one-way"),
        ({"pseudonyms": ["no pseudonym at all"]}, 400, "pseudonym-wrong"),
        ({"purpose": "because"}, 400, "way-back-purpose"),
        ({"until": "2020-01-01"}, 400, "way-back-until"),
        ({"until": "9999-12-31T23:59:59-12:00"}, 400, "way-back-until"),
        ({"until": "tomorrow"}, 400, "invalid-request"),
        ({"pseudonyms": []}, 400, "invalid-request"),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused(
    house: House, change: dict[str, Any], status: int, code: str
) -> None:
    answer = house.post("researcher", "/way-back", question(house) | change, status=status)
    assert answer["code"] == code
    assert "no pseudonym at all" not in json.dumps(answer)


def test_a_request_is_declined_or_taken_back_for_good(house: House) -> None:
    for name in ("approver", "researcher"):
        request = asked(house)
        assert house.post(name, f"{request}/decline")["state"] == "declined"
        assert house.post("approver", f"{request}/approve", status=403)["code"] == "way-back-declined"


def test_an_officer_sees_requests_and_reads_notices_once(house: House) -> None:
    request = asked(house)
    assert house.get("data-protection-officer", request)["state"] == "open"
    assert house.post("data-protection-officer", f"{request}/decline", status=403)["code"] == "not-allowed"
    notices = house.post("data-protection-officer", "/way-back/notices")["notices"]
    assert ("ask way back", request.replace("/way-back/", "request ")) in {
        (one["action"], one["about"]) for one in notices
    }
    assert house.post("data-protection-officer", "/way-back/notices")["notices"] == []
    assert house.post("approver", "/way-back/notices", status=403)["code"] == "not-allowed"


@pytest.mark.parametrize("role", ["approver", "operator", "data-protection-officer", "source"])
def test_only_researchers_stewards_and_trustees_ask(house: House, role: str) -> None:
    assert house.post(role, "/way-back", question(house), status=403)["code"] == "not-allowed"
