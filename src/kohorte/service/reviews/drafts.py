"""Save drafts of releases, and list them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, and_, func, insert, select, true

from kohorte.errors import InputError
from kohorte.plans import Plan
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.datasets import hierarchies
from kohorte.service.integrity.marks import DRAFT
from kohorte.service.jobs.evidence import without_values
from kohorte.service.projects import store
from kohorte.service.projects.configuration import Dataset, read_config
from kohorte.service.reviews import rows
from kohorte.service.reviews.rows import DraftState, Step, StepKind
from kohorte.service.storage.schema import drafts, now


@dataclass(frozen=True)
class Content:
    """What a steward saves: a name, who gets the release, the config as in the interface, and a comment."""

    name: str
    researcher_id: int
    config: Mapping[str, Any] = field(repr=False)
    comment: str = ""


def create(service: Service, actor: Actor, dataset_id: int, content: Content) -> int:
    """Save a new draft, and return its number."""
    config, plan = _read(service, dataset_id, content)
    moment = now()
    with service.database.writing() as connection:
        store.ready_dataset(service, connection, dataset_id, stays=True)
        entry = {
            "dataset_id": dataset_id,
            "author_id": actor.user_id,
            "created_at": moment,
            "revision": 1,
            "steps": 0,
            "sealed_plan": b"",
            "sealed_reviewed": b"",
            **_saved(actor, content, plan, []),
        }
        draft_id = int(connection.execute(insert(drafts).values(**entry).returning(drafts.c.id)).scalar_one())
        service.guard.mark(connection, DRAFT, draft_id)
        sealed = service.vault.seal(json.dumps(config), label=rows.plan_label(draft_id, 1))
        step = Step(StepKind.SAVED, actor, "create_draft", content.comment)
        rows.add_step(service, connection, draft_id, step, sealed_plan=sealed)
    return draft_id


def change(service: Service, actor: Actor, draft_id: int, revision: int, content: Content) -> None:
    """Save a new version; signatures of the version before no longer count.

    `revision` is the version that the steward has seen: if somebody else has saved a newer one, nothing is changed.
    """
    with service.database.reading() as connection:
        dataset_id = rows.draft_for(service, connection, actor, draft_id).dataset_id
    config, plan = _read(service, dataset_id, content)
    with service.database.writing() as connection:
        draft = rows.draft_for(service, connection, actor, draft_id, lock=True)
        rows.refuse_state(draft, DraftState.DRAFT, DraftState.REVIEW, DraftState.APPROVED)
        rows.refuse_other_revision(connection, draft, revision)
        values = _saved(actor, content, plan, draft.editors)
        values["sealed_plan"] = service.vault.seal(
            json.dumps(config), label=rows.plan_label(draft_id, draft.revision + 1)
        )
        step = Step(StepKind.SAVED, actor, "change_draft", content.comment)
        kept = _kept(service, connection, draft)
        rows.add_step(service, connection, draft_id, step, **values, **kept, revision=draft.revision + 1)


def page(
    service: Service, actor: Actor, *, state: DraftState | None, limit: int, number: int
) -> tuple[list[Row[Any]], int]:
    """Return a page of the drafts that the actor may see, the newest first, and how many there are."""
    wanted = and_(rows.visible(actor), true() if state is None else drafts.c.state == str(state))
    with service.database.reading() as connection:
        total = connection.execute(select(func.count()).select_from(drafts).where(wanted)).scalar_one()
        statement = select(*rows.LISTED).where(wanted).order_by(drafts.c.id.desc())
        found = connection.execute(statement.limit(limit).offset((number - 1) * limit)).all()
        return [service.guard.checked(connection, DRAFT, row) for row in found], int(total)


def shown_hash(plan: Plan) -> str:
    """Return the hash of a plan without values in hierarchies, as certificates show it.

    A hash of the whole plan would let people test guesses about values that they may not see.
    """
    facts = json.loads(json.dumps(plan.to_dict(), ensure_ascii=False))
    for attribute in facts["attributes"].values():
        if "hierarchy" in attribute:
            attribute["hierarchy"] = without_values(attribute["hierarchy"])
    return hashlib.sha256(json.dumps(facts, ensure_ascii=False).encode()).hexdigest()


def _read(service: Service, dataset_id: int, content: Content) -> tuple[dict[str, Any], Plan]:
    """The config as it is stored, with the whole plan, so that a stored hierarchy cannot change it later."""
    with service.database.reading() as connection:
        dataset = store.ready_dataset(service, connection, dataset_id)
        store.refuse_inactive(service, connection, content.researcher_id)
        stored = hierarchies.stored(service, connection, dataset_id)
    plan = read_config(content.config, Dataset(store.names_of(dataset), stored))
    if not isinstance(plan, Plan) or plan.pseudonyms or "consent" in content.config:
        raise InputError(
            "a draft is the plan of a release, without pseudonyms, consent or queries; create such a project directly",
            code="draft-plan",
        )
    because = {key: content.config[key] for key in ("person_because",) if key in content.config}
    return {"plan": plan.to_dict(), **because}, plan


def _saved(actor: Actor, content: Content, plan: Plan, editors: list[int]) -> dict[str, Any]:
    return {
        "name": content.name,
        "researcher_id": content.researcher_id,
        "editor_id": actor.user_id,
        "editors": sorted({*editors, actor.user_id}),
        "changed_at": now(),
        "state": str(DraftState.DRAFT),
        "plan_sha256": plan.fingerprint(),
        "shown_sha256": shown_hash(plan),
        "table_sha256": None,
        "sealed_figures": b"",
    }


def _kept(service: Service, connection: Connection, draft: Row[Any]) -> dict[str, Any]:
    """The present version becomes the reviewed one if somebody has signed or returned it."""
    decided = (StepKind.SIGNED, StepKind.RETURNED)
    steps = rows.steps_of(service, connection, draft)
    if not any(step.revision == draft.revision and step.kind in decided for step in steps):
        return {}
    return {"reviewed_revision": draft.revision, "sealed_reviewed": draft.sealed_plan}
