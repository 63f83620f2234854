"""Two patient lists compared over HTTP without names: two houses encode, and a third party compares."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from kohorte.service.trust.leaving import encodings
from support.trusting import House, house_in

ANNA = {"first_names": "Anna", "last_name": "Eichhorst", "birth_date": "1960-12-30", "insurance_number": "A123456789"}
TYPED = ANNA | {"last_name": "Eichorst"}
OTTO = {"first_names": "Otto", "last_name": "Zwickel", "birth_date": "1971-03-04", "insurance_number": "B987654321"}
ROSA = {"first_names": "Rosa", "last_name": "Quendel", "birth_date": "1988-02-03"}


@pytest.fixture(scope="module")
def houses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[House, House, House]]:
    folder = tmp_path_factory.mktemp("encodings")
    with (
        house_in(folder / "one", only=("patients",)) as one,
        house_in(folder / "other", only=("patients",)) as other,
        house_in(folder / "third", only=("pseudonyms",)) as third,
    ):
        register(one, ANNA, OTTO)
        register(other, TYPED, ROSA)
        yield one, other, third


def register(house: House, *people: dict[str, str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = house.post("trustee", "/patients/registrations", {"people": list(people)})[
        "registrations"
    ]
    return found


def shared_secret() -> str:
    return f"1 {secrets.token_hex(32)}\n"


def encoded(house: House, secret: str) -> str:
    answer = house.ask("trustee", "POST", "/patients/encodings", json={"secret": secret})
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (200, "text/csv")
    return answer.text


def test_a_third_party_finds_the_people_of_both_houses_and_learns_neither_names_nor_pids(
    houses: tuple[House, House, House],
) -> None:
    one, other, third = houses
    secret = shared_secret()
    lists = encoded(one, secret), encoded(other, secret)
    found = third.post("trustee", "/encodings/compare", {"one": lists[0], "other": lists[1]})
    assert (found["match"], found["grey"]) == (1, 0)
    (pair,) = found["pairs"]
    (mine,) = one.post("trustee", "/patients/encodings/people", {"secret": secret, "ids": [pair["id"]]})["pids"]
    theirs = {"secret": secret, "ids": [pair["other_id"]]}
    (others,) = other.post("trustee", "/patients/encodings/people", theirs)["pids"]
    assert mine == register(one, ANNA)[0]["pid"]
    assert others == register(other, TYPED)[0]["pid"]
    told = lists[0] + lists[1] + json.dumps(found)
    assert not [text for text in ("Eichhorst", "Zwickel", "Quendel", "A123456789", mine, others) if text in told]


def test_identifiers_of_another_secret_or_house_have_no_pid(houses: tuple[House, House, House]) -> None:
    one, other, _ = houses
    secret = shared_secret()
    own, foreign = (encoded(house, secret).splitlines()[1].split(",")[0] for house in (one, other))
    asked = {"ids": [own, foreign, "no identifier"]}
    assert one.post("trustee", "/patients/encodings/people", asked | {"secret": shared_secret()})["pids"] == [None] * 3
    found = one.post("trustee", "/patients/encodings/people", asked | {"secret": secret})["pids"]
    assert (found[0] is not None, found[1:]) == (True, [None, None])


def test_the_secret_is_kept_nowhere_and_the_officer_is_told_that_a_list_left(
    houses: tuple[House, House, House],
) -> None:
    one, _, _ = houses
    secret = shared_secret()
    encoded(one, secret)
    key = secret.split()[1]
    kept = [path for path in one.folder.rglob("*") if path.is_file() and key.encode() in path.read_bytes().lower()]
    assert kept == []
    told = one.post("data-protection-officer", "/patients/way-back/notices")["notices"]
    assert "encode" in {entry["action"] for entry in told}


@pytest.mark.parametrize("secret", ["Qq7", "1 abc", "2 " + "0" * 63, f"1 {'0' * 64}\nmore"])
def test_what_is_no_secret_is_refused_and_not_repeated(houses: tuple[House, House, House], secret: str) -> None:
    answer = houses[0].ask("trustee", "POST", "/patients/encodings", json={"secret": secret})
    assert (answer.status_code, answer.json()["code"]) == (400, "patients-secret")
    assert secret not in answer.json()["detail"]


@pytest.mark.parametrize(
    "wrong", ["id,keys\na,b\n", "id,keys,filter\na,b,not base64\n", "id,keys,filter\na,b,\n", "id,keys,filter\na,b\n"]
)
def test_what_is_no_encoded_list_is_refused(houses: tuple[House, House, House], wrong: str) -> None:
    answer = houses[2].ask("trustee", "POST", "/encodings/compare", json={"one": wrong, "other": wrong})
    assert answer.status_code == 400, answer.text


def test_lists_that_are_made_to_fill_the_memory_are_refused_and_noted(
    houses: tuple[House, House, House], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, _, third = houses
    text = encoded(one, shared_secret())
    _, keys, filter_ = text.splitlines()[1].split(",")
    bomb = "id,keys,filter\n" + "".join(f"{number},{keys},{filter_}\n" for number in range(150))
    monkeypatch.setattr(encodings, "MOST_COMPARISONS", 10_000)
    answer = third.ask("trustee", "POST", "/encodings/compare", json={"one": bomb, "other": bomb})
    assert (answer.status_code, answer.json()["code"]) == (400, "patients-encoding")
    log = (third.folder / "pseudonyms" / "log.jsonl").read_text()
    assert '"patients-encoding"' in log.splitlines()[-1]


@pytest.mark.parametrize("role", ["source", "recipient", "steward", "researcher", "approver", "operator"])
def test_nobody_but_a_trustee_encodes_looks_up_or_compares(houses: tuple[House, House, House], role: str) -> None:
    one, _, third = houses
    for house, path in (
        (one, "/patients/encodings"),
        (one, "/patients/encodings/people"),
        (third, "/encodings/compare"),
    ):
        assert house.ask(role, "POST", path, json={}).status_code == 403


def test_a_house_with_a_patient_list_only_does_not_compare(houses: tuple[House, House, House]) -> None:
    assert houses[0].ask("trustee", "POST", "/encodings/compare", json={}).status_code == 404


def test_a_rehearsed_registration_stores_nothing_and_is_for_trustees_only(houses: tuple[House, House, House]) -> None:
    one, _, _ = houses
    people = {"people": [ANNA, {**ROSA, "last_name": "Neuling"}], "dry_run": True}
    for _ in range(2):
        told = one.post("trustee", "/patients/registrations", people)["registrations"]
        assert [(entry["pid"], entry["outcome"]) for entry in told] == [(None, "known"), (None, "new")]
    assert one.ask("source", "POST", "/patients/registrations", json=people).status_code == 403
