"""Drafts as the interface shows them: to reviewers without values, to stewards with the whole plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.integrity.marks import PROJECT
from kohorte.service.jobs.evidence import hash_of
from kohorte.service.permissions import Permission
from kohorte.service.projects.summary import summary
from kohorte.service.reviews import deciding, rows, signatures
from kohorte.service.reviews.differences import differences
from kohorte.service.reviews.rows import DraftState, StepKind
from kohorte.service.storage.schema import datasets, users

OPEN = (DraftState.REVIEW, DraftState.APPROVED)


def drafts_to_dicts(service: Service, found: Sequence[Row[Any]]) -> list[dict[str, Any]]:
    """Return drafts as a list shows them."""
    with service.database.reading() as connection:
        people, tables = _people(connection, found), _tables(connection, found)
    return [_brief(row, people, tables) for row in found]


def show(service: Service, actor: Actor, draft_id: int) -> dict[str, Any]:
    """Return one draft with everything that a reviewer decides by, and what the actor can do with it now."""
    with service.database.reading() as connection:
        draft = rows.draft_for(service, connection, actor, draft_id)
        steps = rows.steps_of(service, connection, draft)
        people, tables = _people(connection, [draft]), _tables(connection, [draft])
        project = _project(service, connection, draft)
        unmade = deciding.is_unmade(service, connection, draft)
    config = rows.config_of(service, draft)
    before = rows.reviewed_config_of(service, draft)
    found = signatures.counting(draft, steps)
    evidence = None if project is None or project.certificate is None else hash_of(project.certificate)
    return {
        **_brief(draft, people, tables),
        **summary(config),
        "plan_sha256": draft.shown_sha256,
        "table_sha256": draft.table_sha256,
        "reviewed_revision": draft.reviewed_revision,
        "difference": None
        if before is None
        else [one.to_dict() for one in differences(before["plan"], config["plan"])],
        "figures": rows.figures_of(service, draft),
        "steps": [_step(service, step, found, evidence) for step in steps],
        "signatures_needed": signatures.needed(service),
        "signatures": len(found),
        "project_state": None if project is None else project.state,
        "can": _possible(actor, draft, found, needed=signatures.needed(service), unmade=unmade),
        "config": config if actor.may(Permission.SEE_VALUES) else None,
    }


def _brief(row: Row[Any], people: Mapping[int, str], tables: Mapping[int, str]) -> dict[str, Any]:
    return {
        "draft_id": row.id,
        "name": row.name,
        "state": row.state,
        "revision": row.revision,
        "dataset_id": row.dataset_id,
        "dataset_name": tables[row.dataset_id],
        "researcher": {"user_id": row.researcher_id, "name": people[row.researcher_id]},
        "author": {"user_id": row.author_id, "name": people[row.author_id]},
        "editor": {"user_id": row.editor_id, "name": people[row.editor_id]},
        "created_at": row.created_at.isoformat(),
        "changed_at": row.changed_at.isoformat(),
        "submitted_at": None if row.submitted_at is None else row.submitted_at.isoformat(),
        "project_id": row.project_id,
    }


def _step(service: Service, step: Row[Any], found: Sequence[Row[Any]], evidence: str | None) -> dict[str, Any]:
    counts = step.id in {one.id for one in found}
    return {
        "kind": step.kind,
        "revision": step.revision,
        "user_id": step.user_id,
        "name": step.user_name,
        "at": step.at.isoformat(),
        "comment": rows.comment_of(service, step),
        "plan_sha256": step.shown_sha256,
        "table_sha256": step.table_sha256,
        "certificate_sha256": evidence if counts else None,
        "counts": counts if step.kind == StepKind.SIGNED else None,
    }


def _possible(actor: Actor, draft: Row[Any], found: Sequence[Row[Any]], *, needed: int, unmade: bool) -> list[str]:
    """What the actor can do with a draft now; every operation checks it again."""
    steward, reviewer = actor.may(Permission.MANAGE_PROJECTS), actor.may(Permission.REVIEW_DRAFTS)
    signed = {step.user_id for step in found}
    others = len(signed - {actor.user_id})
    signs = actor.user_id not in signatures.involved(draft) | signed and len(found) < needed
    can = {
        "change": steward and draft.state in (DraftState.DRAFT, *OPEN),
        "submit": steward and draft.state == DraftState.DRAFT,
        "sign": reviewer and draft.state in OPEN and signs,
        "return": reviewer and draft.state in OPEN,
        "release": steward and (draft.state == DraftState.APPROVED or unmade) and others >= needed,
        "withdraw": steward and draft.state == DraftState.RELEASED and not unmade,
    }
    return [name for name, possible in can.items() if possible]


def _people(connection: Connection, found: Sequence[Row[Any]]) -> dict[int, str]:
    wanted = {number for row in found for number in (row.researcher_id, row.author_id, row.editor_id)}
    return {
        row.id: row.name for row in connection.execute(select(users.c.id, users.c.name).where(users.c.id.in_(wanted)))
    }


def _tables(connection: Connection, found: Sequence[Row[Any]]) -> dict[int, str]:
    wanted = select(datasets.c.id, datasets.c.name).where(datasets.c.id.in_({row.dataset_id for row in found}))
    return {row.id: row.name for row in connection.execute(wanted)}


def _project(service: Service, connection: Connection, draft: Row[Any]) -> Row[Any] | None:
    """The project of a draft that was released, unless it was deleted."""
    if draft.project_id is None:
        return None
    row = connection.execute(PROJECT.one, PROJECT.keyed((draft.project_id,))).one_or_none()
    if row is None:
        service.guard.refuse_known(connection, PROJECT, draft.project_id)
        return None
    return None if row.deleted_at is not None else service.guard.checked(connection, PROJECT, row)
