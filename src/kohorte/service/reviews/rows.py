"""The rows of drafts and of their steps: find, lock, check and unseal them.

Plan, figures and comments are sealed under labels that name draft and version, so that no row can show those of
another. The hash of the plan is in the marked row: a plan that was replaced by an older one is noticed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, false, insert, or_, select, true, update

from kohorte.errors import InputError
from kohorte.plans import Plan
from kohorte.service.access import Actor, found_or_refused, permit, roles_of
from kohorte.service.context import Service
from kohorte.service.integrity.guard import Problem
from kohorte.service.integrity.marks import DRAFT, DRAFT_STEP, USER, USERS
from kohorte.service.permissions import Permission
from kohorte.service.storage.schema import draft_steps, drafts, now, users


class DraftState(StrEnum):
    """How far a draft is."""

    DRAFT = "draft"
    REVIEW = "in-review"
    APPROVED = "approved"
    RELEASED = "released"
    WITHDRAWN = "withdrawn"


class StepKind(StrEnum):
    """What somebody did with a draft."""

    SAVED = "saved"
    SUBMITTED = "submitted"
    SIGNED = "signed"
    RETURNED = "returned"
    RELEASED = "released"
    WITHDRAWN = "withdrawn"


OUT = (DraftState.RELEASED, DraftState.WITHDRAWN)
LISTED = [column for column in drafts.c if not column.name.startswith("sealed")]
"""The columns that a list needs; plans may be large."""


@dataclass(frozen=True)
class Step:
    """A step to add to a draft: who does what, and a comment."""

    kind: StepKind
    actor: Actor
    operation: str
    comment: str = ""


def visible(actor: Actor) -> ColumnElement[bool]:
    """The drafts that the actor may see: stewards all, reviewers those that were submitted once.

    A reviewer who is to get the release sees nothing of it before it is released.
    """
    if actor.may(Permission.MANAGE_PROJECTS):
        return true()
    if not actor.may(Permission.SEE_DRAFTS):
        return false()
    out = drafts.c.state.in_([str(state) for state in OUT])
    return and_(drafts.c.submitted_at.is_not(None), or_(out, drafts.c.researcher_id != actor.user_id))


def draft_for(service: Service, connection: Connection, actor: Actor, draft_id: int, *, lock: bool = False) -> Row[Any]:
    """Return a draft that the actor may see; with `lock` nobody else can change it until the transaction ends."""
    statement = select(drafts).where(drafts.c.id == draft_id, visible(actor))
    row = connection.execute(statement.with_for_update() if lock else statement).one_or_none()
    if row is None and connection.execute(select(drafts.c.id).where(drafts.c.id == draft_id)).one_or_none() is None:
        service.guard.refuse_known(connection, DRAFT, draft_id)
    return service.guard.checked(connection, DRAFT, found_or_refused(row, "draft"))


def steps_of(service: Service, connection: Connection, draft: Row[Any]) -> list[Row[Any]]:
    """Return all steps of a draft, the oldest first; refuse steps that were changed, added or removed outside."""
    statement = select(draft_steps).where(draft_steps.c.draft_id == draft.id).order_by(draft_steps.c.id)
    found = [service.guard.checked(connection, DRAFT_STEP, row) for row in connection.execute(statement).all()]
    if len(found) != draft.steps:
        raise service.guard.refused(DRAFT, draft, Problem.MISSING)
    return found


def config_of(service: Service, draft: Row[Any]) -> dict[str, Any]:
    """Return the config of the present version; refuse one that is not the plan of the row."""
    config = _config(service, draft.sealed_plan, plan_label(draft.id, draft.revision))
    if plan_in(config).fingerprint() != draft.plan_sha256:
        raise service.guard.refused(DRAFT, draft, Problem.CHANGED)
    return config


def reviewed_config_of(service: Service, draft: Row[Any]) -> dict[str, Any] | None:
    """Return the config of the last version that was reviewed before the present one, if there is one."""
    if draft.reviewed_revision is None:
        return None
    return _config(service, draft.sealed_reviewed, plan_label(draft.id, draft.reviewed_revision))


def figures_of(service: Service, draft: Row[Any]) -> dict[str, Any] | None:
    """Return the figures that were computed when the present version was submitted, if it was."""
    if not draft.sealed_figures:
        return None
    found: dict[str, Any] = json.loads(
        service.vault.unseal(draft.sealed_figures, label=figures_label(draft.id, draft.revision))
    )
    return found


def plan_in(config: Mapping[str, Any]) -> Plan:
    """Return the plan of a stored config."""
    return Plan.from_dict({"kohorte": 1, **config["plan"]})


def comment_of(service: Service, step: Row[Any]) -> str:
    """Return the comment of a step."""
    if not step.sealed_comment:
        return ""
    return service.vault.unseal(step.sealed_comment, label=comment_label(step._asdict())).decode()


def refuse_other_revision(connection: Connection, draft: Row[Any], revision: int) -> None:
    """Refuse what was meant for another version, and say who has changed the draft and when."""
    if draft.revision == revision:
        return
    editor = connection.execute(select(users.c.name).where(users.c.id == draft.editor_id)).scalar_one()
    raise InputError(
        f"{editor} has saved version {draft.revision} of this draft at {draft.changed_at:%Y-%m-%d %H:%M} UTC; this was "
        f"about version {revision}, and nothing was done",
        code="draft-changed-conflict",
        field=str(draft.revision),
    )


def refuse_state(draft: Row[Any], *allowed: DraftState) -> None:
    """Refuse a draft that is not in one of some states."""
    if draft.state not in allowed:
        raise InputError(
            f"the draft is {draft.state}; this is possible only if it is {' or '.join(allowed)}", code="draft-conflict"
        )


def add_step(service: Service, connection: Connection, draft_id: int, step: Step, **changes: Any) -> Row[Any]:
    """Change a draft that the caller has locked, add the step and its entry of the audit log; return the new row."""
    person = _acting(service, connection, step)
    with service.guard.changing(connection, DRAFT, draft_id):
        values = {**changes, "steps": drafts.c.steps + 1}
        connection.execute(update(drafts).where(drafts.c.id == draft_id).values(**values))
    draft = connection.execute(select(drafts).where(drafts.c.id == draft_id)).one()
    entry = {
        "draft_id": draft_id,
        "revision": draft.revision,
        "kind": str(step.kind),
        "user_id": step.actor.user_id,
        "user_name": person.name,
        "at": now(),
        "plan_sha256": draft.plan_sha256,
        "shown_sha256": draft.shown_sha256,
        "table_sha256": draft.table_sha256,
    }
    sealed = service.vault.seal(step.comment, label=comment_label(entry)) if step.comment else b""
    added = connection.execute(insert(draft_steps).values(**entry, sealed_comment=sealed).returning(draft_steps.c.id))
    service.guard.mark(connection, DRAFT_STEP, added.scalar_one())
    told = {"revision": draft.revision, "plan": draft.shown_sha256, "table": draft.table_sha256}
    service.log.append(connection, f"draft-{step.kind}", f"draft {draft_id}", actor=step.actor.user_id, **told)
    return draft


def _acting(service: Service, connection: Connection, step: Step) -> Row[Any]:
    """The account of the person who acts, if it still has the permission at this moment."""
    active = and_(users.c.id == step.actor.user_id, users.c.disabled_at.is_(None), users.c.deleted_at.is_(None))
    connection.execute(select(users.c.id).where(active).with_for_update(read=True)).all()
    row = found_or_refused(connection.execute(USERS.where(active)).one_or_none(), "user")
    permit(step.operation, Actor(row.id, roles_of(service.guard.checked(connection, USER, row))))
    return row


def _config(service: Service, sealed: bytes, label: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(service.vault.unseal(sealed, label=label))
    return found


def plan_label(draft_id: int, revision: int) -> str:
    """Return the label under which the plan of a version is sealed."""
    return f"plan of draft {draft_id}, version {revision}"


def figures_label(draft_id: int, revision: int) -> str:
    """Return the label under which the figures of a version are sealed."""
    return f"figures of draft {draft_id}, version {revision}"


def comment_label(entry: Mapping[str, Any]) -> str:
    """Return the label under which the comment of a step is sealed."""
    place = f"draft {entry['draft_id']}, version {entry['revision']}, {entry['kind']}"
    return f"comment on {place}, by user {entry['user_id']} at {entry['at'].isoformat()}"
