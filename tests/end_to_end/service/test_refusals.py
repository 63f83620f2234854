"""What the trust parts refuse is in their chained logs, and data protection officers are told what matters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from kohorte.service.context import Service
from kohorte.service.permissions import Role
from kohorte.service.storage.schema import daily_use
from kohorte.trust.folder import TrustFolder
from kohorte.trust.notices import TOLD
from kohorte.trust.way_back import FOLDER
from support.service import client_of, new_person_with
from support.trusting import House, house_in

ANNA = {"first_names": "Anna", "last_name": "Eichhorst", "birth_date": "1960-12-30", "postcode": "01067"}
LIMIT = 40


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with house_in(tmp_path / "service", texts_per_day=LIMIT) as opened:
        for name, kind in (("study", "reversible"), ("hashed", "one-way")):
            opened.post("trustee", "/domains", {"name": name, "kind": kind}, status=201)
        yield opened


@dataclass(frozen=True)
class Refused:
    """A call that is refused: by whom, where, with what, and how."""

    name: str
    path: str
    code: str
    body: Any = field(default_factory=dict)
    told: bool = True


def until(days: int = 3) -> str:
    return (datetime.now(UTC) + timedelta(days=days)).isoformat()


def all_refusals(house: House) -> Iterator[Refused]:
    """All that can be refused, each prepared when it is its turn."""
    psn = house.post("trustee", "/domains/study/pseudonyms", {"originals": ["A1C2D3E4"]})["pseudonyms"]
    ask = {"domain": "study", "pseudonyms": psn, "purpose": "tell the physician", "until": until()}
    house.people["both"] = new_person_with(house.service, house.client, Role.RESEARCHER, Role.APPROVER)
    one, two, three = (f"/way-back/{house.post('both', '/way-back', ask, status=201)['request']}" for _ in range(3))
    yield Refused("both", f"{one}/approve", "way-back-own")
    yield Refused("both", f"{one}/show", "way-back-open")
    house.post("approver", f"{one}/approve")
    yield Refused("approver", f"{one}/approve", "way-back-twice")
    house.post("approver 2", f"{one}/approve")
    house.post("both", f"{one}/show")
    yield Refused("both", f"{one}/show", "way-back-shown")
    house.post("approver", f"{two}/decline")
    yield Refused("approver", f"{two}/approve", "way-back-declined")
    yield Refused("data-protection-officer", f"{three}/decline", "not-allowed")
    yield Refused("approver", "/way-back/999/approve", "not-found")
    yield Refused("researcher", "/way-back", "way-back-until", ask | {"until": until(90)}, told=False)
    yield Refused("researcher", "/way-back", "way-back-purpose", ask | {"purpose": "because"}, told=False)
    yield Refused("researcher", "/way-back", "pseudonym-wrong", ask | {"pseudonyms": ["none"]}, told=False)
    yield Refused("researcher", "/way-back", "pseudonym-one-way", ask | {"domain": "hashed"}, told=False)
    yield Refused("source", "/way-back", "not-allowed", ask)
    yield Refused("source", "/domains/strange/pseudonyms", "not-found", {"originals": ["x"]})
    yield Refused("trustee", "/domains", "pseudonym-domain-exists", {"name": "study", "kind": "list"})
    yield Refused("source", "/domains/study/pseudonyms", "too-many-texts", {"originals": ["x"] * (LIMIT + 1)})
    (anna,) = house.post("trustee", "/patients/registrations", {"people": [ANNA]})["registrations"]
    wrong = ("0" if anna["pid"][2] != "0" else "1").join((anna["pid"][:2], anna["pid"][3:]))
    yield Refused("trustee", "/patients/history", "trust-pid-wrong", {"pid": wrong}, told=False)
    yield Refused("trustee", "/patients/history", "patients-pid-unknown", {"pid": "00000000"})
    yield Refused("source", "/patients/history", "not-allowed", {"pid": anna["pid"]})
    yield Refused("source", "/patients/registrations", "temp-id-only", {"people": [ANNA]})
    house.person("recipient")
    yield Refused("recipient", "/patients/temp-ids/resolve", "temp-id-refused", {"temp_ids": ["A" * 26]})
    house.post("trustee", "/patients/consents", {"pids": [anna["pid"]], "purposes": ["research"]})
    house.post("trustee", "/patients/exports", {"purpose": "research", "project": "p7"})
    house.post("trustee", "/patients/consents/withdraw", {"pid": anna["pid"]})
    yield Refused("trustee", "/patients/exports/1/confirm", "consent-changed")


def entries(house: House) -> list[dict[str, Any]]:
    logs = [(house.folder / part / "log.jsonl") for part in ("patients", "pseudonyms")]
    return [json.loads(line) for log in logs if log.exists() for line in log.read_text().splitlines()]


def test_every_refusal_is_one_entry_of_a_chained_log_and_a_notice_if_it_matters(house: House) -> None:
    codes = set()
    for refused in all_refusals(house):
        house.person(refused.name)
        before = {one["code"] for one in entries(house)}
        answer = house.ask(refused.name, "POST", refused.path, json=refused.body)
        assert answer.json()["code"] == refused.code, answer.text
        found = [one for one in entries(house) if one["code"] not in before]
        assert len(found) == 1, (refused, found)
        (new,) = found
        assert new["actor"] == f"user {house.person(refused.name).user_id}", refused
        assert new["action"].startswith("refuse"), refused
        assert (new["action"] in TOLD) is refused.told, refused
        codes.add(refused.code)
    assert len(codes) > 15
    officer = "data-protection-officer"
    told = house.post(officer, "/way-back/notices")["notices"]
    assert {"too-many-texts", "way-back-own", "not-found"} <= {one["details"].get("reason") for one in told}
    told = house.post(officer, "/patients/way-back/notices")["notices"]
    assert {"refuse export", "refuse temp ids", "refuse operation"} <= {one["action"] for one in told}
    for part in ("patients", "pseudonyms"):
        assert TrustFolder.opened(house.folder / part).log.verify().whole


def test_operations_of_fhir_are_noted_too_and_nobody_without_a_name_fills_the_log(house: House) -> None:
    body = {"resourceType": "Parameters", "parameter": [{"name": "target", "valueString": "strange"}]}
    house.person("source")
    path = "/ttp-fhir/fhir/gpas/$pseudonymizeAllowCreate"
    before = len(entries(house))
    assert house.client.post(path, json=body, headers=house.person("source").headers).status_code >= 400
    assert [one["about"] for one in entries(house)[before:]] == ["$pseudonymizeAllowCreate"]
    assert house.client.post(path, json=body).status_code == 401
    assert len(entries(house)) == before + 1
    assert (house.folder / "pseudonyms" / FOLDER).is_dir() is False


def test_the_texts_of_a_day_are_counted_also_after_a_restart_and_for_failed_calls(house: House) -> None:
    house.post("source", "/domains/study/pseudonyms", {"originals": ["x"] * (LIMIT - 2)})
    house.post("source", "/domains/strange/pseudonyms", {"originals": ["x"]}, status=404)
    with Service.opened(house.service.settings, create=False) as again, client_of(again) as client:
        headers, path = house.person("source").headers, "/api/v1/domains/study/pseudonyms"
        assert client.post(path, json={"originals": ["y", "z"]}, headers=headers).status_code == 429
        assert client.post(path, json={"originals": ["y"]}, headers=headers).status_code == 200
        late = client.post(path, json={"originals": ["y"]}, headers=headers)
        assert 1 <= int(late.headers["Retry-After"]) <= 24 * 3600
    house.post("source 2", "/domains/study/pseudonyms", {"originals": ["y"]})
    number = house.person("source").user_id
    with house.service.database.writing() as connection:  # as somebody with access to the database would
        connection.execute(update(daily_use).where(daily_use.c.user_id == number).values(texts=0))
    assert house.post("source", "/domains/study/pseudonyms", {"originals": ["y"]}, status=503)["code"] == (
        "service-row-changed"
    )


def test_the_count_begins_again_the_next_day(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    full = {"originals": ["x"] * LIMIT}
    house.post("source", "/domains/study/pseudonyms", full)
    house.post("source", "/domains/study/pseudonyms", full, status=429)
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    monkeypatch.setattr("kohorte.service.trust.limits.now", lambda: tomorrow)
    house.post("source", "/domains/study/pseudonyms", full)
