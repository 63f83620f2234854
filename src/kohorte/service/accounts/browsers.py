"""Sessions of browsers: a signed cookie that no script can read, and a token that every form has to carry.

A cookie ends when the browser has been idle for `browser_minutes`, and a session after `browser_hours` whatever
happens. Signing in always begins a new session, so that nobody can be led into a session that somebody else knows.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from datetime import timedelta

from kohorte.service.access import Actor, roles_of
from kohorte.service.accounts import sessions
from kohorte.service.accounts.tokens import Claims, Type, caller, claims_of, issued, new_id
from kohorte.service.context import Service
from kohorte.service.storage.schema import now


@dataclass(frozen=True)
class Visit:
    """A user who is signed in with a browser."""

    actor: Actor
    name: str = field(repr=False)
    password_expires: bool


def begin(service: Service, email_address: str, password: str) -> str:
    """Sign in and return the content of the cookie."""
    lasts = timedelta(hours=service.settings.browser_hours)
    row, session = sessions.admitted(service, email_address, password, lasts=lasts)
    return _cookie(service, row.id, session.id)


def visit_of(service: Service, cookie: str) -> Visit:
    """Return who sends a cookie; refuse a cookie whose time or session is over."""
    claims = claims_of(service, Type.BROWSER, cookie)
    row = caller(service, claims)
    actor = Actor(row.id, roles_of(row), claims.session_id)
    return Visit(actor, row.name, row.password_expires_at is not None)


def renewed(service: Service, actor: Actor) -> str:
    """Return a cookie of the same session that is valid for the whole time again."""
    return _cookie(service, actor.user_id, actor.session_id)


def form_token(service: Service, session_id: str) -> str:
    """Return the token of all forms of a session; another site cannot know it."""
    return hmac.new(service.vault.derived("forms"), session_id.encode(), hashlib.sha256).hexdigest()


def is_form_token(service: Service, session_id: str, token: str) -> bool:
    """Whether a form carries the token of its session."""
    return hmac.compare_digest(form_token(service, session_id).encode(), token.encode(errors="replace"))


def _cookie(service: Service, user_id: int, session_id: str) -> str:
    until = now() + timedelta(minutes=service.settings.browser_minutes)
    return issued(service, Type.BROWSER, Claims(user_id, session_id, new_id()), until=until)
