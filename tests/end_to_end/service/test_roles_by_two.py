"""Where a way back is served, nobody alone brings about both of its approvals."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kohorte.service.access import Actor
from kohorte.service.accounts import users
from kohorte.service.permissions import Role
from support.service import PASSWORD, Person, signed_in
from support.trusting import House, house_in


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with house_in(tmp_path / "service") as opened:
        opened.post("trustee", "/domains", {"name": "study", "kind": "reversible"}, status=201)
        opened.person("steward")
        opened.person("steward 2")
        yield opened


def new_user(name: str, *roles: str) -> dict[str, Any]:
    address = f"{name.replace(' ', '-')}@example.net"
    return {"email_address": address, "name": name, "institution": "", "password": PASSWORD, "roles": list(roles)}


def create(house: House, name: str, *roles: str, by: str, second: str) -> int:
    """Create a user over HTTP by two people, and sign in with the password that the first one knows."""
    body = new_user(name, *roles)
    request = house.post(by, "/users", body, status=202)
    assert house.post(second, f"/approvals/{request['approval_id']}/confirm")["state"] == "confirmed"
    house.people[name] = Person(0, body["email_address"], signed_in(house.client, body["email_address"]))
    number: int = house.get(name, "/users/me")["user_id"]
    return number


def asked(house: House, name: str = "researcher") -> str:
    made = house.post("source", "/domains/study/pseudonyms", {"originals": ["A1C2D3E4"]})["pseudonyms"]
    until = (datetime.now(UTC) + timedelta(days=3)).date().isoformat()
    body = {"domain": "study", "pseudonyms": made, "purpose": "tell the treating physician", "until": until}
    return f"/way-back/{house.post(name, '/way-back', body, status=201)['request']}"


def test_roles_of_the_way_back_are_granted_by_two(house: House) -> None:
    plain = house.post("steward", "/users", new_user("plain", "researcher"), status=201)["user_id"]
    for role in ("steward", "approver", "trustee", "source", "recipient"):
        created = create(house, f"new {role}", role, by="steward", second="steward 2")
        assert house.get("steward", f"/users/{created}")["roles"] == [role]
        answer = house.ask("steward", "PATCH", f"/users/{plain}", json={"roles": ["researcher", role]})
        assert (answer.status_code, house.get("steward", f"/users/{plain}")["roles"]) == (202, ["researcher"])


def test_a_steward_alone_neither_sets_the_password_of_an_approver_nor_becomes_one(house: House) -> None:
    approver, steward = house.person("approver").user_id, house.person("steward").user_id
    for number, change in (
        (approver, {"password": "another password 1"}),
        (approver, {"email_address": "mine@example.net"}),
        (steward, {"roles": ["steward", "approver"]}),
    ):
        assert house.ask("steward", "PATCH", f"/users/{number}", json=change).status_code == 202, change
    assert house.get("approver", "/users/me")["roles"] == ["approver"]
    for disabled, status in ((True, 200), (False, 202)):  # to lock somebody out must be quick
        assert house.ask("steward", "PATCH", f"/users/{approver}", json={"disabled": disabled}).status_code == status


def test_the_only_steward_is_told_to_let_the_operator_make_a_second_one(tmp_path: Path) -> None:
    with house_in(tmp_path / "service") as house:
        refused = house.post("steward", "/users", new_user("new", "approver"), status=409)
        assert refused["code"] == "approval-nobody-conflict"
        assert "kohorte user create" in refused["detail"]
    with house_in(tmp_path / "research", only=("research",)) as house:
        house.post("steward", "/users", new_user("new", "approver"), status=201)


def test_somebody_whose_password_the_requester_set_is_no_second_person(house: House) -> None:
    create(house, "puppet", "steward", by="steward", second="steward 2")
    request = house.post("steward", "/users", new_user("new", "approver"), status=202)
    confirm = f"/approvals/{request['approval_id']}/confirm"
    assert house.post("puppet", confirm, status=403)["code"] == "approval-dependent"
    request = house.post("puppet", "/users", new_user("newer", "approver"), status=202)
    confirm = f"/approvals/{request['approval_id']}/confirm"
    assert house.post("steward", confirm, status=403)["code"] == "approval-dependent"
    assert house.post("steward 2", confirm)["state"] == "confirmed"


def test_one_person_who_knows_both_passwords_is_not_two_approvers(house: House) -> None:
    create(house, "first", "approver", by="steward", second="steward 2")
    create(house, "puppet", "steward", by="steward", second="steward 2")
    create(house, "second", "approver", by="puppet", second="steward 2")
    request = asked(house)
    house.post("first", f"{request}/approve")
    assert house.post("second", f"{request}/approve", status=403)["code"] == "way-back-dependent"
    new = "typed on the machine"
    users.change_by_hand(house.service, house.person("second").email_address, users.Changes(password=new))
    house.people["second"] = Person(0, "", signed_in(house.client, house.person("second").email_address, new))
    assert house.post("second", f"{request}/approve")["state"] == "approved"
    assert len(house.post("researcher", f"{request}/show")["found"]) == 1


def test_an_approval_does_not_count_any_more_when_one_person_has_set_both_passwords(house: House) -> None:
    create(house, "first", "approver", by="steward", second="steward 2")
    create(house, "second", "approver", by="steward 2", second="steward")
    request = asked(house)
    house.post("first", f"{request}/approve")
    assert house.post("second", f"{request}/approve")["state"] == "approved"
    number = house.get("second", "/users/me")["user_id"]
    change = house.ask("steward", "PATCH", f"/users/{number}", json={"password": "another password 1"}).json()
    house.post("steward 2", f"/approvals/{change['approval_id']}/confirm")
    assert house.post("researcher", f"{request}/show", status=403)["code"] == "way-back-dependent"


def test_who_asks_has_not_set_up_an_approver(house: House) -> None:
    create(house, "mine", "approver", by="steward", second="steward 2")
    request = asked(house, "steward")
    assert house.post("mine", f"{request}/approve", status=403)["code"] == "way-back-dependent"
    assert house.post("approver", f"{request}/approve")["approvals_missing"] == 1
    log = (house.folder / "pseudonyms" / "log.jsonl").read_text()
    assert '"reason": "way-back-dependent"' in log


def test_who_asks_through_another_account_has_not_set_up_an_approver_either(house: House) -> None:
    create(house, "mine", "approver", by="steward", second="steward 2")
    made = house.post("steward", "/users", new_user("puppet", "researcher"), status=201)
    house.people["puppet"] = Person(made["user_id"], "", signed_in(house.client, new_user("puppet")["email_address"]))
    request = asked(house, "puppet")
    assert house.post("mine", f"{request}/approve", status=403)["code"] == "way-back-dependent"
    assert house.post("approver", f"{request}/approve")["approvals_missing"] == 1


def test_two_approvers_who_got_their_role_from_one_person_alone_are_not_enough(house: House) -> None:
    """As older versions allowed it: passwords from two people, roles from one."""
    steward = house.person("steward").user_id
    for name in ("first", "second"):
        person = house.person(f"researcher {name}")
        with house.service.database.writing() as connection:
            users.apply(
                house.service,
                connection,
                person.user_id,
                {"roles": [str(Role.APPROVER)]},
                by=Actor(steward, frozenset({Role.STEWARD})),
            )
        house.people[name] = Person(0, "", signed_in(house.client, person.email_address))
    request = asked(house)
    house.post("first", f"{request}/approve")
    assert house.post("second", f"{request}/approve", status=403)["code"] == "way-back-dependent"
