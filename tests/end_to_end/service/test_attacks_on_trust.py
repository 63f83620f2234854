"""Attacks on the patient list and the pseudonyms over HTTP, by people and services with a role of their own."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pytest

from kohorte.service.storage.schema import daily_use
from support.trusting import House, house_in

ANNA = {"first_names": "Anna", "last_name": "Eichhorst", "birth_date": "1960-12-30"}
UNTIL = (datetime.now(UTC) + timedelta(days=3)).date().isoformat()


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house_in(tmp_path_factory.mktemp("attacks") / "service") as opened:
        yield opened


@pytest.fixture(scope="module")
def pid(house: House) -> str:
    found = house.post("trustee", "/patients/registrations", {"people": [ANNA]})["registrations"]
    return str(found[0]["pid"])


@pytest.mark.parametrize(
    "purpose",
    [
        "incidental finding\u202e[only for the key",
        "incidental \x1b[2K finding",
        "finding\u200b of somebody",
        "a\x7fb" * 9,
    ],
)
def test_a_purpose_that_looks_like_another_one_to_approvers_is_refused(house: House, pid: str, purpose: str) -> None:
    question = {"pids": [pid], "purpose": purpose, "until": UNTIL}
    assert house.post("researcher", "/patients/way-back", question, status=400)["code"] == "way-back-purpose"


@pytest.mark.parametrize(
    ("path", "body", "texts"),
    [
        ("/patients/consents", {"pids": ["PID"], "purposes": ["research"]}, 1),
        ("/patients/consents/withdraw", {"pid": "PID"}, 1),
        ("/patients/temp-ids", {"pids": ["PID"], "recipient": 0}, 1),
        ("/patients/merge", {"pid": "PID", "other_pid": "00000000"}, 2),
        ("/patients/split", {"pid": "PID", "records": [9]}, 1),
        ("/patients/forget", {"pid": "00000000"}, 1),
        ("/patients/history", {"pid": "00000000"}, 1),
        ("/patients/registrations", {"people": [ANNA], "temp_ids_for": 0}, 1),
        ("/patients/encodings/people", {"secret": "wrong", "ids": ["a", "b"]}, 2),
    ],
)
def test_every_pid_counts_whatever_it_is_sent_to(
    house: House, pid: str, path: str, body: dict[str, Any], texts: int
) -> None:
    """Otherwise answers such as 404 would let a stolen account try out all PIDs."""

    def used() -> int:
        with house.service.database.reading() as connection:
            rows = connection.execute(daily_use.select()).all()
        return sum(row.texts for row in rows if row.user_id == house.person("trustee").user_id)

    recipient = house.person("recipient").user_id
    filled = {"PID": pid, 0: recipient}
    sent = {key: filled.get(value, value) if isinstance(value, str | int) else value for key, value in body.items()}
    if sent.get("pids") == ["PID"]:
        sent["pids"] = [pid]
    before = used()
    house.ask("trustee", "POST", path, json=sent)
    assert used() == before + texts


def test_a_parquet_file_in_place_of_an_encoded_list_is_not_unpacked(house: House) -> None:
    bomb = io.BytesIO()
    pl.DataFrame({"id": ["x"], "keys": ["x"], "filter": ["x"]}).write_parquet(bomb, compression="uncompressed")
    for text in (bomb.getvalue().decode("latin-1"), "PAR1" + "x" * 100 + "PAR1"):
        answer = house.post("trustee", "/encodings/compare", {"one": text, "other": text}, status=400)
        assert answer["code"] in ("patients-encoding", "invalid-request")  # null characters are refused before


@pytest.mark.parametrize(
    "kind", ["", "text/plain", "application/x-www-form-urlencoded", "application/json, text/plain"]
)
def test_a_body_of_another_type_is_not_read_as_json(house: House, pid: str, kind: str) -> None:
    """Bodies that are not checked for repeated keys could mean two things."""
    headers = house.person("trustee").headers | ({"Content-Type": kind} if kind else {})
    twice = f'{{"pid": "{pid}", "pid": "00000000"}}'
    answer = house.client.post("/api/v1/patients/history", headers=headers, content=twice.encode())
    assert (answer.status_code, answer.json()["code"]) == (415, "body-content-type")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (
            "/patients/way-back",
            {"pids": ["00000000"], "purpose": "a good purpose", "until": UNTIL, "approved_by": ["x"]},
        ),
        ("/patients/consents", {"pids": ["00000000"], "purposes": ["research"], "actor": "user 1"}),
        ("/patients/temp-ids", {"pids": ["00000000"], "recipient": 1, "minutes": 10**6}),
        ("/domains", {"name": "x", "kind": "list", "keys": {"1": "00"}}),
        ("/patients/registrations", {"people": [ANNA | {"pid": "00000000"}]}),
        ("/patients/exports", {"purpose": "research", "project": "p1", "export": 1}),
    ],
)
def test_members_that_are_not_the_callers_to_set_are_refused(house: House, path: str, body: dict[str, Any]) -> None:
    assert house.post("trustee", path, body, status=400)["code"] == "invalid-request"


def test_a_request_of_somebody_else_cannot_be_shown_declined_or_seen_with_any_body(house: House, pid: str) -> None:
    question = {"pids": [pid], "purpose": "a good purpose indeed", "until": UNTIL}
    number = house.post("researcher", "/patients/way-back", question, status=201)["request"]
    for name in ("approver", "approver 2"):
        house.post(name, f"/patients/way-back/{number}/approve")
    for name in ("researcher 2", "trustee", "steward"):
        for body in (None, {}, {"consent": "research"}):
            answer = house.ask(name, "POST", f"/patients/way-back/{number}/show", json=body)
            assert (answer.status_code, answer.json()["code"]) == (404, "not-found")
        assert house.ask(name, "POST", f"/patients/way-back/{number}/decline").status_code == 404
    assert (
        house.post("researcher", f"/patients/way-back/{number}/show")["found"][0]["person"]["last_name"] == "Eichhorst"
    )


def test_a_way_back_to_people_is_none_of_the_pseudonyms_and_the_reverse(house: House, pid: str) -> None:
    question = {"pids": [pid], "purpose": "a good purpose indeed", "until": UNTIL}
    number = house.post("researcher", "/patients/way-back", question, status=201)["request"]
    assert house.ask("researcher", "POST", f"/way-back/{number}/show").status_code == 404
    parameters = [
        {"name": "target", "valueString": "patients"},
        {"name": "pseudonym", "valueString": pid},
        {"name": "request", "valueInteger": number},
    ]
    body = {"resourceType": "Parameters", "parameter": parameters}
    headers = house.person("researcher").headers
    answer = house.client.post("/ttp-fhir/fhir/gpas/$dePseudonymize", json=body, headers=headers)
    assert answer.status_code in (403, 404)
    assert "Eichhorst" not in answer.text
