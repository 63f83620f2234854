"""What happens to a draft: submit it for review, sign or return it, make the release, and withdraw it."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, Row, select, update

from kohorte.errors import InputError
from kohorte.plans import Plan
from kohorte.service.access import Actor, project_for
from kohorte.service.context import Service
from kohorte.service.integrity.guard import Problem
from kohorte.service.integrity.marks import DRAFT, PROJECT
from kohorte.service.permissions import Permission
from kohorte.service.previews import evaluation
from kohorte.service.projects import store
from kohorte.service.projects.query_terms import QueryTerms, person_because
from kohorte.service.reviews import rows, signatures
from kohorte.service.reviews.rows import DraftState, Step, StepKind
from kohorte.service.storage.schema import drafts, now, projects

HIDDEN_FIGURES = ("plan_sha256", "seconds")


def submit(service: Service, actor: Actor, draft_id: int, revision: int, comment: str) -> None:
    """Submit the present version for review, with the figures of what it would release.

    What the release would be refused for is refused now, so that nobody reviews it in vain.
    """
    with service.database.reading() as connection:
        draft = rows.draft_for(service, connection, actor, draft_id)
        _refuse_unsubmittable(connection, draft, revision)
        config = rows.config_of(service, draft)
        dataset = store.ready_dataset(service, connection, draft.dataset_id)
        store.refuse_inactive(service, connection, draft.researcher_id)
    store.refuse_unclear_people(service, dataset, rows.plan_in(config), person_because(config))
    found = evaluation.figures(service, actor, draft.dataset_id, config)
    told = {name: value for name, value in found.items() if name not in HIDDEN_FIGURES}
    with service.database.writing() as connection:
        draft = rows.draft_for(service, connection, actor, draft_id, lock=True)
        _refuse_unsubmittable(connection, draft, revision)
        changes = {
            "state": str(DraftState.REVIEW),
            "submitted_at": now(),
            "table_sha256": dataset.table_sha256,
            "sealed_figures": service.vault.seal(json.dumps(told), label=rows.figures_label(draft_id, revision)),
        }
        step = Step(StepKind.SUBMITTED, actor, "submit_draft", comment)
        rows.add_step(service, connection, draft_id, step, **changes)


def sign(service: Service, actor: Actor, draft_id: int, revision: int, comment: str) -> None:
    """Sign the present version: its plan, on this table, for this researcher."""
    with service.database.writing() as connection:
        draft, steps = _reviewed(service, connection, actor, draft_id, revision)
        signatures.refuse_signer(service, connection, draft, steps, actor.user_id)
        _refuse_changed(service, connection, draft)
        given = signatures.counting(draft, steps)
        if any(step.user_id == actor.user_id for step in given):
            raise InputError("you have signed this version already", code="draft-conflict")
        if draft.state == DraftState.APPROVED and len(given) >= signatures.needed(service):
            raise InputError("the draft has all signatures that it needs", code="draft-conflict")
        enough = len(given) + 1 >= signatures.needed(service)
        state = DraftState.APPROVED if enough else DraftState.REVIEW
        step = Step(StepKind.SIGNED, actor, "sign_draft", comment)
        rows.add_step(service, connection, draft_id, step, state=str(state))


def give_back(service: Service, actor: Actor, draft_id: int, revision: int, comment: str) -> None:
    """Return the present version to the stewards, with a comment; its signatures no longer count."""
    if not comment.strip():
        raise InputError("comment: say why the draft is returned", code="draft-comment", field="comment")
    with service.database.writing() as connection:
        _reviewed(service, connection, actor, draft_id, revision)
        step = Step(StepKind.RETURNED, actor, "return_draft", comment)
        rows.add_step(service, connection, draft_id, step, state=str(DraftState.DRAFT))


def release(service: Service, actor: Actor, draft_id: int, revision: int) -> store.Created:
    """Create the project with exactly the signed plan, on exactly the signed table; a job makes its release."""
    with service.database.reading() as connection:
        draft = rows.draft_for(service, connection, actor, draft_id)
        _refuse_unreleasable(service, connection, actor, draft, revision)
        config = rows.config_of(service, draft)

    def within(connection: Connection, dataset: Row[Any], terms: Plan | QueryTerms, project_id: int) -> None:
        held = rows.draft_for(service, connection, actor, draft_id, lock=True)
        _refuse_unreleasable(service, connection, actor, held, revision)
        if not isinstance(terms, Plan) or terms.fingerprint() != held.plan_sha256:
            raise service.guard.refused(DRAFT, held, Problem.CHANGED)
        _refuse_other_table(dataset, held)
        step = Step(StepKind.RELEASED, actor, "release_draft")
        rows.add_step(service, connection, draft_id, step, state=str(DraftState.RELEASED), project_id=project_id)

    wanted = store.NewProject(draft.name, "", draft.dataset_id, draft.researcher_id, config)
    return store.create(service, actor, wanted, within=within)


def withdraw(service: Service, actor: Actor, project_id: int, comment: str) -> None:
    """Withdraw a release: nobody can read the table any more; what was handed out stays recorded."""
    with service.database.writing() as connection:
        project = project_for(service, connection, actor, project_id, Permission.MANAGE_PROJECTS)
        if project.interactive:
            raise InputError("this project answers queries; it has no released table", code="project-interactive")
        if project.state != store.READY:
            raise InputError(f"the project is not ready; its state is {project.state}", code="project-conflict")
        with service.guard.changing(connection, PROJECT, project_id):
            gone = update(projects).where(projects.c.id == project_id).values(state=store.WITHDRAWN)
            connection.execute(gone)
        service.log.append(connection, "withdraw-project", f"project {project_id}", actor=actor.user_id)
        made_from = select(drafts.c.id).where(drafts.c.project_id == project_id)
        draft_id = connection.execute(made_from).scalar_one_or_none()
        if draft_id is not None:
            step = Step(StepKind.WITHDRAWN, actor, "withdraw_project", comment)
            rows.add_step(service, connection, draft_id, step, state=str(DraftState.WITHDRAWN))


def is_unmade(service: Service, connection: Connection, draft: Row[Any]) -> bool:
    """Whether the release of a draft could not be made, or its project was deleted, so that it can be made again."""
    if draft.state != DraftState.RELEASED:
        return False
    project = connection.execute(PROJECT.one, PROJECT.keyed((draft.project_id,))).one_or_none()
    if project is None:
        service.guard.refuse_known(connection, PROJECT, draft.project_id)
        return True
    service.guard.checked(connection, PROJECT, project)
    return project.deleted_at is not None or project.state == store.FAILED


def _refuse_unsubmittable(connection: Connection, draft: Row[Any], revision: int) -> None:
    rows.refuse_state(draft, DraftState.DRAFT)
    rows.refuse_other_revision(connection, draft, revision)


def _reviewed(
    service: Service, connection: Connection, actor: Actor, draft_id: int, revision: int
) -> tuple[Row[Any], list[Row[Any]]]:
    """Lock a draft that is in review, or approved, in the version that the reviewer has seen."""
    draft = rows.draft_for(service, connection, actor, draft_id, lock=True)
    rows.refuse_other_revision(connection, draft, revision)
    rows.refuse_state(draft, DraftState.REVIEW, DraftState.APPROVED)
    return draft, rows.steps_of(service, connection, draft)


def _refuse_changed(service: Service, connection: Connection, draft: Row[Any]) -> None:
    """Refuse to sign what is not the submitted plan, or not the table on which it was evaluated."""
    rows.config_of(service, draft)
    _refuse_other_table(store.ready_dataset(service, connection, draft.dataset_id), draft)


def _refuse_other_table(dataset: Row[Any], draft: Row[Any]) -> None:
    if draft.table_sha256 is None or dataset.table_sha256 != draft.table_sha256:
        raise InputError(
            "the table of the dataset is not the one that was submitted: save and submit the draft again",
            code="draft-table-conflict",
        )


def _refuse_unreleasable(
    service: Service, connection: Connection, actor: Actor, draft: Row[Any], revision: int
) -> None:
    rows.refuse_other_revision(connection, draft, revision)
    if not is_unmade(service, connection, draft):
        rows.refuse_state(draft, DraftState.APPROVED)
    steps = rows.steps_of(service, connection, draft)
    found, wanted = len(signatures.counting(draft, steps, without=[actor.user_id])), signatures.needed(service)
    if found < wanted:
        raise InputError(
            f"the draft needs {wanted} signatures of people other than you, and has {found}", code="draft-conflict"
        )
