"""Projects: a table for a researcher, anonymized or queried in SQL."""

from __future__ import annotations

import io
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse

from kohorte.data import write_csv
from kohorte.languages import preferred
from kohorte.service.access import Actor
from kohorte.service.accounts import users
from kohorte.service.approvals.requests import perform, refuse_unapproved
from kohorte.service.context import Service
from kohorte.service.jobs.queue import State, job_to_dict
from kohorte.service.projects import queries, released_files, store
from kohorte.service.projects.dataset_budget import dataset_budget
from kohorte.service.projects.project_dicts import project_to_dict, projects_to_dicts
from kohorte.service.web.dependencies import LARGEST_NUMBER, ActorDep, Limit, Number, PageNumber, ServiceDep
from kohorte.service.web.download_formats import Format, release_chunks
from kohorte.service.web.errors import answer
from kohorte.service.web.execution.constant_time import run_query
from kohorte.service.web.execution.synchronous import Prefer, is_small, job_in_time, location_of_job
from kohorte.service.web.execution.table_work import run_table_work
from kohorte.service.web.middleware.security_headers import ONE_PAGE
from kohorte.service.web.models.datasets import Preview
from kohorte.service.web.models.projects import (
    BudgetAnswer,
    DatasetBudget,
    EstimateAnswer,
    ProjectAnswer,
    ProjectBody,
    ProjectChange,
    ProjectsAnswer,
    QueryAnswer,
    Question,
    QuestionAnswer,
    QuestionsAnswer,
)
from kohorte.service.web.routes.approvals import MAY_WAIT, waiting

router = APIRouter(tags=["projects"])
LOCATION = {"Location": {"description": "The URL of the project or of its job.", "schema": {"type": "string"}}}
CREATED: dict[int | str, dict[str, Any]] = {
    201: {"headers": LOCATION},
    202: {"description": "The release is being made; see the job", "model": ProjectAnswer, "headers": LOCATION},
}
UserId = Annotated[
    int | None,
    Query(ge=1, le=LARGEST_NUMBER, description="User ID; stewards and data protection officers may query any user."),
]


class CsvResponse(StreamingResponse):
    """A CSV file as an attachment."""

    media_type = "text/csv"


def release_file(service: Service, actor: Actor, project_id: int, wanted: Format) -> Response:
    """Return the released table as an attachment in a format."""
    content = release_chunks(service, actor, project_id, wanted)
    return CsvResponse(content, headers=attachment(wanted.file_name(project_id)), media_type=wanted.media_type)


@router.post("/projects", status_code=201, summary="Create a project", response_model=ProjectAnswer, responses=CREATED)
async def create_project(
    body: ProjectBody, service: ServiceDep, actor: ActorDep, prefer: Prefer = None
) -> JSONResponse:
    """Share a dataset with a researcher: as an anonymized table, or for queries under differential privacy."""
    wanted = store.NewProject(
        body.name, body.description, body.dataset_id, body.researcher_id, config=body.config.plain()
    )
    created = await run_table_work(store.create, service, actor, wanted)
    location, status, job = {"Location": f"/api/v1/projects/{created.project_id}"}, 201, {}
    if created.job_id is not None:
        row = await job_in_time(service, created.job_id, small=is_small(service, created.rows), prefer=prefer)
        if row.state in (State.FAILED, State.CANCELLED):
            await run_in_threadpool(store.give_up, service, actor, created.project_id)
            return answer(row.problem)
        if row.state != State.DONE:
            location, status, job = location_of_job(row.id), 202, {"job": job_to_dict(row)}
    row = await run_in_threadpool(store.show, service, actor, created.project_id)
    shown = await run_in_threadpool(project_to_dict, service, actor, row)
    warnings = [*created.warnings, *(row.certificate or {}).get("warnings", ())]
    return JSONResponse({**shown, "warnings": warnings, **job}, status, location)


@router.get("/projects", summary="List the projects")
def list_projects(service: ServiceDep, actor: ActorDep, limit: Limit = 20, page: PageNumber = 1) -> ProjectsAnswer:
    """Return a page of the projects: researchers see only their own, other roles that may see projects see all."""
    rows, total = store.page(service, actor, limit=limit, number=page)
    shown = [ProjectAnswer(**entry) for entry in projects_to_dicts(service, actor, rows)]
    return ProjectsAnswer(projects=shown, limit=limit, page=page, total=total)


@router.get("/projects/{project_id}", summary="Show a project")
def show_project(project_id: Number, service: ServiceDep, actor: ActorDep) -> ProjectAnswer:
    """Return a project."""
    return ProjectAnswer(**project_to_dict(service, actor, store.show(service, actor, project_id)))


@router.patch("/projects/{project_id}", summary="Rename a project")
def change_project(project_id: Number, body: ProjectChange, service: ServiceDep, actor: ActorDep) -> ProjectAnswer:
    """Change the name or the description; the protection of the table cannot be changed."""
    changed = store.change(service, actor, project_id, body.model_dump(exclude_none=True))
    return ProjectAnswer(**project_to_dict(service, actor, changed))


@router.delete("/projects/{project_id}", status_code=204, summary="Delete a project", responses=MAY_WAIT)
def delete_project(project_id: Number, service: ServiceDep, actor: ActorDep) -> Response:
    """Delete a project with its files; the record of what was spent is kept."""
    return waiting(perform(service, actor, "delete_project", project_id)) or Response(status_code=204)


@router.get(
    "/projects/{project_id}/csv",
    summary="Download the anonymized table",
    response_class=CsvResponse,
    responses=MAY_WAIT,
)
def download_csv(
    project_id: Number,
    service: ServiceDep,
    actor: ActorDep,
    format: Annotated[Format, Query(description="csv is the file of the certificate")] = Format.CSV,  # noqa: A002
) -> Response:
    """Return the released table, which was verified when it was made; other formats have the same rows and cells."""
    later = waiting(perform(service, actor, "download_csv", project_id))
    return later or release_file(service, actor, project_id, format)


@router.get(
    "/projects/{project_id}/preview",
    summary="Preview the anonymized table",
    response_model=Preview,
    responses=MAY_WAIT,
)
def preview_release(
    project_id: Number, service: ServiceDep, actor: ActorDep, rows: Annotated[int, Query(ge=1, le=100)] = 20
) -> Preview | Response:
    """Return the first rows of the released table; it needs the same approval as the whole table."""
    later = waiting(perform(service, actor, "download_csv", project_id))
    return later or Preview(**released_files.preview(service, actor, project_id, rows=rows))


@router.get("/projects/{project_id}/certificate", summary="Show the certificate")
def show_certificate(project_id: Number, service: ServiceDep, actor: ActorDep) -> dict[str, Any]:
    """Return the certificate of the released table."""
    refuse_unapproved(service, actor, project_id)
    return released_files.certificate(service, actor, project_id)


@router.get("/projects/{project_id}/report", summary="Read the report", response_class=HTMLResponse)
def show_report(project_id: Number, service: ServiceDep, actor: ActorDep, request: Request) -> HTMLResponse:
    """Return the report on the released table as a self-contained HTML page, in the language of Accept-Language."""
    refuse_unapproved(service, actor, project_id)
    language = preferred(request.headers.get("accept-language", ""))
    page = released_files.report(service, actor, project_id, language)
    headers = {"Content-Security-Policy": ONE_PAGE, "Content-Language": language.code, "Vary": "Accept-Language"}
    return HTMLResponse(page, headers=headers)


@router.post("/projects/{project_id}/analyze", summary="Query in SQL")
async def analyze(project_id: Number, body: Question, service: ServiceDep, actor: ActorDep) -> QueryAnswer:
    """Answer a query with noise, paid for from the caller's own budget; repeating the same query costs nothing."""
    return QueryAnswer(**await run_query(actor.user_id, queries.answer_query, service, actor, project_id, _asked(body)))


@router.post("/projects/{project_id}/estimate", summary="Estimate cost and error")
async def estimate(project_id: Number, body: Question, service: ServiceDep, actor: ActorDep) -> EstimateAnswer:
    """Estimate what a query would cost and the error of its answer; nothing is spent."""
    return EstimateAnswer(**await run_query(actor.user_id, queries.estimate, service, actor, project_id, _asked(body)))


@router.get("/projects/{project_id}/dummy-data", summary="Download synthetic data", response_class=CsvResponse)
def download_dummy_data(
    project_id: Number,
    service: ServiceDep,
    actor: ActorDep,
    rows: Annotated[int, Query(ge=1, le=100_000)] = 1_000,
    seed: Annotated[int, Query(ge=0, le=LARGEST_NUMBER)] = 0,
) -> Response:
    """Return a synthetic table for the development of queries."""
    written = io.BytesIO()
    write_csv(queries.dummy_data(service, actor, project_id, rows=rows, seed=seed), written)
    return Response(written.getvalue(), media_type="text/csv", headers=attachment(f"dummy-{project_id}.csv"))


@router.get("/projects/{project_id}/budget", summary="Show the budget")
def show_budget(project_id: Number, service: ServiceDep, actor: ActorDep, user_id: UserId = None) -> BudgetAnswer:
    """Return what was spent and what remains, for yourself or another user (`user_id`) whose budget you may see."""
    if user_id is not None:
        users.shown(service, actor, user_id)
    return BudgetAnswer(**queries.budget_of(service, actor, project_id, user_id))


@router.get("/projects/{project_id}/questions", summary="List the paid queries")
def list_questions(
    project_id: Number,
    service: ServiceDep,
    actor: ActorDep,
    user_id: UserId = None,
    limit: Limit = 20,
    page: PageNumber = 1,
) -> QuestionsAnswer:
    """Return a page of the caller's own paid queries; a data steward sees those of all users."""
    found, total = released_files.questions(service, actor, project_id, user_id=user_id, limit=limit, number=page)
    return QuestionsAnswer(questions=[QuestionAnswer(**entry) for entry in found], limit=limit, page=page, total=total)


@router.get("/datasets/{dataset_id}/budget", summary="Show what was spent on a dataset")
def show_dataset_budget(dataset_id: Number, service: ServiceDep, actor: ActorDep) -> DatasetBudget:
    """Return what each user has spent in each project, and over all projects."""
    return DatasetBudget(**dataset_budget(service, actor, dataset_id))


def _asked(body: Question) -> queries.Query:
    return queries.Query(body.query, body.epsilon, body.delta)


def attachment(name: str) -> dict[str, str]:
    """Return the header of a file to be stored under a name."""
    return {"Content-Disposition": f'attachment; filename="{name}"'}
