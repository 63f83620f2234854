"""Signatures under drafts: which of them count, and who may sign.

A signature counts for one version, as it was submitted: for the hashes of its plan and of its table. Nobody signs their
own work: neither somebody who has saved a version of the draft, nor the researcher who gets the release. One signature
is needed, or two where a rule of the house requires a second approver. The people are then independent: nobody could
act as two of them (`accounts.origins`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from kohorte.errors import AccessDenied
from kohorte.service.accounts import origins
from kohorte.service.context import Service
from kohorte.service.integrity.marks import DRAFT
from kohorte.service.reviews import rows
from kohorte.service.reviews.rows import DraftState, StepKind
from kohorte.service.storage.schema import drafts


def needed(service: Service) -> int:
    """Return how many signatures a draft needs."""
    return 2 if service.settings.rules.releases_need_approval else 1


def counting(draft: Row[Any], steps: Sequence[Row[Any]], *, without: Collection[int] = ()) -> list[Row[Any]]:
    """Return the signatures that count for the present version, one for each person."""
    submitted = max((step.id for step in steps if step.kind == StepKind.SUBMITTED), default=0)
    excluded = {*involved(draft), *without}
    found = {
        step.user_id: step
        for step in steps
        if step.kind == StepKind.SIGNED
        and step.id > submitted
        and (step.revision, step.plan_sha256, step.table_sha256)
        == (draft.revision, draft.plan_sha256, draft.table_sha256)
        and step.user_id not in excluded
    }
    return list(found.values())


def involved(draft: Row[Any]) -> frozenset[int]:
    """Return the people whose work a draft is, and the researcher who gets the release."""
    return frozenset((*draft.editors, draft.author_id, draft.editor_id, draft.researcher_id))


def refuse_signer(
    service: Service, connection: Connection, draft: Row[Any], steps: Sequence[Row[Any]], user_id: int
) -> None:
    """Refuse somebody who must not sign a draft."""
    if user_id in involved(draft):
        raise AccessDenied(
            "a draft is signed by somebody who has neither saved a version of it nor gets its release", code="draft-own"
        )
    if needed(service) < 2:
        return
    others = {*draft.editors, draft.author_id, *(step.user_id for step in counting(draft, steps))} - {user_id}
    if not all(origins.are_independent(service, connection, user_id, other) for other in sorted(others)):
        raise AccessDenied(
            "rule second_approver: somebody else must sign; one person set up your account and that of a steward or of "
            "another person who signed, or one of you the other's",
            code="draft-dependent",
        )


def open_release(service: Service, connection: Connection, project_id: int) -> bool:
    """Whether a project was made from a draft with enough signatures of people who have no part in the project."""
    found = connection.execute(select(drafts).where(drafts.c.project_id == project_id)).all()
    return any(_opens(service, connection, service.guard.checked(connection, DRAFT, row)) for row in found)


def _opens(service: Service, connection: Connection, draft: Row[Any]) -> bool:
    if draft.state != DraftState.RELEASED:
        return False
    steps = rows.steps_of(service, connection, draft)
    made_by = [step.user_id for step in steps if step.kind == StepKind.RELEASED]
    return len(counting(draft, steps, without=made_by)) >= needed(service)
