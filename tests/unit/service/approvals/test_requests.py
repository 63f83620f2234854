"""Actions for two people: nothing happens before the second has confirmed, and then once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from kohorte.errors import KohorteError
from kohorte.service.access import Actor
from kohorte.service.accounts import users
from kohorte.service.approvals import requests
from kohorte.service.approvals.actions import ACTIONS
from kohorte.service.audit import verify_log
from kohorte.service.audit_reading import Wanted, listed
from kohorte.service.context import Service
from kohorte.service.permissions import TWO_PEOPLE, Role
from kohorte.service.storage.schema import approvals, datasets, now, projects, user_roles
from support.jobs import locked_files, new_project, row_of
from support.marked_rows import mark_rows
from support.projects import patients, store_dataset
from support.service import STEWARD, new_user_with


@pytest.fixture
def careful(service: Service) -> Service:
    """A service whose settings ask for two people wherever that is possible."""
    return replace(service, settings=replace(service.settings, two_people=TWO_PEOPLE))


@pytest.fixture
def steward(service: Service) -> Actor:
    return person(service, Role.STEWARD)


@pytest.fixture
def second(service: Service) -> Actor:
    return person(service, Role.STEWARD)


@pytest.fixture
def dataset_id(service: Service, steward: Actor) -> int:
    return store_dataset(service, patients(), steward.user_id)


def person(service: Service, *roles: Role) -> Actor:
    return Actor(new_user_with(service, *roles).id, frozenset(roles))


def asked(service: Service, actor: Actor, operation: str, subject_id: int = 0, values: Any = None) -> int:
    """Call an operation that needs two people, and return the number of the request."""
    approval = requests.perform(service, actor, operation, subject_id, values or {}).approval
    assert approval is not None
    return int(approval["approval_id"])


def code_of(work: Any, *arguments: Any) -> str:
    with pytest.raises(KohorteError) as raised:
        work(*arguments)
    return raised.value.code


def is_there(service: Service, dataset_id: int) -> bool:
    return row_of(service, datasets, dataset_id).deleted_at is None


def test_every_operation_for_two_people_has_an_action() -> None:
    assert set(ACTIONS) == set(TWO_PEOPLE)


def test_without_the_setting_an_action_is_carried_out_at_once(
    service: Service, steward: Actor, dataset_id: int
) -> None:
    assert requests.perform(service, steward, "delete_dataset", dataset_id).approval is None
    assert not is_there(service, dataset_id)


def test_a_second_person_carries_out_what_the_first_asked_for(
    careful: Service, steward: Actor, second: Actor, dataset_id: int
) -> None:
    number = asked(careful, steward, "delete_dataset", dataset_id)
    assert is_there(careful, dataset_id)
    assert locked_files(careful)
    assert requests.confirm(careful, second, number)["state"] == "confirmed"
    assert not is_there(careful, dataset_id)
    assert not locked_files(careful)
    entries, _ = listed(careful.database, limit=3)
    found = [(entry["action"], entry["actor_id"]) for entry in entries]
    assert found == [
        ("confirm-approval", second.user_id),
        ("delete-dataset", steward.user_id),
        ("request-approval", steward.user_id),
    ]
    assert verify_log(careful.database, careful.log).whole


def test_an_approver_confirms_and_can_do_nothing_alone(careful: Service, steward: Actor, dataset_id: int) -> None:
    approver = person(careful, Role.APPROVER)
    number = asked(careful, steward, "delete_dataset", dataset_id)
    requests.confirm(careful, approver, number)
    assert not is_there(careful, dataset_id)


def test_nobody_confirms_their_own_request(careful: Service, steward: Actor, dataset_id: int) -> None:
    number = asked(careful, steward, "delete_dataset", dataset_id)
    assert code_of(requests.confirm, careful, steward, number) == "approval-own"
    assert is_there(careful, dataset_id)


def test_a_request_that_is_confirmed_again_is_not_carried_out_again(
    careful: Service, steward: Actor, second: Actor
) -> None:
    values = users.prepared(users.Changes("new@example.org", "N", "", True), "a password to start", strong=False)
    number = asked(careful, steward, "create_user", values=values)
    first = requests.confirm(careful, second, number)
    assert requests.confirm(careful, second, number) == first
    third = person(careful, Role.APPROVER)
    assert code_of(requests.confirm, careful, third, number) == "approval-conflict"
    assert code_of(requests.decline, careful, third, number) == "approval-conflict"
    _, created = listed(careful.database, limit=1, filters=Wanted(action="create-user", actor_id=steward.user_id))
    assert created == 1


@pytest.mark.parametrize("people", [2, 8])
def test_of_many_who_confirm_at_once_one_carries_it_out(
    careful: Service, steward: Actor, dataset_id: int, people: int
) -> None:
    number = asked(careful, steward, "delete_dataset", dataset_id)
    others = [person(careful, Role.APPROVER) for _ in range(people)]

    def go(actor: Actor) -> str:
        try:
            return str(requests.confirm(careful, actor, number)["state"])
        except KohorteError as error:
            return error.code

    with ThreadPoolExecutor(people) as pool:
        ended = sorted(pool.map(go, others))
    assert ended == ["approval-conflict"] * (people - 1) + ["confirmed"]
    assert listed(careful.database, limit=1, filters=Wanted(action="delete-dataset"))[1] == 1


def test_confirming_and_declining_at_once_does_one_of_the_two(
    careful: Service, steward: Actor, second: Actor, dataset_id: int
) -> None:
    number = asked(careful, steward, "delete_dataset", dataset_id)
    third = person(careful, Role.APPROVER)

    def go(work: Any) -> str:
        decide, actor = work
        try:
            return str(decide(careful, actor, number)["state"])
        except KohorteError as error:
            return error.code

    with ThreadPoolExecutor(2) as pool:
        ended = set(pool.map(go, [(requests.confirm, second), (requests.decline, third)]))
    assert ended in ({"confirmed", "approval-conflict"}, {"declined", "approval-conflict"})
    assert is_there(careful, dataset_id) == ("declined" in ended)


@pytest.mark.parametrize("loses", ["role", "account"])
def test_a_request_of_somebody_who_is_no_longer_entitled_is_not_carried_out(
    service: Service, careful: Service, steward: Actor, second: Actor, dataset_id: int, loses: str
) -> None:
    number = asked(careful, steward, "delete_dataset", dataset_id)
    lost = users.Changes(privileged=False) if loses == "role" else users.Changes(disabled=True)
    users.change(service, second, steward.user_id, lost)
    assert code_of(requests.confirm, careful, second, number) == "approval-conflict"
    assert is_there(careful, dataset_id)


def test_somebody_who_has_just_lost_the_role_confirms_nothing(
    careful: Service, steward: Actor, second: Actor, dataset_id: int
) -> None:
    number = asked(careful, steward, "delete_dataset", dataset_id)
    with careful.database.writing() as connection:
        connection.execute(update(user_roles).where(user_roles.c.user_id == second.user_id).values(role="researcher"))
        mark_rows(careful, connection)
    assert code_of(requests.confirm, careful, second, number) == "not-allowed"  # `second` still carries the old roles
    assert is_there(careful, dataset_id)


def test_a_request_expires(careful: Service, steward: Actor, second: Actor, dataset_id: int) -> None:
    number = asked(careful, steward, "delete_dataset", dataset_id)
    with careful.database.writing() as connection:
        connection.execute(update(approvals).values(expires_at=now() - timedelta(seconds=1)))
        mark_rows(careful, connection)
    assert requests.shown(careful, steward, number)["state"] == "expired"
    assert code_of(requests.confirm, careful, second, number) == "approval-conflict"
    assert requests.listed(careful, second, state=requests.ApprovalState.PENDING, limit=9, page=1) == ([], 0)
    assert requests.listed(careful, second, state=requests.ApprovalState.EXPIRED, limit=9, page=1)[1] == 1
    assert asked(careful, steward, "delete_dataset", dataset_id) != number


def test_a_declined_request_is_over_and_can_be_made_again(
    careful: Service, steward: Actor, second: Actor, dataset_id: int
) -> None:
    number = asked(careful, steward, "delete_dataset", dataset_id)
    assert requests.decline(careful, second, number)["state"] == "declined"
    assert requests.decline(careful, second, number)["state"] == "declined"
    assert code_of(requests.confirm, careful, second, number) == "approval-conflict"
    again = asked(careful, steward, "delete_dataset", dataset_id)
    assert requests.decline(careful, steward, again)["decider_id"] == steward.user_id
    assert is_there(careful, dataset_id)


def test_the_same_request_is_stored_once(careful: Service, steward: Actor, second: Actor, dataset_id: int) -> None:
    number = asked(careful, steward, "delete_dataset", dataset_id)
    assert asked(careful, steward, "delete_dataset", dataset_id) == number
    assert asked(careful, second, "delete_dataset", dataset_id) != number


def test_what_is_refused_anyway_is_refused_at_once_and_leaves_no_request(
    careful: Service, steward: Actor, dataset_id: int
) -> None:
    new_project(careful, dataset_id)
    assert code_of(requests.perform, careful, steward, "delete_dataset", dataset_id) == "dataset-conflict"
    assert code_of(requests.perform, careful, steward, "delete_dataset", 999) == "not-found"
    with careful.database.reading() as connection:
        assert connection.execute(select(func.count()).select_from(approvals)).scalar_one() == 0


def test_what_has_become_impossible_is_not_carried_out_and_stays_pending(
    careful: Service, steward: Actor, second: Actor, dataset_id: int
) -> None:
    number = asked(careful, steward, "delete_dataset", dataset_id)
    new_project(careful, dataset_id)
    assert code_of(requests.confirm, careful, second, number) == "dataset-conflict"
    assert requests.shown(careful, second, number)["state"] == "pending"


def test_roles_change_when_somebody_else_has_confirmed(careful: Service, steward: Actor, second: Actor) -> None:
    jane = new_user_with(careful, Role.RESEARCHER)
    changes = users.Changes(roles=[Role.APPROVER, Role.OPERATOR], password="a password to start")
    values = users.planned(careful, steward, jane.id, changes)
    number = asked(careful, steward, "change_user", jane.id, values)
    told = requests.shown(careful, second, number)
    assert told["changes"] == ["password", "password_expires", "roles"]
    assert told["values"] == {"roles": ["approver", "operator"], "password": True}
    assert values["password_hash"] not in str(told)
    assert users.user_to_dict(users.shown(careful, second, jane.id))["roles"] == ["researcher"]
    requests.confirm(careful, second, number)
    changed = users.shown(careful, second, jane.id)
    assert users.user_to_dict(changed)["roles"] == ["approver", "operator"]
    assert changed.password_hash == values["password_hash"]


def test_the_last_steward_stays_whatever_two_people_want(careful: Service, steward: Actor) -> None:
    second = person(careful, Role.STEWARD)
    leave = {"disabled_at": now()}
    first = asked(careful, steward, "change_user", second.user_id, leave)
    other = asked(careful, second, "change_user", steward.user_id, leave)
    approver = person(careful, Role.APPROVER)
    requests.confirm(careful, approver, first)
    assert code_of(requests.confirm, careful, approver, other) == "approval-conflict"  # who asked is disabled by now


def test_a_release_opens_for_everybody_who_may_read_it_once_somebody_has_confirmed(
    careful: Service, steward: Actor, second: Actor, dataset_id: int
) -> None:
    researcher = person(careful, Role.RESEARCHER)
    project_id, _ = new_project(careful, dataset_id, researcher_id=researcher.user_id)
    assert code_of(requests.perform, careful, researcher, "download_csv", project_id) == "project-conflict"
    with careful.database.writing() as connection:
        connection.execute(update(projects).values(state="ready"))
        mark_rows(careful, connection)
    number = asked(careful, researcher, "download_csv", project_id)
    stranger = person(careful, Role.RESEARCHER)
    assert code_of(requests.perform, careful, stranger, "download_csv", project_id) == "not-found"
    assert code_of(requests.shown, careful, stranger, number) == "not-found"
    assert code_of(requests.confirm, careful, stranger, number) == "not-found"
    requests.confirm(careful, second, number)
    assert requests.perform(careful, researcher, "download_csv", project_id).approval is None
    assert requests.perform(careful, steward, "download_csv", project_id).approval is None


def test_people_see_their_own_requests_and_approvers_all(careful: Service, steward: Actor, dataset_id: int) -> None:
    asked(careful, steward, "delete_dataset", dataset_id)
    for actor, seen in (
        (person(careful, Role.APPROVER), 1),
        (steward, 1),
        (person(careful, Role.RESEARCHER), 0),
        (person(careful, Role.DATA_PROTECTION_OFFICER, Role.OPERATOR, Role.TRUSTEE), 0),
    ):
        assert requests.listed(careful, actor, state=None, limit=9, page=1)[1] == seen


def test_what_shall_change_is_sealed_for_its_own_request(careful: Service, steward: Actor, second: Actor) -> None:
    jane, john = new_user_with(careful, Role.RESEARCHER).id, new_user_with(careful, Role.RESEARCHER).id
    small = asked(careful, steward, "change_user", jane, {"roles": ["trustee"]})
    large = asked(careful, steward, "change_user", john, {"roles": ["steward"]})
    with careful.database.writing() as connection:
        sealed = connection.execute(select(approvals.c.sealed_values).where(approvals.c.id == large)).scalar_one()
        connection.execute(update(approvals).where(approvals.c.id == small).values(sealed_values=sealed))
    assert code_of(requests.confirm, careful, second, small) == "service-damaged"
    assert STEWARD.isdisjoint(users.user_to_dict(users.shown(careful, second, jane))["roles"])
