"""The patient list over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from kohorte.patients.identity import FIELDS
from kohorte.service.web.models.patients import Person
from support.trusting import House, house_in

ANNA = {
    "first_names": "Anna", "last_name": "Eichhorst", "birth_date": "1960-12-30", "sex": "w", "postcode": "01067",
    "place": "Dresden", "insurance_number": "A123456789",
}  # fmt: skip
MARRIED = ANNA | {"last_name": "Bauer", "insurance_number": ""}
OTTO = {"first_names": "Otto", "last_name": "Zwickel", "birth_date": "1975-05-17", "sex": "m", "postcode": "24103"}
NOBODY = {"place": "Kiel"}


@pytest.fixture
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house_in(tmp_path_factory.mktemp("patients") / "service", sources_get_pids=True) as opened:
        yield opened


def register(house: House, *people: dict[str, str], name: str = "trustee") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = house.post(name, "/patients/registrations", {"people": people})["registrations"]
    return found


def test_the_body_has_the_fields_of_identity() -> None:
    assert tuple(Person.model_fields) == FIELDS


def test_people_get_one_pid_and_only_trustees_learn_who_was_known(house: House) -> None:
    first = register(house, ANNA, OTTO, NOBODY, MARRIED)
    assert [one["outcome"] for one in first] == ["new", "new", "insufficient", "grey"]
    assert first[2]["pid"] is None
    again = register(house, OTTO, ANNA, name="source")
    assert [one["pid"] for one in again] == [first[1]["pid"], first[0]["pid"]]
    stranger = register(house, OTTO | {"last_name": "Fremdling", "birth_date": "1931-02-03"}, name="source")
    assert {one["outcome"] for one in (*again, *stranger)} == {"registered"}
    assert [one["outcome"] for one in register(house, ANNA)] == ["known"]


def test_the_list_is_sealed_with_a_new_key_and_pids_stay(house: House) -> None:
    before = register(house, ANNA)
    assert house.post("trustee", "/patients/rotate-key") == {"key_version": 2}
    assert register(house, ANNA)[0]["pid"] == before[0]["pid"]
    assert house.post("source", "/patients/rotate-key", status=403)["code"] == "not-allowed"


def test_a_case_is_shown_side_by_side_decided_and_corrected(house: House) -> None:
    anna, married = (one["pid"] for one in register(house, ANNA, MARRIED))
    listed = house.get("trustee", "/patients/cases")
    assert (listed["total"], {listed["cases"][0][name] for name in ("pid", "other_pid")}) == (1, {anna, married})
    assert "Bauer" not in json.dumps(listed)
    case = f"/patients/cases/{listed['cases'][0]['case']}"
    shown = house.get("trustee", case)
    names = {shown["this_record"]["last_name"], *(one["last_name"] for one in shown["other_records"])}
    assert names == {"Eichhorst", "Bauer"}
    decided = house.post("trustee", f"{case}/decision", {"verdict": "same"})
    assert set(decided.values()) == {anna, married}
    assert house.post("trustee", f"{case}/decision", {"verdict": "same"}, status=409)["code"] == "patients-case-decided"
    history = house.post("trustee", "/patients/history", {"pid": married})
    assert (history["pid"], len(history["records"])) == (decided["pid"], 2)
    split = house.post("trustee", "/patients/split", {"pid": decided["pid"], "records": [2]})
    assert set(split.values()) == {anna, married}
    merged = house.post("trustee", "/patients/merge", {"pid": anna, "other_pid": married})
    assert merged == {"pid": anna, "other_pid": married}
    assert house.post("trustee", "/patients/merge", merged, status=409)["code"] == "patients-same-person"


def test_what_is_not_there_is_not_found_and_a_wrong_pid_says_where(house: House) -> None:
    (anna,) = register(house, ANNA)
    assert house.get("trustee", "/patients/cases/99", status=404)["code"] == "patients-case"
    wrong = house.post("trustee", "/patients/history", {"pid": _changed(anna["pid"])}, status=400)
    assert wrong["code"] == "trust-pid-wrong"
    assert "character 3" in wrong["detail"]
    unknown = house.post("trustee", "/patients/history", {"pid": "00000000"}, status=404)
    assert unknown["code"] == "patients-pid-unknown"


def _changed(pid: str) -> str:
    return pid[:2] + ("7" if pid[2] != "7" else "8") + pid[3:]


def test_forgetting_destroys_the_entry_and_the_log_proves_it(house: House) -> None:
    (anna,) = register(house, ANNA)
    house.post("trustee", "/patients/forget", {"pid": anna["pid"]}, status=204)
    gone = house.post("trustee", "/patients/history", {"pid": anna["pid"]}, status=404)
    assert gone["code"] == "patients-pid-forgotten"
    log = (house.folder / "patients" / "log.jsonl").read_text()
    assert '"forget"' in log
    assert not list((house.folder / "patients" / "forgetting").glob("*.sealed"))
    assert _audit(house)[-1] == ("forget-patient", {"records": 1})


def test_forgetting_waits_for_a_second_person_without_a_pid_in_the_database(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("two") / "service"
    with house_in(folder, two_people=("forget_patient",)) as house:
        (anna,) = register(house, ANNA)
        request = house.post("trustee", "/patients/forget", {"pid": anna["pid"].lower()}, status=202)
        again = house.post("trustee", "/patients/forget", {"pid": anna["pid"]}, status=202)
        assert again["approval_id"] == request["approval_id"]
        assert (request["operation"], request["subject_kind"]) == ("forget_patient", "patient")
        disk = b"".join(path.read_bytes() for path in house.folder.rglob("*") if path.is_file())
        assert anna["pid"].encode() not in disk + json.dumps(request).encode()
        house.post("trustee", "/patients/history", {"pid": anna["pid"]})
        confirm = f"/approvals/{request['approval_id']}/confirm"
        house.post("trustee", confirm, status=403)
        assert house.post("approver", confirm)["state"] == "confirmed"
        gone = house.post("trustee", "/patients/history", {"pid": anna["pid"]}, status=404)
        assert gone["code"] == "patients-pid-forgotten"
        assert request["values"]["patient"] in (house.folder / "patients" / "log.jsonl").read_text()


def test_who_a_pid_is_needs_two_approvers_and_is_shown_once(house: House) -> None:
    (anna,) = register(house, ANNA)
    until = (datetime.now(UTC) + timedelta(days=3)).isoformat()
    body = {"pids": [anna["pid"], "00000000"], "purpose": "incidental finding, call the patient", "until": until}
    asked = house.post("trustee", "/patients/way-back", body, status=201)
    assert (asked["pseudonyms"], asked["approvals_missing"]) == (2, 2)
    request = f"/patients/way-back/{asked['request']}"
    assert house.post("trustee", f"{request}/show", status=403)["code"] == "way-back-open"
    assert house.get("researcher", request, status=404)["code"] == "not-found"
    for name in ("approver", "approver 2"):
        house.post(name, f"{request}/approve")
    shown = house.post("trustee", f"{request}/show")["found"]
    assert [one["pid"] for one in shown] == body["pids"]
    assert {name: shown[0]["person"][name] for name in ANNA} == ANNA
    assert shown[1]["person"] is None
    assert house.post("trustee", f"{request}/show", status=403)["code"] == "way-back-shown"
    notices = house.post("data-protection-officer", "/patients/way-back/notices")["notices"]
    assert "show way back" in {one["action"] for one in notices}
    assert house.get("approver", "/way-back")["total"] == 0  # the pseudonyms have requests of their own
    wrong = house.post("trustee", "/patients/way-back", body | {"pids": [anna["pid"], "Anna"]}, status=400)
    assert (wrong["code"], wrong["detail"][:6]) == ("trust-pid-wrong", "PID 2:")


def test_only_trustees_see_the_list_and_the_database_of_the_service_has_counts_only(house: House) -> None:
    found = register(house, ANNA, MARRIED, name="source")
    for name in ("steward", "source", "researcher", "approver", "operator", "data-protection-officer"):
        for method, path in (
            ("GET", "/patients/cases"),
            ("GET", "/patients/cases/1"),
            ("POST", "/patients/history"),
            ("POST", "/patients/forget"),
        ):
            answer = house.ask(name, method, path, json={"pid": found[0]["pid"]} if method == "POST" else None)
            assert (answer.status_code, answer.json()["code"]) == (403, "not-allowed"), (name, path)
    assert _audit(house)[-1] == ("register-patients", {"people": 2})
    disk = b"".join(path.read_bytes() for path in house.folder.rglob("*") if path.is_file())
    values = [
        value for person in (ANNA, MARRIED) for value in person.values() if len(value) > 6
    ]  # others occur in codes
    assert not [value for value in (*values, *(one["pid"] for one in found)) if value.encode() in disk]


def _audit(house: House) -> list[tuple[str, dict[str, Any]]]:
    """The entries of the service that are not about people who sign in."""
    with house.service.database.reading() as connection:
        rows = connection.execute(text("SELECT action, details FROM audit ORDER BY number")).all()
    return [(row.action, json.loads(row.details)) for row in rows if row.action not in ("login", "create-user")]
