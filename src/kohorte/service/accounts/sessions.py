"""Sessions: sign in, stay signed in, sign out.

A session lasts as long as its latest refresh token, by default seven days, and at most thirty days in all. A refresh
token can be used once. Reuse means that it was copied, and ends the session.
"""

from __future__ import annotations

import threading
import zlib
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update

from kohorte.errors import AccessDenied
from kohorte.service.access import Actor
from kohorte.service.accounts import lockout
from kohorte.service.accounts.addresses import folded
from kohorte.service.accounts.tokens import Claims, Type, claims_of, is_live, issued, new_id, refused
from kohorte.service.context import Service
from kohorte.service.integrity.marks import USER, USERS
from kohorte.service.storage.schema import now, sessions, users
from kohorte.trust import passwords

LONGEST = timedelta(days=30)
USABLE = (users.c.disabled_at.is_(None), users.c.deleted_at.is_(None))
_locks = tuple(threading.Lock() for _ in range(256))


@dataclass(frozen=True)
class Tokens:
    """The tokens of a new session."""

    access_token: str = field(repr=False)
    refresh_token: str = field(repr=False)
    expires_in: int
    password_expires_at: datetime | None = None


@dataclass(frozen=True)
class BegunSession:
    """A session in the database."""

    id: str
    refresh_id: str = field(repr=False)
    expires_at: datetime


def sign_in(service: Service, email_address: str, password: str) -> Tokens:
    """Begin a session; the error message does not reveal whether the user exists."""
    row, session = admitted(service, email_address, password, lasts=timedelta(days=service.settings.refresh_days))
    return _tokens(service, row, session)


def admitted(service: Service, email_address: str, password: str, *, lasts: timedelta) -> tuple[Row[Any], BegunSession]:
    """Check a password and begin a session that lasts for a time; return the user and the session."""
    address = folded(email_address)
    with _lock_for(address):
        row, attempt = _checked(service, address, password)
        if row is None:
            raise _wrong()
        if row.password_expires_at is not None and row.password_expires_at <= now():
            _settle(service, attempt)
            raise AccessDenied("the password has expired; ask a data steward for a new one", code="password-expired")
        better = passwords.hashed(password) if passwords.is_outdated(row.password_hash) else None
        with service.database.writing() as connection:
            lockout.take_back(connection, attempt)
            _keep_better_hash(service, connection, row, better)
            session = _begin(connection, row.id, lasts)
            service.log.append(connection, "login", f"user {row.id}", actor=row.id)
    return row, session


def rotate(service: Service, refresh_token: str) -> Tokens:
    """Exchange a refresh token for new tokens; a token that was exchanged before ends its session."""
    claims = claims_of(service, Type.REFRESH, refresh_token)
    with service.database.writing() as connection:
        row = _live_session(connection, claims)
        if row is not None:
            service.guard.checked(connection, USER, row)
        if row is not None and row.refresh_id == claims.token_id:
            session = BegunSession(claims.session_id, new_id(), _expiry(service, row.session_began_at))
            connection.execute(update(sessions).where(sessions.c.id == session.id).values(**asdict(session)))
            service.log.append(connection, "refresh", f"user {row.id}", actor=row.id)
            return _tokens(service, row, session)
        if row is not None:
            revoke(connection, session_id=claims.session_id)
            service.log.append(connection, "end-copied-session", f"user {row.id}", actor=None)
    raise refused()


def sign_out(service: Service, actor: Actor) -> None:
    """End the session of the caller."""
    with service.database.writing() as connection:
        revoke(connection, session_id=actor.session_id)
        service.log.append(connection, "logout", f"user {actor.user_id}", actor=actor.user_id)


def revoke(connection: Connection, *, session_id: str) -> None:
    """End a session: its tokens are no longer valid."""
    connection.execute(update(sessions).where(sessions.c.id == session_id).values(revoked_at=now()))


def revoke_all(connection: Connection, user_id: int, *, but: str | None = None) -> None:
    """End all sessions of a user, except the session `but`."""
    statement = update(sessions).where(sessions.c.user_id == user_id, sessions.c.revoked_at.is_(None))
    if but is not None:
        statement = statement.where(sessions.c.id != but)
    connection.execute(statement.values(revoked_at=now()))


def knows_password(service: Service, email_address: str, password: str) -> bool:
    """Whether a signed-in user also knows the password; wrong attempts count towards the lock-out."""
    with _lock_for(email_address):
        row, attempt = _checked(service, email_address, password)
        if row is not None:
            _settle(service, attempt)
    return row is not None


def _checked(service: Service, email_address: str, password: str) -> tuple[Row[Any] | None, lockout.Attempt]:
    """Return the user with this address and password, if any; known and unknown addresses are treated alike."""
    passwords.warm_up()
    attempt = lockout.counted(service, email_address)
    with service.database.reading() as connection:
        row = connection.execute(USERS.where(users.c.email_address == email_address, *USABLE)).one_or_none()
        problem = None if row is None else service.guard.problem(connection, USER, row)
    if passwords.fits(password, None if row is None else row.password_hash):
        if row is not None and problem is not None:  # only now: a stranger must not learn that there is such a user
            raise service.guard.refused(USER, row, problem)
        return row, attempt
    if attempt.locks:
        about = "unknown address" if row is None else f"user {row.id}"
        with service.database.writing() as connection:
            service.log.append(connection, "lock-out", about, actor=None, failures=attempt.failures)
    return None, attempt


def _settle(service: Service, attempt: lockout.Attempt) -> None:
    with service.database.writing() as connection:
        lockout.take_back(connection, attempt)


def _keep_better_hash(service: Service, connection: Connection, row: Row[Any], better: str | None) -> None:
    """Lock the user and store a better hash, if any; refuse if user or password changed since they were checked."""
    same = (users.c.id == row.id, users.c.password_hash == row.password_hash, *USABLE)
    if connection.execute(select(users.c.id).where(*same).with_for_update(key_share=True)).one_or_none() is None:
        raise _wrong()
    if better is not None:
        with service.guard.changing(connection, USER, row.id):
            connection.execute(update(users).where(users.c.id == row.id).values(password_hash=better))


def _begin(connection: Connection, user_id: int, lasts: timedelta) -> BegunSession:
    moment = now()
    session = BegunSession(new_id(), new_id(), moment + min(lasts, LONGEST))
    connection.execute(delete(sessions).where(sessions.c.user_id == user_id, sessions.c.expires_at < moment))
    connection.execute(insert(sessions).values(**asdict(session), user_id=user_id, created_at=moment))
    return session


def _live_session(connection: Connection, claims: Claims) -> Row[*tuple[Any, ...]] | None:
    """Return the user and session of a token and lock the session, if it can still be used."""
    return connection.execute(
        USERS.add_columns(sessions.c.refresh_id, sessions.c.created_at.label("session_began_at"))
        .join(sessions, sessions.c.user_id == users.c.id)
        .where(sessions.c.id == claims.session_id, users.c.id == claims.user_id, is_live(now()))
        .with_for_update(of=sessions)
    ).one_or_none()


def _expiry(service: Service, began_at: datetime) -> datetime:
    return min(now() + timedelta(days=service.settings.refresh_days), began_at + LONGEST)


def _tokens(service: Service, row: Row[*tuple[Any, ...]], session: BegunSession) -> Tokens:
    moment = now()
    until = min(moment + timedelta(minutes=service.settings.access_minutes), session.expires_at)
    return Tokens(
        issued(service, Type.ACCESS, Claims(row.id, session.id, new_id()), until=until),
        issued(service, Type.REFRESH, Claims(row.id, session.id, session.refresh_id), until=session.expires_at),
        int((until - moment).total_seconds()),
        row.password_expires_at,
    )


def _lock_for(email_address: str) -> threading.Lock:
    """Serialize attempts for one address: simultaneous right ones must not count as a series of wrong ones."""
    return _locks[zlib.crc32(email_address.encode(errors="replace")) % len(_locks)]


def _wrong() -> AccessDenied:
    return AccessDenied("the e-mail address or the password is wrong", code="login-failed")
