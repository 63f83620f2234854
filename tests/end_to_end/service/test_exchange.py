"""The release check over HTTP: statistics, requests, checks as jobs, decisions by two people, answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kohorte.exchange.peers.identity import Identity
from kohorte.exchange.peers.outbox import Outbox
from kohorte.exchange.peers.parcels import Kind
from kohorte.exchange.peers.sending import request_to
from kohorte.progress import Progress, Stage
from kohorte.service.jobs import queue, release_check
from kohorte.service.jobs.settlement import Outcome, settle
from kohorte.service.parts import Part
from kohorte.trust.folder import TrustFolder
from support.institutions import Institution
from support.jobs import ended, running
from support.jobs import working as with_workers
from support.projects import store_dataset, working
from support.trusting import House, house_in
from testbed.hospital import PLAN, STATISTICS, patients, request

TODAY = datetime.now(UTC).date()
SOON = (TODAY + timedelta(days=30)).isoformat()
IBUPROFEN: dict[str, Any] = {"attribute": "drug", "is": "ibuprofen"}
HOLDING: dict[str, Any] = {
    "kohorte": 1,
    "institution": "Hospital B",
    "plan": PLAN,
    "policy": "default",
    "population": 500_000,
    "statistics": STATISTICS,
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house_in(tmp_path_factory.mktemp("exchange") / "service") as opened:
        opened.post("steward", "/exchange/statistics/shipped", status=201)
        Identity.create(own_folder(opened), "Hospital B")
        yield opened


@pytest.fixture(scope="module")
def dataset(house: House) -> int:
    table = patients(900, people=700, treated=350)
    return store_dataset(house.service, table, house.person("steward").user_id)


@pytest.fixture(scope="module")
def institute(house: House, tmp_path_factory: pytest.TempPathFactory) -> Institution:
    """Another institution; both know each other."""
    other = Institution.at(tmp_path_factory.mktemp("a") / "house", "Institute A")
    given = {
        "institution": "Institute A",
        "address": other.address,
        "certificate": other.own.certificate,
        "fingerprint": other.own.fingerprint,
        "contacts": ["Dr. Neumann"],
    }
    assert house.post("steward", "/exchange/peers", given, status=201)["contacts"] == ["Dr. Neumann"]
    other.knows(Institution(own_folder(house)))
    return other


def own_folder(house: House) -> TrustFolder:
    return TrustFolder.opened(house.service.settings.trust_folder(Part.EXCHANGE))


def received(house: House, condition: dict[str, Any] = IBUPROFEN, **parts: Any) -> str:
    """A request that came as a file."""
    asked = request(condition, until=SOON, **parts).to_dict()
    made = house.post("steward", "/exchange/requests", {"request": asked}, status=201)
    assert (made["proven"], made["state"], made["check"]) == (False, "received", None)
    return f"/exchange/requests/{made['number']}"


def checked(house: House, path: str, dataset: int, **changes: Any) -> str:
    """Check a request as a job; returns the hash of the check."""
    wish = {"dataset_id": dataset, "holding": HOLDING | changes}
    with working(house.service):
        job = house.post("steward", f"{path}/check", wish, status=202)
        row = ended(house.service, job["job_id"])
    assert row.state == "done", row.problem
    assert row.result["recommendation"] == "release with changes"
    return str(row.result["check"])


def decided(house: House, path: str, check: str, *names: str, decision: str = "release") -> Any:
    for name in names:
        found = house.post(name, f"{path}/decisions", {"decision": decision, "check": check})
    return found


def test_a_request_is_checked_as_a_job_decided_by_two_people_and_answered(house: House, dataset: int) -> None:
    path = received(house)
    house.get("approver", f"{path}/page", status=409)  # not checked yet
    check = checked(house, path, dataset)
    assert house.get("approver", f"{path}/check")["check"] == check
    page = house.ask("approver", "GET", f"{path}/page")
    assert "Recommendation" in page.text
    assert house.post("steward", f"{path}/answer", status=409)["code"] == "exchange-undecided"
    assert house.post("steward", f"{path}/decisions", {"decision": "release", "check": check}, status=403)
    assert decided(house, path, check, "approver")["state"] == "checked"
    again = house.post("approver", f"{path}/decisions", {"decision": "release", "check": check}, status=403)
    assert again["code"] == "exchange-decider"
    assert decided(house, path, check, "approver 2")["state"] == "decided: release"
    answered = house.post("steward", f"{path}/answer")
    assert "table.csv" in answered["files"]
    table = house.ask("steward", "GET", f"{path}/answer/table.csv")
    assert table.text.startswith("age,sex,occupation,diagnosis")
    assert house.post("steward", f"{path}/answer", status=409)["code"] == "exchange-answered"
    house.get("steward", f"{path}/answer/draft.csv", status=404)
    people = [one["person"] for one in house.get("approver", path)["decisions"]]
    assert people == [f"user {house.person(name).user_id}" for name in ("approver", "approver 2")]
    actions = [one["action"] for one in house.get("steward", "/audit?limit=100")["entries"]]
    assert {"receive-request", "check-request", "decide-release", "answer-request", "end-job"} <= set(actions)


def test_a_decision_belongs_to_the_check_that_was_read(house: House, dataset: int) -> None:
    path = received(house)
    first = checked(house, path, dataset)
    second = checked(house, path, dataset, population=400_000)
    stale = house.post("approver", f"{path}/decisions", {"decision": "release", "check": first}, status=409)
    assert stale["code"] == "exchange-check-changed"
    assert decided(house, path, second, "approver")["decisions"][0]["decision"] == "release"


def test_neither_the_requester_nor_their_institution_decides(house: House, dataset: int) -> None:
    with house.service.database.reading() as connection:
        from kohorte.service.integrity.marks import USERS
        from kohorte.service.storage.schema import users

        row = connection.execute(USERS.where(users.c.id == house.person("approver").user_id)).one()
    for parts in ({"name": row.name}, {"institution": row.institution}):
        path = received(house, **parts)
        check = checked(house, path, dataset)
        told = house.post("approver", f"{path}/decisions", {"decision": "release", "check": check}, status=403)
        assert told["code"] == "exchange-decider"


def test_a_request_of_a_peer_is_proven_and_its_answer_waits_for_the_peer(
    house: House, dataset: int, institute: Institution
) -> None:
    asked = request(IBUPROFEN, until=SOON, name="Dr. Ada Prüfer")
    item = request_to(institute.folder, asked, "Hospital B", today=TODAY)
    Institution(own_folder(house)).takes(item, shown=institute.own.fingerprint)
    newest = house.get("approver", "/exchange/requests")["requests"][0]
    assert (newest["proven"], newest["requester"]) == (True, "Dr. Ada Prüfer")
    path = f"/exchange/requests/{newest['number']}"
    check = checked(house, path, dataset)
    decided(house, path, check, "approver", decision="refuse")
    answered = house.post("steward", f"{path}/answer")
    assert (answered["to"], answered["state"], answered["files"]) == ("Institute A", "waiting", [])
    waiting = Outbox(own_folder(house)).item(Kind.ANSWER, item.parcel.number)
    institute.takes(waiting, shown=Identity.of(own_folder(house)).fingerprint)


def test_a_question_to_another_institution_names_the_person_who_is_signed_in(
    house: House, institute: Institution
) -> None:
    question = {"to": "Institute A", "purpose": "p", "attributes": ["age"], "condition": IBUPROFEN, "until": SOON}
    sent = house.post("researcher", "/exchange/sent", question, status=201)
    assert (sent["state"], sent["code"]) == ("waiting", "trust-house-lost")
    item = Outbox(own_folder(house)).item(Kind.REQUEST, sent["number"])
    institute.takes(item, shown=Identity.of(own_folder(house)).fingerprint)
    asked = institute.requests.request(institute.requests.numbers()[-1])
    assert asked.requester.contact == house.person("researcher").email_address
    assert asked.requester.institution == "Hospital B"
    assert [one["number"] for one in house.get("researcher", "/exchange/sent")["sent"]] == [sent["number"]]
    assert house.get("researcher 2", "/exchange/sent")["sent"] == []
    assert len(house.get("steward", "/exchange/sent")["sent"]) == 1
    assert house.get("researcher", "/exchange/answers") == {"answers": []}
    house.get("researcher", f"/exchange/answers/{sent['number']}/answer.json", status=404)


def test_a_check_that_fails_or_is_cancelled_keeps_nothing(house: House, dataset: int) -> None:
    path = received(house, attributes=("nothing",))
    wish = {"dataset_id": dataset, "holding": HOLDING}
    with working(house.service):
        job = house.post("steward", f"{path}/check", wish, status=202)
        row = ended(house.service, job["job_id"])
    assert row.problem["code"] == "exchange-request-column"
    waiting = house.post("steward", f"{path}/check", wish, status=202)
    assert house.post("steward", f"/jobs/{waiting['job_id']}/cancel", status=202)["state"] == "cancelled"
    assert house.get("approver", path)["state"] == "received"


def test_wrong_wishes_are_refused(house: House, dataset: int) -> None:
    path = received(house)
    wish = {"dataset_id": dataset, "holding": HOLDING}
    assert house.post("steward", f"{path}/check", wish | {"dataset_id": 9999}, status=404)
    wrong = {"holding": HOLDING | {"policy": "none"}, "dataset_id": dataset}
    assert house.post("steward", f"{path}/check", wrong, status=400)["code"] == "exchange-policy-unknown"
    files = {"holding": HOLDING | {"plan": "plan.yaml"}, "dataset_id": dataset}
    assert house.post("steward", f"{path}/check", files, status=400)["code"] == "exchange-holding"
    house.get("approver", "/exchange/requests/999", status=404)
    decision = {"decision": "release", "check": "0" * 64}
    assert house.post("approver", f"{path}/decisions", decision, status=409)["code"] == "exchange-unchecked"


def test_a_check_uses_hierarchies_that_are_stored_with_the_dataset(house: House, dataset: int) -> None:
    sexes = [["female", "*"], ["male", "*"]]
    path = f"/datasets/{dataset}/hierarchies/sex"
    assert house.ask("steward", "PUT", path, json={"hierarchy": sexes}).status_code in (200, 201)
    attributes = PLAN["attributes"] | {"sex": {"role": "quasi-identifying", "hierarchy": {"stored": True}}}
    plan = PLAN | {"attributes": attributes}
    assert checked(house, received(house), dataset, plan=plan)
    attributes["zip"] = attributes["sex"]
    wish = {"dataset_id": dataset, "holding": HOLDING | {"plan": plan}}
    missing = house.post("steward", f"{received(house)}/check", wish, status=400)
    assert missing["code"] == "hierarchy-not-stored"


def test_statistics_are_imported_listed_and_checked(house: House) -> None:
    table = {"name": "own", "source": "office", "licence": "CC0", "date": "2024-12-31", "reference": "everybody"}
    csv = "icd10,count\nE11.9,700\nI10,2000\n"
    made = house.post(
        "steward",
        "/exchange/statistics",
        {**table, "layout": "icd10", "population": 10_000, "table": csv},
        status=201,
    )
    assert made["versions"][0]["origin"]["kind"] == "disease"
    assert "own" in {one["origin"]["name"] for one in house.get("approver", "/exchange/statistics")["versions"]}
    assert house.get("approver", "/exchange/statistics/problems")["problems"]
    bad = house.post("steward", "/exchange/statistics", {**table, "table": "a,b\n1,2\n", "kind": "age"}, status=400)
    assert bad["code"] == "exchange-statistics-column"


def test_the_address_book_is_kept_and_peers_have_no_token(house: House, institute: Institution) -> None:
    assert house.get("approver", "/exchange/identity")["institution"] == "Hospital B"
    [peer] = house.get("approver", "/exchange/peers")["peers"]
    assert peer["fingerprint"] == institute.own.fingerprint
    again = house.post("steward", "/exchange/peers", {**peer, "certificate": institute.own.certificate}, status=409)
    assert again["code"] == "exchange-peer-exists"
    house.post("steward", "/exchange/peers/remove", {"institution": "Nobody"}, status=400)
    refused = house.client.post("/api/v1/exchange/parcels", content=b"{}\n")
    assert (refused.status_code, refused.json()["code"]) == (403, "exchange-peer-unknown")
    assert json.loads(refused.text)["detail"]


class Cancelled(Exception):
    """Raised as the channel of a job does when somebody has cancelled it."""


def test_a_check_that_is_cancelled_after_its_last_computation_keeps_nothing(house: House, dataset: int) -> None:
    path = received(house)
    house.post("steward", f"{path}/check", {"dataset_id": dataset, "holding": HOLDING}, status=202)
    claim = queue.claim(house.service, "test")
    assert claim is not None
    stages: list[Stage] = []

    def told(progress: Progress) -> None:
        stages.append(progress.stage)
        if progress.stage is Stage.WRITING:
            raise Cancelled

    with pytest.raises(Cancelled):
        release_check.checked(claim.request, patients(900, people=700, treated=350), told)
    settle(house.service, claim, Outcome.cancelled())
    assert Stage.SEARCHING in stages
    assert house.get("approver", path)["check"] is None


@pytest.mark.slow
def test_a_check_that_is_cancelled_while_it_runs_ends_keeps_nothing_and_can_be_made_again(
    house: House, dataset: int
) -> None:
    large = store_dataset(
        house.service, patients(1_500_000, people=1_000_000, treated=500_000), house.person("steward").user_id
    )
    path = received(house)
    with with_workers(house.service):
        job = house.post("steward", f"{path}/check", {"dataset_id": large, "holding": HOLDING}, status=202)["job_id"]
        running(house.service, job)
        assert house.post("steward", f"/jobs/{job}/cancel", status=202)["state"] == "running"
        row = ended(house.service, job)
    assert (row.state, row.problem["code"]) == ("cancelled", "job-cancelled")
    found = house.get("approver", path)
    assert (found["state"], found["check"], found["decisions"]) == ("received", None, [])
    house.get("approver", f"{path}/page", status=409)
    assert decided(house, path, checked(house, path, dataset), "approver")["state"] == "checked"
