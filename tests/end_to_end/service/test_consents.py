"""Consents, exports and TempIDs over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from kohorte.service.permissions import Role
from kohorte.service.web.execution import constant_time
from kohorte.service.web.routes import consents as routes
from support.service import new_person_with
from support.trusting import House, house_in

ANNA = {"first_names": "Anna", "last_name": "Eichhorst", "birth_date": "1960-12-30", "postcode": "01067"}
OTTO = {"first_names": "Otto", "last_name": "Zwickel", "birth_date": "1975-05-17", "postcode": "24103"}


@pytest.fixture
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house_in(tmp_path_factory.mktemp("consents") / "service") as opened:
        yield opened


@pytest.fixture
def pids(house: House) -> list[str]:
    found = house.post("trustee", "/patients/registrations", {"people": [ANNA, OTTO]})["registrations"]
    return [one["pid"] for one in found]


def account(house: House, name: str) -> int:
    number: int = house.get(name, "/users/me")["user_id"]
    return number


def test_from_consent_to_withdrawal(house: House, pids: list[str]) -> None:
    anna, otto = pids
    given = {"pids": pids, "purposes": ["research"], "until": "2099-12-31"}
    assert house.post("trustee", "/patients/consents", given) == {"people": 2}
    house.post("trustee", "/patients/consents", {"pids": [otto], "purposes": ["teaching"], "categories": ["lab"]})
    wish = {"purpose": "research", "project": "p7"}
    first = house.post("trustee", "/patients/exports", wish)
    assert first == {"export": 1, "people": [{"pid": pid, "categories": None} for pid in sorted(pids)]}
    assert house.post("trustee", "/patients/exports/1/confirm") == {"people": 2}
    released = house.post("trustee", "/patients/consents/withdraw", {"pid": anna})
    assert [(one["export"], one["project"], one["people"]) for one in released["exports"]] == [(1, "p7", 2)]
    changed = house.post("trustee", "/patients/exports/1/confirm", status=409)
    assert changed["code"] == "consent-changed"
    second = house.post("trustee", "/patients/exports", wish | {"pids": [anna, otto, "00000000"]})
    assert second["people"] == [{"pid": otto, "categories": None}]
    teaching = house.post("trustee", "/patients/exports", {"purpose": "teaching", "project": "p8"})
    assert teaching["people"] == [{"pid": otto, "categories": ["lab"]}]
    shown = house.post("trustee", "/patients/consents/show", {"pid": anna})
    assert (shown["fhir"][0]["resourceType"], shown["fhir"][0]["status"]) == ("Consent", "inactive")
    assert [event["kind"] for event in shown["history"]] == ["given", "withdrawn"]
    assert len(house.post("trustee", "/patients/consents/released", {"pid": otto})["exports"]) == 3
    assert house.post("trustee", "/patients/exports/77/confirm", status=404)["code"] == "consent-export-unknown"


def test_an_export_can_be_about_people_who_agreed_to_kinds_of_data(house: House, pids: list[str]) -> None:
    anna, otto = pids
    house.post("trustee", "/patients/consents", {"pids": [anna], "purposes": ["research"], "categories": ["lab"]})
    house.post("trustee", "/patients/consents", {"pids": [otto], "purposes": ["research"]})
    for categories, expected in ((["lab"], {anna, otto}), (["lab", "images"], {otto}), ([], {anna, otto})):
        wish = {"purpose": "research", "project": "p7", "categories": categories}
        assert {one["pid"] for one in house.post("trustee", "/patients/exports", wish)["people"]} == expected


def test_a_source_gets_temp_ids_that_only_the_named_account_can_resolve_once(house: House) -> None:
    database = account(house, "recipient")
    body = {"people": [ANNA, OTTO, {"place": "Kiel"}], "temp_ids_for": database}
    found = house.post("source", "/patients/registrations", body)["registrations"]
    assert [one["pid"] for one in found] == [None, None, None]
    tokens = [one["temp_id"] for one in found]
    assert tokens[2] is None
    resolve = {"temp_ids": tokens[:2]}
    refused = [
        house.post("recipient 2", "/patients/temp-ids/resolve", resolve, status=403),
        house.post("recipient", "/patients/temp-ids/resolve", {"temp_ids": [*tokens[:2], tokens[0]]}, status=403),
    ]
    assert house.post("source", "/patients/temp-ids/resolve", resolve, status=403)["code"] == "not-allowed"
    pids = house.post("recipient", "/patients/temp-ids/resolve", resolve)["pids"]
    refused.append(house.post("recipient", "/patients/temp-ids/resolve", resolve, status=403))
    assert {one["code"] for one in refused} == {"temp-id-refused"}
    assert len(set(pids)) == 2
    (token,) = house.post("trustee", "/patients/temp-ids", {"pids": pids[:1], "recipient": database})["temp_ids"]
    assert house.post("recipient", "/patients/temp-ids/resolve", {"temp_ids": [token]})["pids"] == pids[:1]
    disk = b"".join(path.read_bytes() for path in house.folder.rglob("*") if path.is_file())
    assert not [text for text in (*pids, *tokens[:2], token) if text.encode() in disk]


def test_two_descriptions_do_not_tell_a_source_that_somebody_in_the_list_joins_them(house: House) -> None:
    """With PIDs they would: the first and the second description get the same one only because of the list."""
    body = {"people": [ANNA, ANNA | {"first_names": "Anne"}, OTTO], "temp_ids_for": account(house, "recipient")}
    before, after = (house.post("source", "/patients/registrations", body)["registrations"] for _ in range(2))
    assert len({one["temp_id"] for one in (*before, *after)}) == 6
    assert {(one["pid"], one["outcome"]) for one in (*before, *after)} == {(None, "registered")}


def test_a_source_gets_no_pids_and_names_somebody_else_who_may_resolve(house: House) -> None:
    people = {"people": [ANNA]}
    assert house.post("source", "/patients/registrations", people, status=403)["code"] == "temp-id-only"
    house.people["both"] = new_person_with(house.service, house.client, Role.SOURCE, Role.RECIPIENT)
    told = [
        house.post(name, "/patients/registrations", people | {"temp_ids_for": number}, status=400)
        for name, number in (
            ("source", account(house, "source")),
            ("source", account(house, "source 2")),
            ("source", account(house, "trustee")),
            ("source", 999_999),
            ("both", account(house, "both")),
        )
    ]
    assert {one["code"] for one in told} == {"temp-id-recipient"}
    assert len({one["detail"] for one in told}) == 1
    assert not house.get("trustee", "/patients/cases")["total"]
    (new,) = house.post("trustee", "/patients/registrations", people)["registrations"]
    assert new["outcome"] == "new"  # nobody was registered by a refused call
    wish = {"pids": [new["pid"]], "recipient": account(house, "source")}
    assert house.post("trustee", "/patients/temp-ids", wish, status=400)["code"] == "temp-id-recipient"


def test_only_trustees_see_and_change_consents(house: House, pids: list[str]) -> None:
    bodies = {
        "/patients/consents": {"pids": pids, "purposes": ["research"]},
        "/patients/consents/withdraw": {"pid": pids[0]},
        "/patients/consents/show": {"pid": pids[0]},
        "/patients/consents/released": {"pid": pids[0]},
        "/patients/exports": {"purpose": "research", "project": "p7"},
        "/patients/exports/1/confirm": None,
        "/patients/temp-ids": {"pids": pids, "recipient": 1},
    }
    for name in ("steward", "source", "researcher", "approver"):
        for path, body in bodies.items():
            assert house.post(name, path, body, status=403)["code"] == "not-allowed", (name, path)


def test_a_recipient_learns_who_of_given_people_agreed_and_nothing_else(house: House, pids: list[str]) -> None:
    """The research service of another house: it has PIDs, and must not learn who else is in the list."""
    anna, otto = pids
    house.post("trustee", "/patients/consents", {"pids": pids, "purposes": ["research"]})
    wish = {"purpose": "research", "project": "project-1"}
    assert house.post("recipient", "/patients/exports", wish, status=403)["code"] == "not-allowed"
    asked = house.post("recipient", "/patients/exports", wish | {"pids": [anna, "00000000"]})
    assert asked["people"] == [{"pid": anna, "categories": None}]
    other = house.post("trustee", "/patients/exports", wish | {"pids": [otto]})["export"]
    unknown = house.post("recipient", "/patients/exports/77/confirm", status=404)
    foreign = house.post("recipient", f"/patients/exports/{other}/confirm", status=404)
    assert unknown["code"] == foreign["code"] == "consent-export-unknown"
    entries = (house.folder / "patients" / "log.jsonl").read_text().splitlines()
    assert [sum(code in entry for entry in entries) for code in ('"not-allowed"', '"consent-export-unknown"')] == [1, 2]
    assert house.post("recipient", f"/patients/exports/{asked['export']}/confirm") == {"people": 1}
    released = house.post("trustee", "/patients/consents/withdraw", {"pid": anna})
    assert [one["export"] for one in released["exports"]] == [asked["export"]]
    changed = house.post("recipient", f"/patients/exports/{asked['export']}/confirm", status=409)
    assert changed["code"] == "consent-changed"
    assert house.post("source", "/patients/exports", wish | {"pids": [otto]}, status=403)["code"] == "not-allowed"


def test_recipients_wait_for_the_time_of_all_answers_and_trustees_do_not(
    house: House, pids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody who did not agree is looked up, and somebody who is not in the list is not: that takes other time."""
    steps: list[float | None] = []
    run = constant_time.run_discreetly

    async def noted(step: float | None, *work: Any) -> Any:
        steps.append(step)
        return await run(step, *work)

    monkeypatch.setattr(routes, "run_discreetly", noted)
    for person in ("recipient", "trustee"):
        house.post(person, "/patients/exports", {"purpose": "research", "project": "p7", "pids": pids})
    house.post("recipient", "/patients/temp-ids/resolve", {"temp_ids": ["unknown", "unknown"]}, status=403)
    step = house.service.settings.answer_seconds
    assert steps == [pytest.approx(step * 1.002), None, pytest.approx(step * 1.002)]


def test_wrong_words_are_refused_without_repeating_them(house: House, pids: list[str]) -> None:
    for body, code in (
        ({"pids": pids, "purposes": ["Canary Purpose"]}, "consent-word"),
        ({"pids": pids, "purposes": []}, "consent-date"),
        ({"pids": pids, "purposes": ["research"], "until": "2020-01-01"}, "consent-date"),
        ({"pids": [pids[0][:-1] + "%"], "purposes": ["research"]}, "trust-pid-wrong"),
    ):
        answer = house.post("trustee", "/patients/consents", body, status=400)
        assert answer["code"] == code
        assert "Canary" not in json.dumps(answer)
