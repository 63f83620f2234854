"""Lock-out: after wrong passwords the next attempt has to wait, longer each time.

An attempt is counted before its password is checked, in one database statement, and removed if the password is
right. Parallel attempts therefore gain nothing over sequential ones. Unknown addresses are counted in the same way.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, case, delete, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from kohorte.errors import AccessDenied
from kohorte.service.context import Service
from kohorte.service.storage.schema import login_failures, now

FREE_ATTEMPTS = 5
FIRST_LOCK = timedelta(minutes=1)
LONGEST_LOCK = timedelta(minutes=15)
FORGOTTEN_AFTER = timedelta(days=1)


class LockedOut(AccessDenied):
    """Too many wrong passwords; `retry_after` is the number of seconds to wait."""

    def __init__(self, retry_after: int) -> None:
        super().__init__("too many wrong passwords; wait before you try again", code="locked-out")
        self.retry_after = retry_after


@dataclass(frozen=True)
class Attempt:
    """An attempt, counted as wrong until the password is found right."""

    key: str
    failures: int

    @property
    def locks(self) -> bool:
        """Whether the address is locked if this attempt is wrong."""
        return self.failures >= FREE_ATTEMPTS


def counted(service: Service, email_address: str) -> Attempt:
    """Count an attempt for a normalized address, or refuse it while the address is locked."""
    key = _key(service, email_address)
    with service.database.reading() as connection:  # most attempts of an attack end here and delay no writer
        _refuse_locked(connection, key)
    with service.database.writing() as connection:
        moment = now()
        failures = _one_more(connection, key, moment)
        if failures is None:
            _refuse_locked(connection, key)
            raise LockedOut(1)  # the lock has just ended
        if failures >= FREE_ATTEMPTS:
            until = moment + lock_after(failures)
            connection.execute(_row_of(update(login_failures), key).values(locked_until=until))
    return Attempt(key, failures)


def take_back(connection: Connection, attempt: Attempt) -> None:
    """Delete all attempts for the address, because one was right, and old attempts for other addresses.

    Rows that another transaction is changing are skipped, so that nobody waits for them here.
    """
    connection.execute(_row_of(delete(login_failures), attempt.key))
    old = select(login_failures.c.address_key).where(login_failures.c.last_at < now() - FORGOTTEN_AFTER)
    connection.execute(
        delete(login_failures).where(login_failures.c.address_key.in_(old.with_for_update(skip_locked=True)))
    )


def lock_after(failures: int) -> timedelta:
    """Return how long an address is locked after this number of wrong attempts."""
    doublings = min(failures - FREE_ATTEMPTS, 8)
    return min(FIRST_LOCK * (1 << doublings), LONGEST_LOCK)


def _one_more(connection: Connection, key: str, moment: datetime) -> int | None:
    """Count one more attempt and return their number; nothing is counted while the address is locked."""
    kept = login_failures.c
    starts_again = kept.last_at < moment - FORGOTTEN_AFTER
    make: Any = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    statement = (
        make(login_failures)
        .values(address_key=key, failures=1, last_at=moment)
        .on_conflict_do_update(
            index_elements=[kept.address_key],
            set_={"failures": case((starts_again, 1), else_=kept.failures + 1), "last_at": moment},
            where=or_(kept.locked_until.is_(None), kept.locked_until <= moment),
        )
        .returning(kept.failures)
    )
    number: int | None = connection.execute(statement).scalar_one_or_none()
    return number


def _refuse_locked(connection: Connection, key: str) -> None:
    until = connection.execute(_row_of(select(login_failures.c.locked_until), key)).scalar_one_or_none()
    seconds = 0 if until is None else math.ceil((until - now()).total_seconds())
    if seconds > 0:
        raise LockedOut(seconds)


def _row_of(statement: Any, key: str) -> Any:
    return statement.where(login_failures.c.address_key == key)


def _key(service: Service, email_address: str) -> str:
    """A keyed hash of the address: the addresses themselves are not stored."""
    return hmac.new(service.vault.derived("login failures"), email_address.encode(), hashlib.sha256).hexdigest()
