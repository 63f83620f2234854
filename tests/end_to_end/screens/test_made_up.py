"""What the demonstration is filled with: requests, cases and ways back that wait for the accounts it prints."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import kohorte as ko
from kohorte.plans import proposal
from kohorte.service.access import Actor
from kohorte.service.permissions import Role
from kohorte.service.processes.demonstration import PEOPLE
from kohorte.service.processes.made_up_patients import fill_patients
from kohorte.service.processes.made_up_requests import fill_exchange
from support.jobs import ended
from support.projects import store_dataset, working
from support.screens import sign_in, words
from support.trusting import House, house_in

NAMES = {"second-approver": "approver 2", "second-steward": "steward 2", "officer": "data-protection-officer"}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with house_in(tmp_path / "service") as opened:
        yield opened


def actors_of(house: House) -> dict[str, Actor]:
    return {
        name: Actor(house.person(NAMES.get(name, name)).user_id, frozenset(roles))
        for name, (_, roles) in PEOPLE.items()
    }


def home(house: House, name: str) -> str:
    sign_in(house.client, house.person(name).email_address)
    return words(house.client.get("/app"))


def test_there_is_an_account_for_every_role() -> None:
    assert {role for _, roles in PEOPLE.values() for role in roles} == set(Role)


def test_cases_and_ways_back_wait_for_their_people(house: House) -> None:
    fill_patients(house.service, actors_of(house))
    assert "3 cases to decide" in home(house, "trustee")
    assert "waits for you: approve or decline" in home(house, "approver")
    assert home(house, "approver 2").count("waits for you: approve or decline") == 2
    assert "the result can be shown once" in home(house, "researcher")
    assert len(house.get("trustee", "/domains")["domains"]) == 3


def test_a_check_waits_for_decisions_and_one_request_is_proven(house: House) -> None:
    actors, table = actors_of(house), ko.cohort(1_000, seed=1)
    dataset_id = store_dataset(house.service, table, actors["steward"].user_id)
    plan = proposal.propose(table).plan
    assert plan is not None
    people = (actors["steward"], actors["researcher"])
    with working(house.service):
        job_id = fill_exchange(house.service, *people, dataset_id=dataset_id, plan=plan.to_dict())
        assert ended(house.service, job_id).state == "done"
    newest, proven = house.get("approver", "/exchange/requests")["requests"]
    assert (newest["state"], newest["proven"], proven["state"], proven["proven"]) == (
        "checked",
        False,
        "received",
        True,
    )
    assert house.get("approver", f"/exchange/requests/{newest['number']}/check")["steps"][-1]["content"][
        "recommendation"
    ].startswith("release")
    assert "waits for you: decide" in home(house, "approver")
    assert len(house.get("researcher", "/exchange/sent")["sent"]) == 1
