"""Lock-out: exact under parallel attempts, alike for known and unknown addresses."""

from concurrent.futures import ThreadPoolExecutor, wait
from datetime import timedelta

import pytest
from sqlalchemy import func, select, update

from kohorte.errors import AccessDenied
from kohorte.service.accounts import lockout, sessions
from kohorte.service.context import Service
from kohorte.service.storage.schema import audit, login_failures, now
from kohorte.trust import passwords
from support.service import PASSWORD, new_user


def attempt(service: Service, email_address: str, password: str = "wrong") -> str:
    """Sign in and return how it ended."""
    try:
        sessions.sign_in(service, email_address, password)
    except AccessDenied as error:
        return error.code
    return "signed in"


def end_lock(service: Service) -> None:
    with service.database.writing() as connection:
        connection.execute(update(login_failures).values(locked_until=now() - timedelta(seconds=1)))


@pytest.mark.parametrize("known", [True, False])
def test_after_five_wrong_passwords_an_address_is_locked_known_or_not(service: Service, known: bool) -> None:
    address = new_user(service, privileged=False).email_address if known else "nobody@example.org"
    assert [attempt(service, address) for _ in range(7)] == ["login-failed"] * 5 + ["locked-out"] * 2


def test_a_locked_address_refuses_the_right_password_and_says_how_long(service: Service) -> None:
    address = new_user(service, privileged=False).email_address
    for _ in range(5):
        attempt(service, address)
    with pytest.raises(lockout.LockedOut) as raised:
        sessions.sign_in(service, address, PASSWORD)
    assert 50 < raised.value.retry_after <= 60


def test_other_ways_to_write_an_address_share_its_lock(service: Service) -> None:
    address = new_user(service, privileged=False).email_address
    for written in (address, address.upper(), f" {address}", f"{address}\n", address.title()):
        assert attempt(service, written) == "login-failed"
    assert attempt(service, address) == "locked-out"


def test_the_lock_doubles_up_to_a_quarter_of_an_hour() -> None:
    minutes = [lockout.lock_after(failures).total_seconds() / 60 for failures in range(5, 12)]
    assert minutes == [1, 2, 4, 8, 15, 15, 15]
    assert lockout.lock_after(10**9) == timedelta(minutes=15)


def test_a_wrong_password_after_the_lock_locks_for_longer(service: Service) -> None:
    for _ in range(5):
        attempt(service, "nobody@example.org")
    end_lock(service)
    assert attempt(service, "nobody@example.org") == "login-failed"
    with pytest.raises(lockout.LockedOut) as raised:
        sessions.sign_in(service, "nobody@example.org", "wrong")
    assert 110 < raised.value.retry_after <= 120


def test_the_right_password_clears_the_count(service: Service) -> None:
    address = new_user(service, privileged=False).email_address
    for _ in range(2):
        assert [attempt(service, address) for _ in range(4)] == ["login-failed"] * 4
        assert attempt(service, address, PASSWORD) == "signed in"


def test_of_many_wrong_attempts_at_once_five_are_looked_at(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    address = new_user(service, privileged=False).email_address
    looked_at = []
    monkeypatch.setattr(passwords, "fits", lambda *arguments: looked_at.append(1) or False)
    with ThreadPoolExecutor(40) as pool:
        ended = list(pool.map(lambda _: attempt(service, address), range(200)))
    assert len(looked_at) == 5
    assert ended.count("login-failed") == 5
    assert ended.count("locked-out") == 195


def test_the_count_is_exact_without_the_turns_of_one_process(service: Service) -> None:
    """Several servers share a database, and their attempts do not wait for each other."""

    def counted(_: int) -> bool:
        try:
            lockout.counted(service, "nobody@example.org")
        except lockout.LockedOut:
            return False
        return True

    with ThreadPoolExecutor(20) as pool:
        assert sum(pool.map(counted, range(100))) == 5


def test_many_right_logins_at_once_are_not_taken_for_an_attack(service: Service) -> None:
    address = new_user(service, privileged=False).email_address
    with ThreadPoolExecutor(10) as pool:
        ended = list(pool.map(lambda _: attempt(service, address, PASSWORD), range(10)))
    assert ended == ["signed in"] * 10


def test_a_lock_is_in_the_audit_log_without_the_address(service: Service) -> None:
    user = new_user(service, privileged=False)
    for address in (user.email_address, "nobody@example.org"):
        for _ in range(6):
            attempt(service, address)
    with service.database.reading() as connection:
        entries = connection.execute(select(audit).where(audit.c.action == "lock-out").order_by(audit.c.number)).all()
    assert [entry.object for entry in entries] == [f"user {user.id}", "unknown address"]
    assert [entry.details for entry in entries] == [{"failures": 5}] * 2


def test_the_table_of_attempts_holds_no_address(service: Service) -> None:
    attempt(service, "nobody@example.org")
    with service.database.reading() as connection:
        row = connection.execute(select(login_failures)).one()
    assert "nobody" not in repr(row)
    assert len(row.address_key) == 64


def test_what_is_a_day_old_is_forgotten(service: Service) -> None:
    address = new_user(service, privileged=False).email_address
    for _ in range(4):
        attempt(service, "nobody@example.org")
    with service.database.writing() as connection:
        connection.execute(update(login_failures).values(last_at=now() - timedelta(days=2)))
    assert [attempt(service, "nobody@example.org") for _ in range(4)] == ["login-failed"] * 4
    with service.database.writing() as connection:
        connection.execute(update(login_failures).values(last_at=now() - timedelta(days=2)))
    attempt(service, address, PASSWORD)
    with service.database.reading() as connection:
        assert connection.execute(select(func.count()).select_from(login_failures)).scalar_one() == 0


def test_signing_in_does_not_wait_for_old_rows_that_another_process_holds(service: Service) -> None:
    """Two that wait for each other's rows would end in a deadlock; in SQLite writers take turns."""
    if service.database.is_sqlite:
        pytest.skip("no rows are locked in SQLite")
    address = new_user(service, privileged=False).email_address
    for other in ("nobody@example.org", "no one@example.org"):
        attempt(service, other)
    with service.database.writing() as connection:
        connection.execute(update(login_failures).values(last_at=now() - timedelta(days=2)))
    with service.database.engine.connect() as elsewhere, elsewhere.begin(), ThreadPoolExecutor(1) as pool:
        held = elsewhere.execute(select(login_failures.c.address_key).limit(1).with_for_update()).scalar_one()
        signing_in = pool.submit(attempt, service, address, PASSWORD)
        done, _ = wait([signing_in], timeout=60)
        elsewhere.rollback()
    assert done
    assert signing_in.result() == "signed in"
    with service.database.reading() as connection:
        assert connection.execute(select(login_failures.c.address_key)).scalars().all() == [held]
