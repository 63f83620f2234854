"""Users: addresses, changes, deletion, and the steward who has to stay."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from kohorte.errors import AccessDenied, InputError, KohorteError
from kohorte.service.access import Actor, roles_of
from kohorte.service.accounts import sessions, tokens, users
from kohorte.service.accounts.addresses import folded, valid
from kohorte.service.context import Service
from kohorte.service.storage.schema import audit, now
from kohorte.service.storage.schema import users as rows
from support.marked_rows import mark_rows
from support.service import PASSWORD, RESEARCHER, STEWARD, new_user, on_sqlite

STRONG = "three sparrows on a wire"
JANE = {"email_address": "jane@example.com", "name": "Jane Doe", "institution": "Fraunhofer IOSB", "roles": RESEARCHER}


@pytest.fixture
def steward(service: Service) -> Actor:
    """A data steward."""
    return Actor(new_user(service, privileged=True).id, STEWARD, "none")


@pytest.fixture
def jane(service: Service, steward: Actor) -> Any:
    """A researcher with the password of the appendix."""
    return users.create(service, **JANE, password="123456", by=steward.user_id)


def as_(row: Any, session_id: str = "none") -> Actor:
    return Actor(row.id, roles_of(row), session_id)


def delete(service: Service, actor: Actor, user_id: int) -> None:
    with service.database.writing() as connection:
        users.remove(service, connection, actor, user_id)


def code_of(work: Any, *arguments: Any, **options: Any) -> str:
    with pytest.raises(KohorteError) as raised:
        work(*arguments, **options)
    return raised.value.code


def kept(service: Service, user_id: int) -> Any:
    with service.database.reading() as connection:
        return connection.execute(select(rows).where(rows.c.id == user_id)).one()


@pytest.mark.parametrize(
    "address",
    ["", " ", "jane", "@example.com", "jane@", "a@b@c", "jane@exa mple.com", "jane@example..com", "jane@.com",
     "jäne@example.com", "jane@example.com\nx", "j" * 65 + "@example.com", "j@" + "e" * 64, "j@" + "e.c" * 90, "a\0@b"],
)  # fmt: skip
def test_what_is_no_address_is_refused_without_being_repeated(address: str) -> None:
    with pytest.raises(InputError) as raised:
        valid(address)
    assert raised.value.code == "user-email-address"
    assert raised.value.message == "email_address: must be an address such as jane@example.com"


def test_an_address_is_written_in_one_way() -> None:
    assert valid("  Jane.DOE+x@Example.COM\n") == "jane.doe+x@example.com"
    assert folded("NOT one") == "not one"


def test_an_address_can_be_used_once_however_it_is_written(service: Service, jane: Any) -> None:
    again = {**JANE, "email_address": " JANE@example.COM "}
    assert code_of(users.create, service, **again, password=STRONG, by=None) == "user-conflict"
    other = users.create(service, **{**JANE, "email_address": "other@example.com"}, password=STRONG, by=None)
    actor = Actor(1, STEWARD, "none")
    taken = users.Changes(email_address="Jane@example.com")
    assert code_of(users.change, service, actor, other.id, taken) == "user-conflict"


def test_of_many_creations_with_one_address_at_once_one_succeeds(service: Service) -> None:
    def created(_: int) -> str:
        try:
            users.create(service, **JANE, password=STRONG, by=None)
        except InputError as error:
            return error.code
        return "created"

    with ThreadPoolExecutor(8) as pool:
        ended = list(pool.map(created, range(8)))
    assert sorted(ended) == ["created"] + ["user-conflict"] * 7


@on_sqlite
@pytest.mark.parametrize("field", ["name", "institution"])
@pytest.mark.parametrize("text", ["x" * 201, "two\nlines", "a\0b", "\ud800"])
def test_a_text_that_is_too_long_or_has_control_characters_is_refused(service: Service, field: str, text: str) -> None:
    assert code_of(users.create, service, **{**JANE, field: text}, password=STRONG, by=None) == "user-text"


def test_a_user_is_shown_as_in_the_appendix_and_without_secrets(jane: Any) -> None:
    shown = users.user_to_dict(jane)
    created_at = shown.pop("created_at")
    assert created_at.endswith("+00:00")
    assert shown == {
        "disabled": False,
        "email_address": "jane@example.com",
        "institution": "Fraunhofer IOSB",
        "name": "Jane Doe",
        "privileged_status": False,
        "roles": ["researcher"],
        "user_id": jane.id,
        "certificate": None,
    }


@on_sqlite
def test_people_choose_strong_passwords_and_stewards_may_set_weak_ones_that_expire(service: Service, jane: Any) -> None:
    other = {**JANE, "email_address": "other@example.com"}
    assert code_of(users.create, service, **other, password="123456", by=None) == "password-weak"
    assert code_of(users.create, service, **other, password="12345", by=1) == "password-weak"
    assert timedelta(hours=71) < jane.password_expires_at - now() <= timedelta(hours=72)
    strong = users.create(service, **other, password=STRONG, by=1)
    assert strong.password_expires_at is None


def test_an_own_password_needs_the_current_one_and_ends_the_other_sessions(service: Service, jane: Any) -> None:
    first = sessions.sign_in(service, "jane@example.com", "123456")
    other = sessions.sign_in(service, "jane@example.com", "123456")
    actor = tokens.authenticate(service, first.access_token)
    for changes, code in (
        (users.Changes(password=STRONG), "user-current-password"),
        (users.Changes(password=STRONG, current_password="654321"), "password-wrong"),
        (users.Changes(password="654321", current_password="123456"), "password-weak"),
    ):
        assert code_of(users.change, service, actor, jane.id, changes) == code
    changed = users.change(service, actor, jane.id, users.Changes(password=STRONG, current_password="123456"))
    assert changed.password_expires_at is None
    assert tokens.authenticate(service, first.access_token) == actor
    assert code_of(tokens.authenticate, service, other.access_token) == "not-signed-in"
    assert code_of(sessions.sign_in, service, "jane@example.com", "123456") == "login-failed"
    sessions.sign_in(service, "jane@example.com", STRONG)


def test_whoever_has_a_token_cannot_try_passwords_without_end(service: Service, jane: Any) -> None:
    wrong = users.Changes(password=STRONG, current_password="wrong!")
    codes = [code_of(users.change, service, as_(jane), jane.id, wrong) for _ in range(6)]
    assert codes == ["password-wrong"] * 5 + ["locked-out"]


def test_a_steward_changes_the_own_password_like_everybody_else(service: Service, steward: Actor) -> None:
    changes = users.Changes(password="123456")
    assert code_of(users.change, service, steward, steward.user_id, changes) == "user-current-password"


def test_a_password_that_a_steward_sets_ends_all_sessions_and_may_expire(
    service: Service, steward: Actor, jane: Any
) -> None:
    pair = sessions.sign_in(service, "jane@example.com", "123456")
    changed = users.change(service, steward, jane.id, users.Changes(password="abcdef"))
    assert changed.password_expires_at is not None
    assert code_of(tokens.authenticate, service, pair.access_token) == "not-signed-in"
    with service.database.writing() as connection:
        connection.execute(
            update(rows).where(rows.c.id == jane.id).values(password_expires_at=now() - timedelta(seconds=1))
        )
        mark_rows(service, connection)
    assert code_of(sessions.sign_in, service, "jane@example.com", "abcdef") == "password-expired"
    users.change(service, steward, jane.id, users.Changes(password="abcdef"))
    sessions.sign_in(service, "jane@example.com", "abcdef")


def test_researchers_change_their_own_name_and_institution_and_nothing_else(service: Service, jane: Any) -> None:
    changed = users.change(service, as_(jane), jane.id, users.Changes(name=" Jane Roe ", institution=""))
    assert (changed.name, changed.institution) == ("Jane Roe", "")
    for changes in (
        users.Changes(privileged=True),
        users.Changes(privileged=False),
        users.Changes(disabled=False),
        users.Changes(email_address="roe@example.com"),
    ):
        assert code_of(users.change, service, as_(jane), jane.id, changes) == "not-allowed"
    assert kept(service, jane.id).email_address == "jane@example.com"


def test_to_researchers_other_users_do_not_exist(service: Service, steward: Actor, jane: Any) -> None:
    answers = []
    for user_id in (steward.user_id, 999_999):
        for changes in (users.Changes(), users.Changes(name="x"), users.Changes(privileged=True)):
            with pytest.raises(AccessDenied) as raised:
                users.change(service, as_(jane), user_id, changes)
            answers.append((raised.value.code, raised.value.message))
        with pytest.raises(AccessDenied) as raised:
            users.shown(service, as_(jane), user_id)
        answers.append((raised.value.code, raised.value.message))
    assert set(answers) == {("not-found", "there is no such user")}


def test_a_disabled_user_is_signed_out_and_can_be_enabled_again(service: Service, steward: Actor, jane: Any) -> None:
    pair = sessions.sign_in(service, "jane@example.com", "123456")
    users.change(service, steward, jane.id, users.Changes(disabled=True))
    assert code_of(tokens.authenticate, service, pair.access_token) == "not-signed-in"
    users.change(service, steward, jane.id, users.Changes(disabled=False))
    assert code_of(tokens.authenticate, service, pair.access_token) == "not-signed-in"
    sessions.sign_in(service, "jane@example.com", "123456")


def test_a_deleted_user_leaves_a_row_without_anything_personal(service: Service, steward: Actor, jane: Any) -> None:
    pair = sessions.sign_in(service, "jane@example.com", "123456")
    delete(service, steward, jane.id)
    row = kept(service, jane.id)
    assert (row.email_address, row.name, row.institution, row.password_hash) == (f"deleted-{jane.id}", "", "", "")
    assert code_of(tokens.authenticate, service, pair.access_token) == "not-signed-in"
    assert code_of(sessions.sign_in, service, "jane@example.com", "123456") == "login-failed"
    assert code_of(sessions.sign_in, service, f"deleted-{jane.id}", "") == "login-failed"
    assert code_of(users.shown, service, steward, jane.id) == "not-found"
    assert code_of(delete, service, steward, jane.id) == "not-found"
    assert code_of(users.change, service, steward, jane.id, users.Changes(name="x")) == "not-found"
    again = users.create(service, **JANE, password=STRONG, by=steward.user_id)
    assert again.id > jane.id


def test_a_list_has_pages_and_no_deleted_users(service: Service, steward: Actor) -> None:
    ids = [new_user(service, privileged=False).id for _ in range(4)]
    delete(service, steward, ids[1])
    found, total = users.listed(service, limit=2, page=2)
    assert ([row.id for row in found], total) == (ids[2:4], 4)
    assert users.listed(service, limit=2, page=3) == ([], 4)


@pytest.mark.parametrize("changes", [users.Changes(privileged=False), users.Changes(disabled=True), None])
def test_the_last_steward_has_to_stay(service: Service, steward: Actor, changes: users.Changes | None) -> None:
    away = new_user(service, privileged=True)
    users.change(service, steward, away.id, users.Changes(disabled=True))

    def go() -> None:
        if changes is None:
            delete(service, steward, steward.user_id)
        else:
            users.change(service, steward, steward.user_id, changes)

    assert code_of(go) == "last-steward-conflict"
    users.change(service, steward, away.id, users.Changes(disabled=False))
    go()


def test_when_all_stewards_leave_at_once_one_stays(service: Service) -> None:
    stewards = [as_(new_user(service, privileged=True)) for _ in range(6)]
    leave = (users.Changes(privileged=False), users.Changes(disabled=True), None)

    def go(number: int) -> str:
        actor, changes = stewards[number], leave[number % 3]
        try:
            if changes is None:
                delete(service, actor, actor.user_id)
            else:
                users.change(service, actor, actor.user_id, changes)
        except InputError as error:
            return error.code
        return "gone"

    with ThreadPoolExecutor(6) as pool:
        ended = list(pool.map(go, range(6)))
    assert sorted(ended) == ["gone"] * 5 + ["last-steward-conflict"]
    with service.database.reading() as connection:
        assert connection.execute(select(func.count()).select_from(rows).where(users.can_act())).scalar_one() == 1


def test_changes_are_in_the_audit_log_by_name_not_by_value(service: Service, steward: Actor, jane: Any) -> None:
    users.change(service, steward, jane.id, users.Changes(name="Jane Roe", password="abcdef", disabled=True))
    delete(service, steward, jane.id)
    with service.database.reading() as connection:
        entries = connection.execute(select(audit).order_by(audit.c.number)).all()
    assert [entry.action for entry in entries[-3:]] == ["create-user", "change-user", "delete-user"]
    assert entries[-2].details == {"changed": "disabled, name, password, password_expires"}
    assert all(entry.actor_id == steward.user_id and entry.object == f"user {jane.id}" for entry in entries[-3:])
    for secret in ("jane@", "Jane", "Fraunhofer", "123456", "abcdef", PASSWORD):
        assert secret not in repr(entries)


def test_a_change_of_nothing_changes_nothing(service: Service, jane: Any) -> None:
    assert users.change(service, as_(jane), jane.id, users.Changes()).name == "Jane Doe"


def test_a_change_that_is_refused_halfway_changes_nothing(service: Service, steward: Actor) -> None:
    before = kept(service, steward.user_id)
    changes = users.Changes(name="Other", privileged=False)
    assert code_of(users.change, service, steward, steward.user_id, changes) == "last-steward-conflict"
    assert kept(service, steward.user_id) == before


def test_passwords_are_not_in_reprs() -> None:
    assert "secret" not in repr(users.Changes(password="secret1", current_password="secret2"))
