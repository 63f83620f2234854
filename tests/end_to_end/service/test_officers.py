"""Nobody alone silences the data protection officers, who are told about every way back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kohorte.service.permissions import Role
from support.service import new_person_with
from support.trusting import House, house_in

OFFICER = "data-protection-officer"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with house_in(tmp_path / "service") as opened:
        opened.person("steward")
        opened.person("steward 2")
        yield opened


def change(house: House, name: str, of: str, **changes: Any) -> tuple[int, dict[str, Any]]:
    answer = house.ask(name, "PATCH", f"/users/{house.person(of).user_id}", json=changes)
    return answer.status_code, answer.json()


@pytest.mark.parametrize(
    "changes", [{"disabled": True}, {"roles": ["researcher"]}, {"password": "some other words for a while"}]
)
def test_one_steward_alone_neither_disables_an_officer_nor_takes_the_role_or_the_password(
    house: House, changes: dict[str, Any]
) -> None:
    house.person(f"{OFFICER} 2")
    status, waiting = change(house, "steward", OFFICER, **changes)
    assert (status, waiting["state"]) == (202, "pending"), waiting
    assert house.get("steward", f"/users/{house.person(OFFICER).user_id}")["disabled"] is False
    confirmed = house.ask("steward 2", "POST", f"/approvals/{waiting['approval_id']}/confirm")
    assert confirmed.status_code == 200, confirmed.text


def test_one_steward_alone_does_not_delete_an_officer(house: House) -> None:
    house.person(f"{OFFICER} 2")
    answer = house.ask("steward", "DELETE", f"/users/{house.person(OFFICER).user_id}")
    assert answer.status_code == 202, answer.text
    assert house.post(OFFICER, "/way-back/notices")["notices"] == []


@pytest.mark.parametrize("changes", [{"disabled": True}, {"roles": ["researcher"]}])
def test_the_last_officer_stays_also_if_two_people_agree(house: House, changes: dict[str, Any]) -> None:
    house.person(OFFICER)
    status, problem = change(house, "steward", OFFICER, **changes)
    assert (status, problem["code"]) == (409, "last-officer-conflict")
    answer = house.ask("steward", "DELETE", f"/users/{house.person(OFFICER).user_id}")
    assert (answer.status_code, answer.json()["code"]) == (409, "last-officer-conflict")


def test_an_officer_who_is_a_steward_too_does_not_leave_as_the_last_one(house: House) -> None:
    both = new_person_with(house.service, house.client, Role.STEWARD, Role.DATA_PROTECTION_OFFICER)
    house.people["both"] = both
    status, problem = change(house, "both", "both", roles=["steward"])
    assert (status, problem["code"]) == (409, "last-officer-conflict")


def test_a_service_without_a_way_back_needs_no_officer(tmp_path: Path) -> None:
    with house_in(tmp_path / "research", only=("research",)) as house:
        house.person("steward")
        assert change(house, "steward", OFFICER, disabled=True)[0] == 200


def test_notices_that_nobody_has_read_are_shown_to_the_next_officer(house: House) -> None:
    house.post("trustee", "/domains", {"name": "study", "kind": "one-way"}, status=201)
    house.person(OFFICER)
    house.post("researcher", "/way-back/1/show", status=404)
    house.person(f"{OFFICER} 2")
    _, waiting = change(house, "steward", OFFICER, disabled=True)
    house.post("steward 2", f"/approvals/{waiting['approval_id']}/confirm")
    assert house.post(f"{OFFICER} 2", "/way-back/notices")["notices"]
