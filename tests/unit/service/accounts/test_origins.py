"""Who set the password and the roles of an account, also of accounts from before this was noted."""

from __future__ import annotations

from typing import Any

from sqlalchemy import update

from kohorte.service.access import Actor
from kohorte.service.accounts import origins, users
from kohorte.service.context import Service
from kohorte.service.integrity.marks import USER, USERS
from kohorte.service.permissions import Role
from kohorte.service.storage import schema
from support.service import PASSWORD, new_user_with


def created_by(service: Service, by: Any, *roles: Role) -> Any:
    address = f"{roles[0]}-{by.id}-{len(users.listed(service, limit=100, page=1)[0])}@example.net"
    return users.create(
        service, email_address=address, name="x", institution="", password=PASSWORD, roles=roles, by=by.id
    )


def row_of(service: Service, number: int) -> Any:
    with service.database.reading() as connection:
        return connection.execute(USERS.where(schema.users.c.id == number)).one()


def forget_origins(service: Service) -> None:
    """Make the rows of users what they were before the columns existed."""
    with service.database.writing() as connection:
        for row in connection.execute(USERS).all():
            with service.guard.changing(connection, USER, row.id):
                gone = {"password_by": None, "roles_by": None, "roles_second": None}
                connection.execute(update(schema.users).where(schema.users.c.id == row.id).values(**gone))


def test_the_people_behind_an_account_are_all_who_could_act_as_it(service: Service) -> None:
    first = new_user_with(service, Role.STEWARD)
    second = created_by(service, first, Role.STEWARD)
    third = created_by(service, second, Role.APPROVER)
    with service.database.reading() as connection:
        assert origins.people_behind(service, connection, third.id) == {first.id, second.id, third.id}
        assert origins.people_behind(service, connection, first.id) == {first.id}
        other = new_user_with(service, Role.APPROVER).id
        assert origins.are_independent(service, connection, third.id, other)
        assert not origins.are_independent(service, connection, third.id, first.id)


def test_ones_own_new_password_does_not_hide_who_set_the_first_one(service: Service) -> None:
    steward = new_user_with(service, Role.STEWARD)
    row = created_by(service, steward, Role.APPROVER)
    own = Actor(row.id, frozenset({Role.APPROVER}))
    changes = users.Changes(password="three sparrows on a wire", current_password=PASSWORD)
    assert users.change(service, own, row.id, changes).password_by == steward.id
    by_hand = users.change_by_hand(service, row.email_address, users.Changes(password="four sparrows on a wire"))
    assert by_hand.password_by == origins.MACHINE


def test_accounts_from_before_get_what_the_audit_log_tells(service: Service) -> None:
    steward, other = new_user_with(service, Role.STEWARD), new_user_with(service, Role.STEWARD)
    first, second = (created_by(service, steward, Role.APPROVER) for _ in range(2))
    actor = Actor(other.id, frozenset({Role.STEWARD}))
    users.change(service, actor, first.id, users.Changes(password="another password 1"))
    users.change(service, actor, second.id, users.Changes(roles=[Role.APPROVER, Role.RESEARCHER]))
    forget_origins(service)
    assert row_of(service, first.id).password_by is None
    with service.database.reading() as connection:  # until then nobody is taken for independent
        assert not origins.are_independent(service, connection, steward.id, other.id)
    origins.fill_in(service)
    found = {number: row_of(service, number) for number in (steward.id, first.id, second.id)}
    assert [(row.password_by, row.roles_by) for row in found.values()] == [
        (0, 0),
        (other.id, steward.id),
        (steward.id, other.id),
    ]


def test_approvers_are_named_only_if_no_two_are_independent(service: Service) -> None:
    steward = new_user_with(service, Role.STEWARD)
    numbers = [created_by(service, steward, Role.APPROVER).id for _ in range(3)]
    assert origins.approvers_who_depend_on_one_person(service) == numbers
    new_user_with(service, Role.APPROVER)
    assert origins.approvers_who_depend_on_one_person(service) == []
