"""Sessions: signing in, rotation, theft, signing out."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from nacl.pwhash import argon2id
from sqlalchemy import func, select, update

from kohorte.errors import AccessDenied
from kohorte.service.accounts import sessions, tokens
from kohorte.service.audit import verify_log
from kohorte.service.context import Service
from kohorte.service.storage.schema import audit, now
from kohorte.service.storage.schema import sessions as session_rows
from kohorte.service.storage.schema import users as user_rows
from kohorte.trust import passwords
from support.marked_rows import mark_rows
from support.service import PASSWORD, new_user


@pytest.fixture
def user(service: Service) -> Any:
    """A researcher."""
    return new_user(service, privileged=False)


def refusal(service: Service, email_address: str, password: str) -> tuple[str, str]:
    with pytest.raises(AccessDenied) as raised:
        sessions.sign_in(service, email_address, password)
    return raised.value.code, raised.value.message


def actions(service: Service) -> list[str]:
    with service.database.reading() as connection:
        return list(connection.execute(select(audit.c.action).order_by(audit.c.number)).scalars())


def change_user(service: Service, user: Any, **values: Any) -> None:
    with service.database.writing() as connection:
        connection.execute(update(user_rows).where(user_rows.c.id == user.id).values(**values))
        mark_rows(service, connection)


def test_wrong_password_unknown_disabled_and_deleted_user_get_the_same_answer(service: Service, user: Any) -> None:
    answers = {refusal(service, user.email_address, "wrong"), refusal(service, "nobody@example.org", PASSWORD)}
    change_user(service, user, disabled_at=now())
    answers.add(refusal(service, user.email_address, PASSWORD))
    change_user(service, user, disabled_at=None, deleted_at=now())
    answers.add(refusal(service, user.email_address, PASSWORD))
    assert answers == {("login-failed", "the e-mail address or the password is wrong")}


def test_every_refused_login_does_the_same_work(service: Service, user: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    verified: list[int] = []
    real = argon2id.verify
    monkeypatch.setattr(passwords.argon2id, "verify", lambda *parts: verified.append(1) or real(*parts))
    for address in (user.email_address, "nobody@example.org", "no address", ""):
        verified.clear()
        refusal(service, address, "wrong")
        assert len(verified) == 1


def test_an_expired_password_is_told_only_to_who_knows_it(service: Service, user: Any) -> None:
    change_user(service, user, password_expires_at=now() - timedelta(seconds=1))
    assert refusal(service, user.email_address, "wrong")[0] == "login-failed"
    for _ in range(7):
        assert refusal(service, user.email_address, PASSWORD)[0] == "password-expired"


def test_a_password_that_will_expire_signs_in_and_says_when(service: Service, user: Any) -> None:
    expiry = now() + timedelta(hours=1)
    change_user(service, user, password_expires_at=expiry)
    pair = sessions.sign_in(service, user.email_address, PASSWORD)
    assert pair.password_expires_at == expiry
    assert sessions.rotate(service, pair.refresh_token).password_expires_at == expiry


def test_signing_in_replaces_a_hash_that_was_made_with_less_work(service: Service, user: Any) -> None:
    change_user(service, user, password_hash=argon2id.str(PASSWORD.encode(), 1, 1 << 20).decode())
    sessions.sign_in(service, user.email_address, PASSWORD)
    with service.database.reading() as connection:
        kept = connection.execute(select(user_rows.c.password_hash).where(user_rows.c.id == user.id)).scalar_one()
    assert not passwords.is_outdated(kept)
    sessions.sign_in(service, user.email_address, PASSWORD)


def test_a_refresh_token_gives_new_tokens_and_keeps_the_session(service: Service, user: Any) -> None:
    first = sessions.sign_in(service, user.email_address, PASSWORD)
    second = sessions.rotate(service, first.refresh_token)
    third = sessions.rotate(service, second.refresh_token)
    assert len({first.refresh_token, second.refresh_token, third.refresh_token}) == 3
    actors = {tokens.authenticate(service, pair.access_token) for pair in (first, second, third)}
    assert len(actors) == 1


def test_a_refresh_token_that_comes_twice_ends_the_session_for_thief_and_owner(service: Service, user: Any) -> None:
    other = sessions.sign_in(service, user.email_address, PASSWORD)
    first = sessions.sign_in(service, user.email_address, PASSWORD)
    second = sessions.rotate(service, first.refresh_token)
    for token in (first.refresh_token, second.refresh_token):
        with pytest.raises(AccessDenied):
            sessions.rotate(service, token)
    with pytest.raises(AccessDenied):
        tokens.authenticate(service, second.access_token)
    assert tokens.authenticate(service, other.access_token)
    assert actions(service).count("end-copied-session") == 1


def test_of_many_rotations_of_one_token_at_once_exactly_one_wins(service: Service, user: Any) -> None:
    pair = sessions.sign_in(service, user.email_address, PASSWORD)

    def rotated(_: int) -> bool:
        try:
            sessions.rotate(service, pair.refresh_token)
        except AccessDenied:
            return False
        return True

    with ThreadPoolExecutor(12) as pool:
        assert sum(pool.map(rotated, range(24))) == 1
    assert actions(service).count("refresh") == 1
    assert actions(service).count("end-copied-session") == 1


def test_each_rotation_extends_the_session_but_not_beyond_thirty_days(service: Service, user: Any) -> None:
    pair = sessions.sign_in(service, user.email_address, PASSWORD)
    began = now() - timedelta(days=28)
    with service.database.writing() as connection:
        connection.execute(update(session_rows).values(created_at=began, expires_at=now() + timedelta(hours=1)))
    sessions.rotate(service, pair.refresh_token)
    with service.database.reading() as connection:
        assert connection.execute(select(session_rows.c.expires_at)).scalar_one() == began + timedelta(days=30)


def test_signing_out_ends_this_session_only(service: Service, user: Any) -> None:
    first = sessions.sign_in(service, user.email_address, PASSWORD)
    second = sessions.sign_in(service, user.email_address, PASSWORD)
    sessions.sign_out(service, tokens.authenticate(service, first.access_token))
    for token in (first.access_token, first.refresh_token):
        with pytest.raises(AccessDenied):
            tokens.authenticate(service, token)
    with pytest.raises(AccessDenied):
        sessions.rotate(service, first.refresh_token)
    assert tokens.authenticate(service, second.access_token)


def test_sessions_that_are_over_are_removed_when_their_user_signs_in_again(service: Service, user: Any) -> None:
    sessions.sign_in(service, user.email_address, PASSWORD)
    with service.database.writing() as connection:
        connection.execute(update(session_rows).values(expires_at=now() - timedelta(days=1)))
    sessions.sign_in(service, user.email_address, PASSWORD)
    with service.database.reading() as connection:
        assert connection.execute(select(func.count()).select_from(session_rows)).scalar_one() == 1


def test_a_password_that_changes_while_somebody_signs_in_with_the_old_one_wins(
    service: Service, user: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = passwords.fits

    def and_then_it_changes(password: str, stored: str | None) -> bool:
        found = real(password, stored)
        change_user(service, user, password_hash=passwords.hashed("another good password"))
        return found

    monkeypatch.setattr(passwords, "fits", and_then_it_changes)
    assert refusal(service, user.email_address, PASSWORD)[0] == "login-failed"


@pytest.mark.parametrize("gone", ["disabled_at", "deleted_at"])
def test_who_is_disabled_or_deleted_while_signing_in_gets_no_session(
    service: Service, user: Any, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    real = passwords.fits

    def and_then_somebody_acts(password: str, stored: str | None) -> bool:
        found = real(password, stored)
        change_user(service, user, **{gone: now()})
        return found

    monkeypatch.setattr(passwords, "fits", and_then_somebody_acts)
    assert refusal(service, user.email_address, PASSWORD)[0] == "login-failed"
    with service.database.reading() as connection:
        assert connection.execute(select(func.count()).select_from(session_rows)).scalar_one() == 0


def test_signing_in_and_out_is_in_the_audit_log_and_tells_no_secret(service: Service, user: Any) -> None:
    pair = sessions.sign_in(service, user.email_address, PASSWORD)
    again = sessions.rotate(service, pair.refresh_token)
    sessions.sign_out(service, tokens.authenticate(service, again.access_token))
    assert actions(service)[-3:] == ["login", "refresh", "logout"]
    with service.database.reading() as connection:
        log = repr(connection.execute(select(audit)).all())
    for secret in (PASSWORD, user.email_address, pair.access_token, pair.refresh_token, again.refresh_token):
        assert secret not in log
    assert verify_log(service.database, service.log).whole
