"""Review and sign-off: the list of drafts, and the page on which a draft is submitted, signed, returned or released."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from kohorte.errors import AccessDenied, InputError, KohorteError
from kohorte.service.problems import status_of
from kohorte.service.reviews import deciding, draft_dicts, drafts
from kohorte.service.web.dependencies import LARGEST_NUMBER, Number, PageNumber
from kohorte.service.web.execution.table_work import run_preview, run_table_work
from kohorte.service.web.screens.visitors import Allowed, Visitor

router = APIRouter(include_in_schema=False)
LIST = "/app/drafts"
DRAFT = f"{LIST}/{{draft_id}}"
PER_PAGE, LONGEST_COMMENT = 50, 10_000


@router.get(LIST, name="screen_drafts")
def drafts_page(visitor: Annotated[Visitor, Allowed("list_drafts")], page: PageNumber = 1) -> Response:
    """List the drafts that the visitor may see."""
    rows, total = drafts.page(visitor.service, visitor.actor, state=None, limit=PER_PAGE, number=page)
    found = draft_dicts.drafts_to_dicts(visitor.service, rows)
    return visitor.page("drafts.html.j2", drafts=found, page=page, pages=-(-total // PER_PAGE))


@router.get(DRAFT, name="screen_draft")
def draft_page(draft_id: Number, visitor: Annotated[Visitor, Allowed("show_draft")]) -> Response:
    """Show a draft with everything that a reviewer decides by."""
    return _page(visitor, draft_id)


@router.post(f"{DRAFT}/submit", name="screen_submit_draft")
async def submit(draft_id: Number, visitor: Annotated[Visitor, Allowed("submit_draft")]) -> Response:
    """Submit the version that the page shows for review."""
    try:
        asked = (draft_id, revision_of(visitor), comment_of(visitor))
        await run_preview(deciding.submit, visitor.service, visitor.actor, *asked)
    except KohorteError as error:
        return await run_in_threadpool(_refused, visitor, draft_id, error)
    return visitor.to(f"{LIST}/{draft_id}", said="draft-submitted")


@router.post(f"{DRAFT}/sign", name="screen_sign_draft")
def sign(draft_id: Number, visitor: Annotated[Visitor, Allowed("sign_draft")]) -> Response:
    """Sign the version that the page shows."""
    try:
        deciding.sign(visitor.service, visitor.actor, draft_id, revision_of(visitor), comment_of(visitor))
    except KohorteError as error:
        return _refused(visitor, draft_id, error)
    return visitor.to(f"{LIST}/{draft_id}", said="draft-signed")


@router.post(f"{DRAFT}/return", name="screen_return_draft")
def give_back(draft_id: Number, visitor: Annotated[Visitor, Allowed("return_draft")]) -> Response:
    """Return the version that the page shows, with a comment."""
    try:
        deciding.give_back(visitor.service, visitor.actor, draft_id, revision_of(visitor), comment_of(visitor))
    except KohorteError as error:
        return _refused(visitor, draft_id, error)
    return visitor.to(f"{LIST}/{draft_id}", said="draft-returned")


@router.post(f"{DRAFT}/release", name="screen_release_draft")
async def release(draft_id: Number, visitor: Annotated[Visitor, Allowed("release_draft")]) -> Response:
    """Make the release of the signed version."""
    try:
        revision = revision_of(visitor)
        made = await run_table_work(deciding.release, visitor.service, visitor.actor, draft_id, revision)
    except KohorteError as error:
        return await run_in_threadpool(_refused, visitor, draft_id, error)
    return visitor.to(f"/app/jobs/{made.job_id}", said="project-created")


@router.post("/app/projects/{project_id}/withdraw", name="screen_withdraw_project")
def withdraw(project_id: Number, visitor: Annotated[Visitor, Allowed("withdraw_project")]) -> Response:
    """Withdraw a release."""
    deciding.withdraw(visitor.service, visitor.actor, project_id, comment_of(visitor))
    return visitor.to(f"/app/projects/{project_id}", said="project-withdrawn")


def revision_of(visitor: Visitor) -> int:
    """Return the version that the page of a form has shown."""
    text = visitor.text("revision")
    if not text.isdecimal() or not 0 < int(text) <= LARGEST_NUMBER:
        raise InputError(
            "revision: is the number of a version; open the page again", code="plan-form", field="revision"
        )
    return int(text)


def comment_of(visitor: Visitor) -> str:
    """Return the comment of a form."""
    return visitor.text("comment")[:LONGEST_COMMENT]


def _refused(visitor: Visitor, draft_id: int, error: KohorteError) -> Response:
    """The page with the reason and with the comment that was typed; people who may not see the draft learn nothing."""
    if isinstance(error, AccessDenied) and error.code in ("not-found", "not-allowed"):
        raise error
    return _page(visitor, draft_id, problem=error)


def _page(visitor: Visitor, draft_id: int, problem: KohorteError | None = None) -> Response:
    draft = draft_dicts.show(visitor.service, visitor.actor, draft_id)
    status = 200 if problem is None else status_of(problem)
    return visitor.page("draft.html.j2", status=status, draft=draft, problem=problem, comment=comment_of(visitor))
