"""Projects and their releases: preview, download, certificate and report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from kohorte.errors import KohorteError
from kohorte.release import Certificate
from kohorte.service.approvals.requests import perform, refuse_unapproved
from kohorte.service.jobs.evidence import text_of
from kohorte.service.projects import released_files, store
from kohorte.service.projects.project_dicts import project_to_dict, projects_to_dicts
from kohorte.service.web.dependencies import Number, PageNumber
from kohorte.service.web.download_formats import Format
from kohorte.service.web.middleware.security_headers import ONE_PAGE
from kohorte.service.web.routes.projects import attachment, release_file
from kohorte.service.web.screens.visitors import Allowed, Visitor

router = APIRouter(include_in_schema=False)
LIST = "/app/projects"
PER_PAGE, SHOWN_ROWS = 50, 10
Reader = Annotated[Visitor, Allowed("show_project")]
Recipient = Annotated[Visitor, Allowed("download_csv")]


@router.get(LIST, name="screen_projects")
def projects_page(visitor: Annotated[Visitor, Allowed("list_projects")], page: PageNumber = 1) -> Response:
    """List the projects that the visitor may see."""
    rows, total = store.page(visitor.service, visitor.actor, limit=PER_PAGE, number=page)
    projects = projects_to_dicts(visitor.service, visitor.actor, rows)
    return visitor.page("projects.html.j2", projects=projects, page=page, pages=-(-total // PER_PAGE))


@router.get(f"{LIST}/{{project_id}}", name="screen_project")
def project_page(project_id: Number, visitor: Reader) -> Response:
    """Show a project with the evidence for its release; nothing of the table itself is opened yet."""
    project = project_to_dict(visitor.service, visitor.actor, store.show(visitor.service, visitor.actor, project_id))
    released = not project["interactive"] and project["state"] == store.READY
    certificate, withheld = _evidence(visitor, project_id) if released else (None, None)
    own = visitor.may("download_csv") and (
        visitor.may("create_project") or project["researcher"]["user_id"] == visitor.actor.user_id
    )
    told: dict[str, Any] = {"certificate": certificate, "withheld": withheld, "may_download": released and own}
    return visitor.page("project.html.j2", project=project, **told)


@router.post(f"{LIST}/{{project_id}}/preview", name="screen_preview_release")
def preview(project_id: Number, visitor: Recipient) -> Response:
    """Show the first rows of the release; like a download, it is recorded and may need a second person."""

    def shown() -> Response:
        found = released_files.preview(visitor.service, visitor.actor, project_id, rows=SHOWN_ROWS)
        row = store.show(visitor.service, visitor.actor, project_id)
        project = project_to_dict(visitor.service, visitor.actor, row)
        return visitor.page("release_preview.html.j2", project=project, preview=found)

    return _opened(visitor, project_id, shown)


@router.post(f"{LIST}/{{project_id}}/csv", name="screen_download")
def download(project_id: Number, visitor: Recipient) -> Response:
    """Send the released table, which was verified when it was made, in the format of the button."""
    text = visitor.text("format")
    wanted = Format(text) if text in set(Format) else Format.CSV
    return _opened(visitor, project_id, lambda: release_file(visitor.service, visitor.actor, project_id, wanted))


@router.get(f"{LIST}/{{project_id}}/certificate", name="screen_certificate")
def certificate(project_id: Number, visitor: Annotated[Visitor, Allowed("show_certificate")]) -> Response:
    """Send the certificate as it was issued."""
    refuse_unapproved(visitor.service, visitor.actor, project_id)
    found = released_files.certificate(visitor.service, visitor.actor, project_id)
    content = text_of(found)
    return Response(
        content, media_type="application/json", headers=attachment(f"project-{project_id}.certificate.json")
    )


@router.get(f"{LIST}/{{project_id}}/certificate-text", name="screen_certificate_text")
def certificate_text(project_id: Number, visitor: Annotated[Visitor, Allowed("show_certificate")]) -> Response:
    """Send the certificate as text in the language of the reader."""
    refuse_unapproved(visitor.service, visitor.actor, project_id)
    found = Certificate(released_files.certificate(visitor.service, visitor.actor, project_id))
    return PlainTextResponse(
        found.to_text(visitor.language), headers=attachment(f"project-{project_id}.certificate.txt")
    )


@router.get(f"{LIST}/{{project_id}}/report", name="screen_report")
def report(project_id: Number, visitor: Annotated[Visitor, Allowed("show_report")]) -> Response:
    """Show the report on a page of its own."""
    refuse_unapproved(visitor.service, visitor.actor, project_id)
    page = released_files.report(visitor.service, visitor.actor, project_id, visitor.language)
    return HTMLResponse(page, headers={"Content-Security-Policy": ONE_PAGE})


def _evidence(visitor: Visitor, project_id: int) -> tuple[dict[str, Any] | None, KohorteError | None]:
    """The certificate, or why it is withheld: a release that waits for a second person shows nothing of itself."""
    if not visitor.may("show_certificate"):
        return None, None
    try:
        refuse_unapproved(visitor.service, visitor.actor, project_id)
        return released_files.certificate(visitor.service, visitor.actor, project_id), None
    except KohorteError as error:
        return None, error


def _opened(visitor: Visitor, project_id: int, then: Callable[[], Response]) -> Response:
    outcome = perform(visitor.service, visitor.actor, "download_csv", project_id)
    if outcome.approval is not None:
        return visitor.to(f"/app/approvals/{outcome.approval['approval_id']}", said="waits")
    return then()
