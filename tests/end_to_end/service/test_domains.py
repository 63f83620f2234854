"""Domains and pseudonyms over HTTP: the same as on the command line, for those who may."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from kohorte.cli.main import main
from kohorte.service.web.execution import constant_time
from kohorte.service.web.routes import domains as routes
from support.trusting import House, house_in

TEXTS = ["A1C2D3E4", "patient 7", "A1C2D3E4"]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house_in(tmp_path_factory.mktemp("domains") / "service") as opened:
        yield opened


def new_domain(house: House, name: str, kind: str = "one-way", **options: object) -> str:
    made = house.post("trustee", "/domains", {"name": name, "kind": kind, **options}, status=201)
    assert (made["name"], made["kind"], made["key_version"]) == (name, kind, 1)
    return name


def pseudonyms(house: House, domain: str, *texts: str, **options: object) -> list[str]:
    found = house.post("source", f"/domains/{domain}/pseudonyms", {"originals": texts, **options})
    made: list[str] = found["pseudonyms"]
    return made


@pytest.mark.parametrize("kind", ["one-way", "reversible", "list"])
def test_the_service_gives_the_pseudonyms_of_the_command_line(
    house: House, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    domain = new_domain(house, f"same-{kind}", kind)
    made = pseudonyms(house, domain, *TEXTS)
    assert made[0] == made[2] != made[1]
    table, output = tmp_path / "in.csv", tmp_path / "out.csv"
    table.write_text("\n".join(["id", *TEXTS, ""]))
    options = ("--domain", domain, "--column", "id", "--folder", str(house.folder / "pseudonyms"))
    asked = ["pseudonymize", str(table), *options, "--output", str(output)]
    assert main([*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["new"] == 0
    assert output.read_text().split()[1:] == made


@pytest.mark.parametrize("kind", ["one-way", "reversible", "list"])
def test_the_service_shifts_dates_as_the_command_line_does(
    house: House, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    domain = new_domain(house, f"dates-{kind}", kind)
    table, output = tmp_path / "in.csv", tmp_path / "out.csv"
    table.write_text("id,on\nA1C2D3E4,2026-01-31\nA1C2D3E4,2026-02-28\npatient 7,2025-12-24\n")
    options = ("--domain", domain, "--column", "id", "--folder", str(house.folder / "pseudonyms"))
    shifting = ("--shift-dates", "on", "--within", "30", "--output", str(output))
    assert main(["pseudonymize", str(table), *options, *shifting]) == 0
    capsys.readouterr()
    dates = [["2026-01-31", "2026-02-28"], ["2025-12-24", ""], ["2025-12-24"]]
    body = {"originals": ["A1C2D3E4", "patient 7", "  "], "dates": dates, "within": 30}
    found = house.post("source", f"/domains/{domain}/pseudonyms", body)["dates"]
    written = [line.split(",")[1] for line in output.read_text().split()[1:]]
    assert found == [written[:2], [written[2], None], [None]]


@pytest.mark.parametrize(
    "wrong",
    [
        {"dates": [["2026-01-31"]]},
        {"dates": [["2026-01-31"], ["someday"]]},
        {"dates": [[], []], "within": 4000},
        {"dates": [["01.02.2026"], []], "date_format": "%c"},
    ],
)
def test_dates_that_cannot_be_shifted_are_refused_without_being_repeated(
    house: House, wrong: dict[str, object]
) -> None:
    if "shifted" not in {one["name"] for one in house.get("source", "/domains")["domains"]}:
        new_domain(house, "shifted")
    answer = house.post("source", "/domains/shifted/pseudonyms", {"originals": ["a", "b"], **wrong}, status=400)
    assert "someday" not in json.dumps(answer)


def test_domains_are_listed_without_keys(house: House) -> None:
    new_domain(house, "listed", "list", prefix="S-", length=8)
    listed = house.get("source", "/domains")["domains"]
    (found,) = (one for one in listed if one["name"] == "listed")
    assert (found["prefix"], found["length"]) == ("S-", 8)
    assert house.get("source", "/domains/listed") == found | {"filled": None}
    key = (house.folder / "pseudonyms" / "domain-listed.key").read_text().split()[1]
    assert key not in json.dumps(listed)
    assert not {"keys", "fingerprint"} & set(found)


def test_a_domain_that_is_not_there_is_not_found_and_others_are_not_named(house: House) -> None:
    new_domain(house, "private-name")
    for method, path, body in (
        ("GET", "/domains/private", None),
        ("POST", "/domains/private/pseudonyms", {"originals": ["x"]}),
        ("GET", "/domains/..%2Ffolder", None),
    ):
        answer = house.ask("source", method, path, json=body)
        assert (answer.status_code, answer.json()["code"]) == (404, "not-found")
        assert "private-name" not in answer.text


def test_a_name_is_taken_once(house: House) -> None:
    new_domain(house, "once")
    again = house.post("trustee", "/domains", {"name": "once", "kind": "list"}, status=409)
    assert again["code"] == "pseudonym-domain-exists"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"name": "Big"}, "pseudonym-domain-name"),
        ({"kind": "magic"}, "pseudonym-kind"),
        ({"length": 2}, "pseudonym-length"),
    ],
)
def test_a_domain_that_cannot_be_is_refused(house: House, change: dict[str, object], code: str) -> None:
    answer = house.post("trustee", "/domains", {"name": "impossible", "kind": "one-way", **change}, status=400)
    assert answer["code"] == code


def test_a_new_key_gives_new_pseudonyms_and_the_old_version_the_old_ones(house: House) -> None:
    domain = new_domain(house, "turning")
    before = pseudonyms(house, domain, "x")
    assert house.post("trustee", f"/domains/{domain}/rotate-key")["key_version"] == 2
    assert pseudonyms(house, domain, "x") != before
    assert pseudonyms(house, domain, "x", key_version=1) == before
    body = {"originals": ["x"], "key_version": 3}
    answer = house.post("source", f"/domains/{domain}/pseudonyms", body, status=400)
    assert answer["code"] == "pseudonym-version-unknown"


def test_blanks_have_no_pseudonym_and_the_error_names_the_position_of_a_wrong_text(house: House) -> None:
    assert pseudonyms(house, new_domain(house, "blanks"), " ", "x")[0] is None
    child = new_domain(house, "of-blanks", parent="blanks")
    good = pseudonyms(house, "blanks", "x")
    answer = house.post("source", f"/domains/{child}/pseudonyms", {"originals": [*good, "secret text"]}, status=400)
    assert answer["code"] == "pseudonym-wrong"
    assert answer["detail"].startswith("text 2: ")
    assert "secret text" not in json.dumps(answer)


@pytest.mark.parametrize("role", ["steward", "researcher", "approver", "operator", "data-protection-officer"])
def test_only_trustees_and_sources_get_pseudonyms(house: House, role: str) -> None:
    for path, body in (("/domains/x/pseudonyms", {"originals": ["x"]}), ("/domains", {"name": "y", "kind": "list"})):
        assert house.post(role, path, body, status=403)["code"] == "not-allowed"
    assert house.post("source", "/domains", {"name": "y", "kind": "list"}, status=403)["code"] == "not-allowed"


def test_the_database_and_the_audit_log_have_counts_and_no_value(house: House) -> None:
    secret = "Quastenflosser"
    made = pseudonyms(house, new_domain(house, "counted", "list"), secret, "other")
    with house.service.database.reading() as connection:
        last = connection.execute(text("SELECT action, object, details FROM audit ORDER BY number DESC LIMIT 1")).one()
        rows = str([connection.execute(text(f"SELECT * FROM {name}")).all() for name in ("audit", "users", "jobs")])
    assert (last.action, last.object) == ("pseudonymize", "domain counted")
    assert json.loads(last.details) == {"pseudonyms": 2}
    disk = b"".join(path.read_bytes() for path in house.folder.rglob("*") if path.is_file())
    for value in (secret, *made):
        assert value not in rows
        assert value.encode() not in disk
    entry = json.loads((house.folder / "pseudonyms" / "log.jsonl").read_text().splitlines()[-1])
    assert (entry["action"], entry["actor"]) == ("pseudonymize", f"user {house.person('source').user_id}")


def test_what_is_wrong_with_the_folder_is_for_the_log_and_not_for_the_client(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    key = house.folder / "pseudonyms" / f"domain-{new_domain(house, 'lost')}.key"
    key.rename(key.with_suffix(".away"))
    answer = house.post("source", "/domains/lost/pseudonyms", {"originals": ["x"]}, status=503)
    assert answer["code"] == "service-trust-folder"
    assert "trust-key-lost" not in json.dumps(answer)
    assert any("trust-key-lost" in record.getMessage() for record in caplog.records)


def test_only_parts_that_are_served_have_routes_and_folders(tmp_path_factory: pytest.TempPathFactory) -> None:
    for part, served, missing in (
        ("pseudonyms", "/domains", "/patients/cases"),
        ("patients", "/patients/cases", "/domains"),
    ):
        with house_in(tmp_path_factory.mktemp("only") / "service", only=(part,)) as alone:
            assert alone.get("trustee", served)
            for path in (missing, "/datasets", "/projects", "/jobs", "/rules"):
                assert alone.get("trustee", path, status=404)["code"] == "not-found"
            assert [one for one in ("patients", "pseudonyms") if (alone.folder / one).exists()] == [part]
            health = alone.client.get("/api/v1/health").json()
            assert (health["status"], health["worker"]) == ("ok", False)
            described = alone.client.get("/openapi.json").json()["paths"]
            assert f"/api/v1{served}" in described
            assert f"/api/v1{missing}" not in described


def test_the_link_of_pseudonyms_ends_for_good_and_the_log_proves_it(house: House) -> None:
    new_domain(house, "entries", "list")
    gone, stays = house.post("trustee", "/domains/entries/pseudonyms", {"originals": ["a", "b"]})["pseudonyms"]
    path = "/domains/entries/forget"
    assert house.post("source", path, {"pseudonyms": [gone]}, status=403)["code"] == "not-allowed"
    wrong = house.post("trustee", path, {"pseudonyms": [gone, "no pseudonym"]}, status=400)
    assert wrong["code"] == "pseudonym-wrong"
    (strange,) = pseudonyms(house, new_domain(house, "strange-entries", "list"), "a")
    house.post("trustee", path, {"pseudonyms": [gone, strange]}, status=204)
    again = house.post("trustee", "/domains/entries/pseudonyms", {"originals": ["a", "b"]})["pseudonyms"]
    assert (again[0] != gone, again[1]) == (True, stays)
    new_domain(house, "ending", "reversible")
    assert house.post("trustee", "/domains/ending/forget", {"pseudonyms": ["x"]}, status=400)["code"] == (
        "pseudonym-no-list"
    )
    path = "/domains/ending/destroy-key"
    assert house.post("trustee", path, {"domain": "entries"}, status=400)["code"] == "not-confirmed"
    current = {"domain": "ending", "key_version": 1}
    assert house.post("trustee", path, current, status=400)["code"] == "pseudonym-key-current"
    house.post("trustee", path, {"domain": "ending"}, status=204)
    assert house.get("trustee", "/domains/ending")["key_version"] is None
    assert house.post("trustee", path, {"domain": "ending"}, status=400)["code"] == "pseudonym-key-destroyed"
    log = [json.loads(line) for line in (house.folder / "pseudonyms" / "log.jsonl").read_text().splitlines()]
    proofs = [(one["action"], one["about"]) for one in log if one["action"] in ("forget", "destroy key")]
    assert proofs == [("forget", "domain entries"), ("destroy key", "domain ending")]


def test_the_end_of_a_link_can_need_two_people_and_no_pseudonym_is_in_the_database(tmp_path: Path) -> None:
    with house_in(tmp_path / "service", two_people=("forget_pseudonyms", "destroy_domain_key")) as house:
        new_domain(house, "entries", "list")
        (psn,) = house.post("trustee", "/domains/entries/pseudonyms", {"originals": ["a"]})["pseudonyms"]
        asked = [
            house.post("trustee", "/domains/entries/forget", {"pseudonyms": [psn]}, status=202),
            house.post("trustee", "/domains/entries/destroy-key", {"domain": "entries"}, status=202),
        ]
        assert house.post("trustee", "/domains/entries/pseudonyms", {"originals": ["a"]})["pseudonyms"] == [psn]
        disk = b"".join(path.read_bytes() for path in house.folder.rglob("*") if path.is_file())
        assert psn.encode() not in disk
        assert asked[1]["values"] == {"domain": "entries", "key_version": None}
        for request in asked:
            house.post("approver", f"/approvals/{request['approval_id']}/confirm")
        assert house.get("trustee", "/domains/entries")["key_version"] is None
        waiting = house.folder / "pseudonyms" / "forgetting"
        assert not list(waiting.glob("*.sealed"))


def test_numbers_are_for_trustees_because_a_new_one_tells_who_was_not_known(house: House) -> None:
    new_domain(house, "numbers", "list", numbered=True)
    refused = house.post("source", "/domains/numbers/pseudonyms", {"originals": ["x"]}, status=403)
    assert refused["code"] == "pseudonym-numbered"
    assert house.post("trustee", "/domains/numbers/pseudonyms", {"originals": ["x"]})["pseudonyms"]


def test_a_list_is_closed_for_known_and_new_people_alike_and_trustees_see_it_coming(house: House) -> None:
    new_domain(house, "short", "list", alphabet="digits", length=3)
    texts = [f"person {number}" for number in range(400)]
    house.post("trustee", "/domains/short/pseudonyms", {"originals": texts})
    assert house.get("trustee", "/domains/short")["filled"] == 0.8
    assert house.get("source", "/domains/short")["filled"] is None
    assert pseudonyms(house, "short", *texts[:49], "somebody else")
    house.post("trustee", "/domains/short/pseudonyms", {"originals": [f"more {number}" for number in range(50)]})
    for asked in ("person 1", "nobody yet"):
        refused = house.post("source", "/domains/short/pseudonyms", {"originals": [asked]}, status=403)
        assert (refused["code"], "nearly full" in refused["detail"]) == ("pseudonym-list-closed", True)
    assert house.post("trustee", "/domains/short/pseudonyms", {"originals": ["nobody yet"]})["pseudonyms"]


def test_sources_wait_for_the_time_of_all_answers_and_trustees_do_not(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_domain(house, "timed", "list")
    steps: list[float | None] = []
    run = constant_time.run_discreetly

    async def noted(step: float | None, *work: Any) -> Any:
        steps.append(step)
        return await run(step, *work)

    monkeypatch.setattr(routes, "run_discreetly", noted)
    for person in ("source", "recipient", "trustee"):
        house.post(person, "/domains/timed/pseudonyms", {"originals": ["x", "y"]})
    step = house.service.settings.answer_seconds
    assert steps == [pytest.approx(step * 1.002), pytest.approx(step * 1.002), None]
