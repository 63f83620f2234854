"""Requests for the approval of a second person: make, confirm, decline and list them.

A request is carried out once, in the transaction in which a second person confirms it. At that moment the requester
must have the permission for the action, and the second person `Permission.APPROVE`. A request without a decision
expires. If a rule of the house requires a second approver for releases, the second person is neither the one who asked,
nor the one who created the project, nor its researcher. Roles that a way back depends on are granted by two people
neither of whom could act as the other (`accounts.origins`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, func, insert, select, true, update

from kohorte.errors import AccessDenied, InputError
from kohorte.service.access import Actor, found_or_refused, permit, project_for, roles_of
from kohorte.service.accounts import origins
from kohorte.service.approvals.actions import Call, Outcome
from kohorte.service.context import Service
from kohorte.service.integrity.marks import APPROVAL, PROJECT, USER, USERS
from kohorte.service.permissions import Permission
from kohorte.service.reviews import signatures
from kohorte.service.storage.schema import approvals, now, users

OPENING = "download_csv"
SHOWN = (
    "email_address",
    "name",
    "institution",
    "roles",
    "certificate_fingerprint",
    "patient",
    "pseudonyms",
    "domain",
    "key_version",
)
NO_VALUES: Mapping[str, Any] = {}


class ApprovalState(StrEnum):
    """The state of a request; an expired request is stored as pending."""

    PENDING = "pending"
    CONFIRMED = "confirmed"
    DECLINED = "declined"
    EXPIRED = "expired"


def perform(
    service: Service, actor: Actor, operation: str, subject_id: int = 0, values: Mapping[str, Any] = NO_VALUES
) -> Outcome:
    """Carry out an action at once or, if the settings require two people, store it as a request.

    Repeated requests of the same person are stored once.
    """
    call = Call(service, actor, operation, subject_id, values)
    guarded = _is_guarded(call)
    required = guarded or service.settings.needs_two_people(operation)
    if call.action.opens and (not required or _is_open(service, operation, subject_id)):
        return Outcome()
    if required:
        return Outcome(approval=_requested(call, guarded=guarded))
    with service.database.writing() as connection:
        outcome = call.action.carry_out(call, connection)
    return _finished(outcome)


def confirm(service: Service, actor: Actor, approval_id: int) -> dict[str, Any]:
    """Carry out the request of another person; confirming again returns the same answer."""
    with service.database.writing() as connection:
        row = _held(service, connection, actor, approval_id)
        if row.state == ApprovalState.CONFIRMED and row.decider_id == actor.user_id:
            return to_dict(service, row)
        if row.requester_id == actor.user_id:
            raise AccessDenied("a second person must confirm this, not the requester", code="approval-own")
        _refuse_involved(service, connection, actor, row)
        _refuse_decided(row)
        requester = _entitled(service, connection, actor, row)
        call = Call(service, requester, row.operation, row.subject_id, _unsealed(service, row), actor.user_id)
        _refuse_dependent(call, connection)
        outcome = call.action.carry_out(call, connection)
        row = _decided(service, connection, row, ApprovalState.CONFIRMED, actor)
    _finished(outcome)
    return to_dict(service, row)


def refuse_unapproved(service: Service, actor: Actor, project_id: int) -> None:
    """Refuse the evidence for a release that a second person has not approved yet, if a rule requires the approval.

    People who supervise all projects may read it: the second person needs it to decide.
    """
    ruled = _is_ruled(service, OPENING) and not actor.may(Permission.SEE_ALL_PROJECTS)
    if ruled:  # who may not see the project must not learn whether its release is approved
        with service.database.reading() as connection:
            project_for(service, connection, actor, project_id)
    if ruled and not _is_open(service, OPENING, project_id):
        raise AccessDenied(
            "rule second_approver: a second person has to approve the release first; ask for it with "
            "GET /projects/{project_id}/csv",
            code="house-rule",
            field="second_approver",
        )


def decline(service: Service, actor: Actor, approval_id: int) -> dict[str, Any]:
    """Refuse a request, or withdraw one's own."""
    with service.database.writing() as connection:
        row = _held(service, connection, actor, approval_id)
        if row.state != ApprovalState.DECLINED or row.decider_id != actor.user_id:
            _refuse_decided(row)
            row = _decided(service, connection, row, ApprovalState.DECLINED, actor)
    return to_dict(service, row)


def shown(service: Service, actor: Actor, approval_id: int) -> dict[str, Any]:
    """Return a request that the actor may see."""
    statement = select(approvals).where(approvals.c.id == approval_id, _visible(actor))
    with service.database.reading() as connection:
        row = _checked(service, connection, connection.execute(statement).one_or_none(), approval_id)
    return to_dict(service, row)


def listed(
    service: Service, actor: Actor, *, state: ApprovalState | None, limit: int, page: int
) -> tuple[list[dict[str, Any]], int]:
    """Return a page of the requests that the actor may see, the newest first, and how many there are."""
    wanted = and_(_visible(actor), true() if state is None else _in_state(state, now()))
    statement = select(approvals).where(wanted).order_by(approvals.c.id.desc()).limit(limit).offset((page - 1) * limit)
    with service.database.reading() as connection:
        total = connection.execute(select(func.count()).select_from(approvals).where(wanted)).scalar_one()
        rows: Sequence[Row[Any]] = connection.execute(statement).all()
        for row in rows:
            service.guard.checked(connection, APPROVAL, row)
    return [to_dict(service, row) for row in rows], total


def _shown_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """What would change, as the second person sees it; of a password only that it would."""
    shown = {name: values[name] for name in SHOWN if name in values}
    if "password_hash" in values:
        shown["password"] = True
    if "disabled_at" in values:
        shown["disabled"] = values["disabled_at"] is not None
    return shown


def to_dict(service: Service, row: Row[Any]) -> dict[str, Any]:
    """Return a request as the interface shows it: the changes, but no password, not even as a hash."""
    values = _unsealed(service, row)
    return {
        "approval_id": row.id,
        "operation": row.operation,
        "subject_kind": row.subject_kind,
        "subject_id": row.subject_id or None,
        "changes": sorted(name.removesuffix("_hash").removesuffix("_at") for name in values),
        "values": _shown_values(values),
        "state": str(_state(row)),
        "requester_id": row.requester_id,
        "created_at": row.created_at.isoformat(),
        "expires_at": row.expires_at.isoformat(),
        "decider_id": row.decider_id,
        "decided_at": None if row.decided_at is None else row.decided_at.isoformat(),
    }


def _is_guarded(call: Call) -> bool:
    with call.service.database.reading() as connection:
        return call.action.guarded(call, connection)


def _refuse_dependent(call: Call, connection: Connection) -> None:
    """Refuse a second person whose account the requester could use, or the other way round, for guarded actions."""
    if call.second is None or not call.action.guarded(call, connection):
        return
    if not origins.are_independent(call.service, connection, call.actor.user_id, call.second):
        raise AccessDenied(
            "somebody else must confirm this: one person set up your account and that of the requester, or one of "
            "you the other's",
            code="approval-dependent",
        )


def _refuse_nobody(call: Call, connection: Connection) -> None:
    """Refuse a guarded action that nobody could confirm."""
    others = [row.id for row in origins.usable_with(connection, Permission.APPROVE) if row.id != call.actor.user_id]
    if not any(origins.are_independent(call.service, connection, call.actor.user_id, other) for other in others):
        raise InputError(
            "two people grant this role or change this account, and there is nobody else who could confirm it: let the "
            "operator make a second steward on the machine of the service (kohorte user create --role steward)",
            code="approval-nobody-conflict",
        )


def _requested(call: Call, *, guarded: bool) -> dict[str, Any]:
    """Store a call as a request; it is first tried and rolled back, so that an invalid request is refused now."""
    with call.service.database.writing() as connection:
        if guarded:
            _refuse_nobody(call, connection)
        with call.service.database.trial(connection):
            call.action.carry_out(call, connection)
        row = _same(call, connection)
        if row is None:
            row = _stored(call, connection)
            _log(call.service, connection, row, "request-approval", call.actor)
    return to_dict(call.service, row)


def _same(call: Call, connection: Connection) -> Row[Any] | None:
    """The same pending request of the actor, if any."""
    same = and_(approvals.c.operation == call.operation, approvals.c.subject_id == call.subject_id)
    own = and_(approvals.c.requester_id == call.actor.user_id, _in_state(ApprovalState.PENDING, now()))
    rows = connection.execute(select(approvals).where(same, own).order_by(approvals.c.id)).all()
    for row in rows:
        call.service.guard.checked(connection, APPROVAL, row)
    return next((row for row in rows if _unsealed(call.service, row) == call.values), None)


def _stored(call: Call, connection: Connection) -> Row[Any]:
    moment = now()
    entry = {
        "operation": call.operation,
        "subject_kind": call.action.subject_kind,
        "subject_id": call.subject_id,
        "state": str(ApprovalState.PENDING),
        "requester_id": call.actor.user_id,
        "created_at": moment,
        "expires_at": moment + timedelta(hours=call.service.settings.approval_hours),
    }
    sealed = call.service.vault.seal(json.dumps(call.values, default=datetime.isoformat), label=values_label(entry))
    inserted = insert(approvals).values(**entry, sealed_values=sealed).returning(approvals.c.id)
    number = connection.execute(inserted).scalar_one()
    call.service.guard.mark(connection, APPROVAL, number)
    return connection.execute(APPROVAL.one, APPROVAL.keyed((number,))).one()


def _held(service: Service, connection: Connection, actor: Actor, approval_id: int) -> Row[Any]:
    """Lock a request until the transaction ends, and return it."""
    statement = select(approvals).where(approvals.c.id == approval_id, _visible(actor)).with_for_update()
    return _checked(service, connection, connection.execute(statement).one_or_none(), approval_id)


def _checked(service: Service, connection: Connection, row: Row[Any] | None, approval_id: int) -> Row[Any]:
    """Return a request that was found; refuse one that was changed or removed outside the service."""
    if row is None and connection.execute(APPROVAL.one, APPROVAL.keyed((approval_id,))).one_or_none() is None:
        service.guard.refuse_known(connection, APPROVAL, approval_id)
    return service.guard.checked(connection, APPROVAL, found_or_refused(row, "approval"))


def _refuse_decided(row: Row[Any]) -> None:
    state = _state(row)
    if state is not ApprovalState.PENDING:
        words = "has expired" if state is ApprovalState.EXPIRED else f"was {state} already"
        raise InputError(f"the request {words}; it is not carried out", code="approval-conflict")


def _entitled(service: Service, connection: Connection, actor: Actor, row: Row[Any]) -> Actor:
    """Return the requester, if both people still have their permissions; both are locked until the transaction ends.

    Roles are read again after locking: a statement that waited for a row still sees the older roles.
    """
    both = and_(users.c.id.in_((actor.user_id, row.requester_id)), users.c.disabled_at.is_(None))
    connection.execute(select(users.c.id).where(both).order_by(users.c.id).with_for_update(read=True)).all()
    people = [service.guard.checked(connection, USER, user) for user in connection.execute(USERS.where(both)).all()]
    found = {user.id: Actor(user.id, roles_of(user)) for user in people}
    permit("confirm_approval", found.get(actor.user_id, Actor(actor.user_id, frozenset())))
    try:
        permit(row.operation, found.get(row.requester_id))
    except AccessDenied:
        raise InputError("the requester no longer has the permission for this", code="approval-conflict") from None
    return found[row.requester_id]


def _decided(service: Service, connection: Connection, row: Row[Any], state: ApprovalState, actor: Actor) -> Row[Any]:
    decision = {"state": str(state), "decider_id": actor.user_id, "decided_at": now()}
    with service.guard.changing(connection, APPROVAL, row.id):
        connection.execute(update(approvals).where(approvals.c.id == row.id).values(**decision))
    decided = connection.execute(APPROVAL.one, APPROVAL.keyed((row.id,))).one()
    _log(
        service, connection, row, "confirm-approval" if state is ApprovalState.CONFIRMED else "decline-approval", actor
    )
    return decided


def _log(service: Service, connection: Connection, row: Row[Any], action: str, actor: Actor) -> None:
    subject = f"{row.subject_kind} {row.subject_id}" if row.subject_id else row.subject_kind
    about = {"operation": row.operation, "subject": subject, "requester": row.requester_id}
    service.log.append(connection, action, f"approval {row.id}", actor=actor.user_id, **about)


def _is_open(service: Service, operation: str, subject_id: int) -> bool:
    confirmed = and_(
        approvals.c.operation == operation,
        approvals.c.subject_id == subject_id,
        approvals.c.state == ApprovalState.CONFIRMED,
    )
    with service.database.reading() as connection:
        found: Sequence[Row[Any]] = connection.execute(select(approvals).where(confirmed)).all()
        rows = [service.guard.checked(connection, APPROVAL, row) for row in found]
        if operation == OPENING and signatures.open_release(service, connection, subject_id):
            return True
        involved = _involved(service, connection, operation, subject_id) if rows else frozenset()
    return any(row.decider_id not in involved for row in rows)


def _refuse_involved(service: Service, connection: Connection, actor: Actor, row: Row[Any]) -> None:
    """Refuse the second person if a rule requires somebody who has no part in the project."""
    if actor.user_id in _involved(service, connection, row.operation, row.subject_id):
        raise AccessDenied(
            "rule second_approver: a release is approved by somebody who neither created the project nor is its "
            "researcher",
            code="house-rule",
            field="second_approver",
        )


def _is_ruled(service: Service, operation: str) -> bool:
    return operation == OPENING and service.settings.rules.releases_need_approval


def _involved(service: Service, connection: Connection, operation: str, subject_id: int) -> frozenset[int]:
    """The people who must not be the second person by a rule: who created the project, and its researcher."""
    if not _is_ruled(service, operation):
        return frozenset()
    project = connection.execute(PROJECT.one, PROJECT.keyed((subject_id,))).one_or_none()
    if project is None:
        service.guard.refuse_known(connection, PROJECT, subject_id)
        return frozenset()
    service.guard.checked(connection, PROJECT, project)
    return frozenset((project.creator_id, project.researcher_id))


def _finished(outcome: Outcome) -> Outcome:
    if outcome.afterwards is not None:
        outcome.afterwards()
    return outcome


def _visible(actor: Actor) -> ColumnElement[bool]:
    return true() if actor.may(Permission.APPROVE) else approvals.c.requester_id == actor.user_id


def _in_state(state: ApprovalState, moment: datetime) -> ColumnElement[bool]:
    kept = ApprovalState.PENDING if state is ApprovalState.EXPIRED else state
    late = approvals.c.expires_at <= moment
    fits = {ApprovalState.PENDING: ~late, ApprovalState.EXPIRED: late}.get(state, true())
    return and_(approvals.c.state == kept, fits)


def _state(row: Row[Any]) -> ApprovalState:
    expired = row.state == ApprovalState.PENDING and row.expires_at <= now()
    return ApprovalState.EXPIRED if expired else ApprovalState(row.state)


def _unsealed(service: Service, row: Row[Any]) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(service.vault.unseal(row.sealed_values, label=values_label(row._asdict())))
    moments = {name: datetime.fromisoformat(value) for name, value in values.items() if value and name.endswith("_at")}
    return values | moments


def values_label(entry: Mapping[str, Any]) -> str:
    """Return the label under which the values of a request are sealed."""
    subject, requester = f"{entry['subject_kind']} {entry['subject_id']}", entry["requester_id"]
    return f"approval of {entry['operation']}, {subject}, by user {requester} at {entry['created_at'].isoformat()}"
