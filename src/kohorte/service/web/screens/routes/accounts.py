"""Accounts: list, create and change users; change one's own password."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter
from starlette.responses import Response

from kohorte.errors import InputError, KohorteError
from kohorte.service.accounts import users
from kohorte.service.approvals.actions import Outcome
from kohorte.service.approvals.requests import perform
from kohorte.service.permissions import Role
from kohorte.service.web.dependencies import Number, PageNumber
from kohorte.service.web.screens.visitors import Allowed, Visitor

router = APIRouter(include_in_schema=False)
PER_PAGE = 50
LIST, OWN = "/app/accounts", "/app/me"


@router.get(LIST, name="screen_accounts")
def accounts_page(visitor: Annotated[Visitor, Allowed("list_users")], page: PageNumber = 1) -> Response:
    """List the users."""
    rows, total = users.listed(visitor.service, limit=PER_PAGE, page=page)
    shown = [users.user_to_dict(row) for row in rows]
    return visitor.page("accounts.html.j2", users=shown, total=total, page=page, pages=-(-total // PER_PAGE))


@router.get(f"{LIST}/new", name="screen_new_account")
def new_account_page(visitor: Annotated[Visitor, Allowed("create_user")]) -> Response:
    """Show the form for a new user."""
    return visitor.page("new_account.html.j2", roles=list(Role), given={}, problem=None)


@router.post(f"{LIST}/new", name="screen_create_account")
def create_account(visitor: Annotated[Visitor, Allowed("create_user")]) -> Response:
    """Create a user, or ask a second person to confirm it."""
    given = {name: visitor.text(name) for name in ("email_address", "name", "institution")}
    try:
        wanted = users.Changes(given["email_address"], given["name"], given["institution"], roles=_roles(visitor))
        values = users.prepared(wanted, str(visitor.form.get("password", "")), strong=False)
        outcome = perform(visitor.service, visitor.actor, "create_user", values=values)
    except KohorteError as error:
        told: dict[str, Any] = {"given": {**given, "roles": visitor.texts("roles")}, "problem": error}
        return visitor.page("new_account.html.j2", status=400, roles=list(Role), **told)
    return _done(visitor, outcome, LIST, "user-created")


@router.get(f"{LIST}/{{user_id}}", name="screen_account")
def account_page(user_id: Number, visitor: Annotated[Visitor, Allowed("list_users")]) -> Response:
    """Show a user, with a form for those who may change it."""
    return _account(visitor, user_id)


@router.post(f"{LIST}/{{user_id}}", name="screen_change_account")
def change_account(user_id: Number, visitor: Annotated[Visitor, Allowed("create_user")]) -> Response:
    """Change a user: only what differs from the present state."""
    present = users.user_to_dict(users.shown(visitor.service, visitor.actor, user_id))
    try:
        changes = _changes(visitor, present)
        values = users.planned(visitor.service, visitor.actor, user_id, changes)
        if not values:
            return visitor.to(f"{LIST}/{user_id}", said="nothing-changed")
        outcome = perform(visitor.service, visitor.actor, "change_user", user_id, values)
    except KohorteError as error:
        return _account(visitor, user_id, problem=error)
    return _done(visitor, outcome, f"{LIST}/{user_id}", "user-changed")


@router.post(f"{LIST}/{{user_id}}/delete", name="screen_delete_account")
def delete_account(user_id: Number, visitor: Annotated[Visitor, Allowed("delete_user")]) -> Response:
    """Delete a user."""
    try:
        outcome = perform(visitor.service, visitor.actor, "delete_user", user_id)
    except InputError as error:
        return _account(visitor, user_id, problem=error)
    return _done(visitor, outcome, LIST, "user-deleted")


@router.get(OWN, name="screen_own_account")
def own_account_page(visitor: Annotated[Visitor, Allowed("show_me")]) -> Response:
    """Show one's own account."""
    return _own(visitor)


@router.post(OWN, name="screen_change_password")
def change_password(visitor: Annotated[Visitor, Allowed("change_user")]) -> Response:
    """Change one's own password."""
    password = str(visitor.form.get("password", ""))
    try:
        if password != str(visitor.form.get("repeated", "")):
            raise InputError("the two passwords differ", code="password-repeated")
        changes = users.Changes(password=password, current_password=str(visitor.form.get("current_password", "")))
        users.change(visitor.service, visitor.actor, visitor.actor.user_id, changes)
    except KohorteError as error:
        return _own(visitor, problem=error)
    return visitor.to(OWN, said="password-changed")


def _own(visitor: Visitor, problem: KohorteError | None = None) -> Response:
    row = users.shown(visitor.service, visitor.actor, visitor.actor.user_id)
    status = 200 if problem is None else 400
    return visitor.page("own_account.html.j2", status=status, user=users.user_to_dict(row), problem=problem)


def _account(visitor: Visitor, user_id: int, problem: KohorteError | None = None) -> Response:
    user = users.user_to_dict(users.shown(visitor.service, visitor.actor, user_id))
    may_change = visitor.may("create_user") and user_id != visitor.actor.user_id
    status = 200 if problem is None else 400
    told: dict[str, Any] = {"user": user, "roles": list(Role), "may_change": may_change, "problem": problem}
    return visitor.page("account.html.j2", status=status, **told)


def _changes(visitor: Visitor, present: Mapping[str, Any]) -> users.Changes:
    texts = {name: visitor.text(name) for name in ("email_address", "name", "institution")}
    changed: dict[str, Any] = {name: text for name, text in texts.items() if text != (present[name] or "")}
    roles = _roles(visitor)
    if [str(role) for role in roles] != present["roles"]:
        changed["roles"] = roles
    if (visitor.text("disabled") == "yes") != present["disabled"]:
        changed["disabled"] = not present["disabled"]
    if password := str(visitor.form.get("password", "")):
        changed["password"] = password
    return users.Changes(**changed)


def _roles(visitor: Visitor) -> list[Role]:
    chosen = visitor.texts("roles")
    return [role for role in Role if str(role) in chosen]


def _done(visitor: Visitor, outcome: Outcome, path: str, said: str) -> Response:
    if outcome.approval is not None:
        return visitor.to(f"/app/approvals/{outcome.approval['approval_id']}", said="waits")
    return visitor.to(path, said=said)
